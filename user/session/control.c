// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/control.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "host/disk.h"
#include "lib/exitmeter.h"
#include "model/request.h"
#include "units.h"

/* An end that has begun sends its record at its last switch: that much is waited for it. */
#define SETTLE_STEPS   10
#define SETTLE_STEP_NS (NS_PER_MS / 2)
#define FINISH_NS      (5 * NS_PER_S)

/* Whether the request reads the machine's counters; NULL: it does. */
static bool looks(const struct request *r)
{
	if (!r)
		return true;
	return r->kind != REQUEST_PING && (r->kind != REQUEST_RUN || request_run_counts(r));
}

/*
 * The records of all that has ended come in; so do births, who speaks may be new.  After it runs
 * may have ended.
 */
static void settle(struct control *c, const struct request *r)
{
	const struct timespec step = { .tv_nsec = SETTLE_STEP_NS };
	struct tree_sample t = { 0 };

	for (int i = 0;; i++) {
		c->drain(c->ctx);
		if (!looks(r) || i == SETTLE_STEPS)
			break;
		sampler_totals(c->sampler, &t);
		if (t.totals.exits <= t.totals.records)
			break;
		nanosleep(&step, NULL);
	}
}

static struct moment look(struct control *c, struct tree_sample *t)
{
	struct moment m = c->place ? sampler_run_moment(c->sampler, c->of, c->place, t)
				   : sampler_moment(c->sampler, c->run, t);

	journal_sample(c->journal, t, &c->run->load, c->of->meter.last_cpus, true);
	return m;
}

static const char *failed(int err)
{
	return err ? strerror(-err) : NULL;
}

/* After the border was read: it may take long. */
static void measure_folder(struct control *c, struct stretch *s)
{
	if (!s || !c->disk)
		return;
	s->disk.path = strdup(c->disk);
	if (s->disk.path)
		disk_measure(&s->disk, &c->of->notes);
}

static const char *phase(struct control *c, const struct request *r)
{
	struct stretch *before = stretch_open(&c->of->phases, NULL, 0);
	struct tree_sample t;
	struct moment m;
	int err;

	/* Between timed runs nothing is read (SPEC ). */
	if (r->kind == REQUEST_RUN && !request_run_counts(r)) {
		journal_phase(c->journal, clock_ns(CLOCK_MONOTONIC), r->name, r->name_len, UNKNOWN);
		return NULL;
	}
	m = look(c, &t);
	journal_phase(c->journal, t.at_ns, r->name, r->name_len, m.rss_bytes);
	err = run_on_phase(c->of, r->name, r->name_len, &m);
	measure_folder(c, before);
	return failed(err);
}

/* @at_ns: since the run's start, by its plan; TIME_NONE: now. */
static int attempt_start(struct control *c, const char *name, size_t len, int64_t at_ns)
{
	struct tree_sample t;
	struct moment m;

	if (stretch_open(&c->of->attempts, name, len))
		return -EEXIST;
	m = look(c, &t);
	if (at_ns != TIME_NONE)
		m.at_ns = at_ns;
	journal_attempt_start(c->journal, t.at_ns, name, len);
	return run_on_attempt_start(c->of, name, len, &m);
}

static int attempt_end(struct control *c, const char *name, size_t len, int64_t at_ns)
{
	struct stretch *s = stretch_open(&c->of->attempts, name, len);
	struct tree_sample t;
	struct moment m;

	if (!s)
		return -ENOENT;
	m = look(c, &t);
	if (at_ns != TIME_NONE)
		m.at_ns = at_ns;
	s = run_on_attempt_end(c->of, name, len, &m);
	measure_folder(c, s);
	journal_attempt_end(c->journal, t.at_ns, c->of->start_ns, s, c->io_source);
	return 0;
}

static const char *attempt_failed(int err)
{
	return err == -EEXIST   ? "the attempt is open already"
	       : err == -ENOENT ? "no such attempt is open"
				: failed(err);
}

static void carry(void *ctx, struct process_key key, uint32_t place, int64_t mark_bytes)
{
	struct control *c = ctx;

	run_on_mark(c->run, key, mark_bytes);
	split_on_mark(c->split, place, key, mark_bytes);
}

static void reset_peak(struct control *c)
{
	struct tree_sample t;
	struct moment m = look(c, &t);
	size_t n = 0, done = 0;

	/* The source that reads /proc itself has no marks to set back. */
	if (c->sampler->scanning)
		done = scan_reset_marks(c->sampler->scan, c->place, carry, c, &n);
	run_on_reset(c->of, &m, n && done == n);
}

static void usage(struct control *c, struct client *from)
{
	struct tree_sample t;
	struct em_usage u;
	char text[256];

	look(c, &t);
	u = run_usage_so_far(c->of);
	em_usage_json(&u, text, sizeof(text));
	channel_answer(c->channel, from, "usage %s", text);
}

/*
 * Of a split tree a line is of the run that its writer belongs to, or that it names.  NULL, or why
 * not.
 */
static const char *find_run(struct control *c, const struct request *r, pid_t pid)
{
	struct split_run *one = NULL;
	const char *why = NULL;

	c->of = c->run;
	c->place = 0;
	c->journal->run = 0;
	if (r->of)
		why = split_named(c->split, r->of, r->of_len, &one);
	else if (pid)
		why = split_of_pid(c->split, pid, &one);
	if (why || !one)
		return why;
	c->of = split_run_model(one);
	c->place = split_run_place(one);
	c->journal->run = split_run_number(one);
	return NULL;
}

/* NULL, or what is wrong with it. */
static const char *obey(struct control *c, struct client *from, const struct request *r)
{
	switch (r->kind) {
	case REQUEST_PHASE:
	case REQUEST_RUN:
		return phase(c, r);
	case REQUEST_ATTEMPT_START:
		return attempt_failed(attempt_start(c, r->name, r->name_len, TIME_NONE));
	case REQUEST_ATTEMPT_END:
		return attempt_failed(attempt_end(c, r->name, r->name_len, TIME_NONE));
	case REQUEST_RESET_PEAK:
		reset_peak(c);
		break;
	case REQUEST_USAGE:
		usage(c, from);
		break;
	case REQUEST_PING:
		break;
	}
	return NULL;
}

static void on_line(void *ctx, struct client *from, pid_t pid, const char *line, size_t len,
		    bool too_long)
{
	struct control *c = ctx;
	struct request r = { 0 };
	const char *why = too_long ? "the line is too long" : request_parse(line, len, &r);

	if (!why) {
		settle(c, &r);
		why = find_run(c, &r, pid);
	}
	if (why) {
		channel_answer(c->channel, from, "error %s", why);
		return;
	}
	why = obey(c, from, &r);
	c->journal->run = 0;
	c->drain(c->ctx); /* and the journal is written */
	if (why)
		channel_answer(c->channel, from, "error %s", why);
	else if (r.kind != REQUEST_USAGE)
		channel_answer(c->channel, from, "ack");
}

static void of_the_whole(struct control *c)
{
	settle(c, NULL);
	c->of = c->run;
	c->place = 0;
	c->journal->run = 0;
}

int control_attempt_start(struct control *c, const char *name, size_t len, int64_t at_ns)
{
	of_the_whole(c);
	return attempt_start(c, name, len, at_ns);
}

int control_attempt_end(struct control *c, const char *name, size_t len, int64_t at_ns)
{
	of_the_whole(c);
	return attempt_end(c, name, len, at_ns);
}

void control_serve(struct control *c)
{
	const struct channel_reader r = { c, on_line };

	channel_serve(c->channel, &r);
}

void control_finish(struct control *c)
{
	const struct channel_reader r = { c, on_line };
	int64_t end = clock_ns(CLOCK_MONOTONIC) + FINISH_NS;
	bool more;

	do
		more = channel_serve(c->channel, &r);
	while (more && clock_ns(CLOCK_MONOTONIC) < end);
	if (more)
		texts_add(&c->run->notes, "control-lines-left");
	if (c->channel->dropped)
		texts_add(&c->run->notes, "control-answers-dropped");
}
