// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * trace - Chrome trace event JSON, for Perfetto and about:tracing
 *
 * Each process is a "process" of the trace, with one slice from its start to its end.  Its number
 * is the pid, but for a pid that comes again, which gets one above all pids.  The run is one more:
 * the samples are its counters, phases and attempts slices of its threads.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/format.h"
#include "format/name.h"
#include "journal/json.h"
#include "report/gather.h"
#include "report/json_fields.h"
#include "report/json_summary.h"
#include "units.h"

#define PID_LIMIT ((int64_t)1 << 22) /* the kernel's PID_MAX_LIMIT */
#define RUN_TRACK PID_LIMIT
#define PHASES    1 /* thread of the run; attempts have those behind it */

struct trace {
	struct json j;
	unsigned char *seen; /* a bit a pid */
	int64_t next;        /* number of the next process whose pid came before */
	int64_t sampled_ns;  /* the sample before */
	int64_t end_ns;
};

/* --- events --------------------------------------------------------------------------------- */

/* Times of the trace are microseconds. */
static void put_us(struct json *j, const char *key, int64_t ns)
{
	json_key(j, key);
	json_double(j, (double)ns / (double)NS_PER_US);
}

static void begin(struct json *j, const char *ph, const char *name, int64_t track, int64_t thread)
{
	json_open(j);
	json_key(j, "ph");
	json_cstring(j, ph);
	json_key(j, "name");
	json_cstring(j, name);
	json_key(j, "pid");
	json_int(j, track);
	json_key(j, "tid");
	json_int(j, thread);
}

static void put_name(struct json *j, const char *what, int64_t track, int64_t thread,
		     const char *name)
{
	begin(j, "M", what, track, thread);
	json_key(j, "args");
	json_open(j);
	json_key(j, "name");
	json_cstring(j, name);
	json_close(j);
	json_close(j);
}

static void put_order(struct json *j, int64_t track, int64_t order)
{
	begin(j, "M", "process_sort_index", track, track);
	json_key(j, "args");
	json_open(j);
	json_key(j, "sort_index");
	json_int(j, order);
	json_close(j);
	json_close(j);
}

/* Without its last brace; nothing lies before the start, nothing ends before it began. */
static void begin_slice(struct trace *t, const char *category, const char *name, int64_t track,
			int64_t thread, int64_t from_ns, int64_t to_ns)
{
	int64_t start = from_ns > 0 ? from_ns : 0;
	int64_t until = to_ns == TIME_NONE ? t->end_ns : to_ns;

	begin(&t->j, "X", name, track, thread);
	json_key(&t->j, "cat");
	json_cstring(&t->j, category);
	put_us(&t->j, "ts", start);
	put_us(&t->j, "dur", until > start ? until - start : 0);
}

/* --- processes ------------------------------------------------------------------------------ */

static int64_t track_of(struct trace *t, int32_t pid)
{
	unsigned char bit;

	if (pid < 0 || pid >= PID_LIMIT)
		return t->next++;
	bit = (unsigned char)(1 << (pid & 7));
	if (t->seen[pid >> 3] & bit)
		return t->next++;
	t->seen[pid >> 3] |= bit;
	return pid;
}

static void put_arguments(struct json *j, const struct process *p)
{
	static const char *const told[] = { "started",     "peak_rss_bytes", "peak_rss_exact",
					    "cpu_seconds", "exit_code",      "exit_signal",
					    "running",     "threads" };

	json_key(j, "args");
	json_open(j);
	json_fields(j, p, &process_head_fields);
	json_key(j, "argv");
	json_process_argv(j, p);
	for (size_t i = 0; i < sizeof(told) / sizeof(told[0]); i++)
		json_field_named(j, p, &process_tail_fields, told[i]);
	json_close(j);
}

static void put_process(struct trace *t, const struct process *p)
{
	int64_t track = track_of(t, p->pid);
	char name[EM_COMM_LEN + 1];

	memcpy(name, p->comm, EM_COMM_LEN);
	name[EM_COMM_LEN] = '\0';
	put_name(&t->j, "process_name", track, track, name);
	put_order(&t->j, track, p->started_ns > 0 ? p->started_ns / NS_PER_MS : 0);
	begin_slice(t, "process", name, track, track, p->started_ns, p->ended_ns);
	put_arguments(&t->j, p);
	json_close(&t->j);
}

/* --- the run -------------------------------------------------------------------------------- */

static void put_counter(struct trace *t, const char *name, int64_t at_ns, double v)
{
	if (v < 0)
		return;
	begin(&t->j, "C", name, RUN_TRACK, RUN_TRACK);
	put_us(&t->j, "ts", at_ns > 0 ? at_ns : 0);
	json_key(&t->j, "args");
	json_open(&t->j);
	json_key(&t->j, "value");
	json_double(&t->j, v);
	json_close(&t->j);
	json_close(&t->j);
}

/* What was the most since the sample before stands from there on. */
static void on_sample(void *of, const struct curve_point *p)
{
	struct trace *t = of;
	int64_t from_ns = t->sampled_ns;

	if (p->at_ns <= from_ns)
		return;
	put_counter(t, "resident memory", from_ns, (double)p->rss_bytes);
	put_counter(t, "cores busy", from_ns, p->cpus);
	put_counter(t, "processes", from_ns, (double)p->processes);
	put_counter(t, "threads", from_ns, (double)p->threads);
	t->sampled_ns = p->at_ns;
}

static void put_run(struct trace *t, const struct summary *s)
{
	char name[RUN_NAME_MAX];

	run_name(s, name);
	put_name(&t->j, "process_name", RUN_TRACK, RUN_TRACK, name);
	put_order(&t->j, RUN_TRACK, -1);
	begin_slice(t, "run", name, RUN_TRACK, RUN_TRACK, 0, t->end_ns);
	json_key(&t->j, "args");
	json_open(&t->j);
	json_key(&t->j, "run");
	json_run(&t->j, &s->run);
	json_close(&t->j);
	json_close(&t->j);
}

static void put_stretch(struct trace *t, const char *category, int64_t thread,
			const struct stretch *s)
{
	begin_slice(t, category, s->name, RUN_TRACK, thread, s->started_ns, s->ended_ns);
	json_key(&t->j, "args");
	json_open(&t->j);
	json_fields(&t->j, s, &stretch_usage_fields);
	json_close(&t->j);
	json_close(&t->j);
}

static void put_phases(struct trace *t, const struct summary *s)
{
	if (s->phases.first)
		put_name(&t->j, "thread_name", RUN_TRACK, PHASES, "phases");
	for (const struct stretch *p = s->phases.first; p; p = p->next)
		put_stretch(t, "phase", PHASES, p);
}

/* Slices of one thread may not overlap: each goes to the first one that is free. */
static int put_attempts(struct trace *t, const struct summary *s)
{
	int64_t *free_at = calloc(s->attempts.n + 1, sizeof(*free_at));
	size_t lanes = 0;

	if (!free_at)
		return -ENOMEM;
	for (const struct stretch *a = s->attempts.first; a; a = a->next) {
		size_t lane = 0;

		while (lane < lanes && free_at[lane] > a->started_ns)
			lane++;
		if (lane == lanes && lane == s->attempts.n)
			break; /* more than there are */
		if (lane == lanes) {
			put_name(&t->j, "thread_name", RUN_TRACK, PHASES + 1 + (int64_t)lane,
				 "attempts");
			lanes++;
		}
		put_stretch(t, "attempt", PHASES + 1 + (int64_t)lane, a);
		free_at[lane] = a->ended_ns == TIME_NONE ? INT64_MAX : a->ended_ns;
		if (free_at[lane] < a->started_ns)
			free_at[lane] = a->started_ns;
	}
	free(free_at);
	return 0;
}

/* --- the document --------------------------------------------------------------------------- */

static int put_events(struct trace *t, const struct format_input *in,
		      const struct document_sink *to)
{
	const struct summary *s = in->summary;
	struct process *p;
	int err;

	put_run(t, s);
	put_phases(t, s);
	err = put_attempts(t, s);
	if (!err && in->samples)
		in->samples(in->rows, on_sample, t);
	while (!err && (p = in->rows->next(in->rows->ctx))) {
		put_process(t, p);
		process_unref(p);
		err = json_hand_on(&t->j, GATHER_CHUNK, to);
	}
	if (t->sampled_ns > 0)
		put_counter(t, "resident memory", t->end_ns, 0);
	return err;
}

int format_trace(const struct format_input *in, const struct document_sink *to)
{
	const struct summary *s = in->summary;
	struct trace t = { .next = RUN_TRACK + 1,
			   .end_ns = s->run.wall_ns < 0 ? s->aged_ns : s->run.wall_ns };
	int err;

	t.seen = calloc(1, (size_t)PID_LIMIT / 8);
	if (!t.seen)
		return -ENOMEM;
	json_init(&t.j);
	json_open(&t.j);
	json_key(&t.j, "displayTimeUnit");
	json_cstring(&t.j, "ms");
	json_key(&t.j, "traceEvents");
	json_array(&t.j);
	err = put_events(&t, in, to);
	json_array_end(&t.j);
	json_close(&t.j);
	json_newline(&t.j);
	if (!err)
		err = json_hand_on(&t.j, 0, to);
	json_free(&t.j);
	free(t.seen);
	return err;
}
