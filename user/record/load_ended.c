// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/load_ended.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "journal/faults.h"
#include "journal/read.h"
#include "log.h"
#include "record/living.h"
#include "units.h"

#define RETRY_FIRST_MS 500
#define RETRY_LAST_MS  30000

struct load_ended {
	struct sink *sink;
	const struct scheduler *scheduler;
	const struct patience *patience;
	const char *name;
	int64_t started_at_ns; /* of the whole run, since the epoch; UNKNOWN */
	char *id;
	int64_t pid;
	struct living living;
	bool split;    /* a run has ended */
	bool left_out; /* rows were, from here on */
	bool refused;
	char refusal[SINK_WHY_MAX]; /* the first */
	unsigned long long n_none;  /* runs that the sink cannot have, */
	char first_none[2 * SINK_WHY_MAX];
};

/* --- values -------------------------------------------------------------------------------- */

static double seconds(int64_t ns)
{
	return (double)ns / (double)NS_PER_S;
}

static int64_t time_at(json_object *o, const char *path)
{
	json_object *v = table_value(o, path);
	int64_t ns;

	return v && !value_ns(v, TIME_NONE, &ns) ? ns : TIME_NONE;
}

static int64_t int_at(json_object *o, const char *path)
{
	json_object *v = table_value(o, path);

	return json_object_is_type(v, json_type_int) ? json_object_get_int64(v) : UNKNOWN;
}

static double double_at(json_object *list, size_t i)
{
	return json_object_get_double(json_object_array_get_idx(list, i));
}

/* The time of @t_ns of the run on the clock that ages count on. */
static int64_t on_our_clock(const struct load_ended *l, int64_t t_ns)
{
	int64_t ago_ns = clock_ns(CLOCK_REALTIME) - (l->started_at_ns + t_ns);

	return clock_ns(CLOCK_BOOTTIME) - ago_ns;
}

/* Times of the run become ages of @t_ns. */
static void age_exits(struct ended *x, int64_t t_ns)
{
	for (size_t i = 0; i < x->n_exits; i++) {
		x->exits[i].started += seconds(t_ns);
		x->exits[i].ended += seconds(t_ns);
	}
}

static int copy_marks(json_object *list, struct ended *x)
{
	size_t n = json_object_is_type(list, json_type_array) ? json_object_array_length(list) : 0;

	if (n > EM_MARKS_PARSE_MAX)
		return -EBADMSG;
	x->marks = calloc(n + 1, sizeof(*x->marks));
	if (!x->marks)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		json_object *m = json_object_array_get_idx(list, i);

		if (!json_object_is_type(m, json_type_array) || json_object_array_length(m) != 4)
			return -EBADMSG;
		x->marks[i] =
			(struct em_mark){ double_at(m, 0),
					  json_object_get_int64(json_object_array_get_idx(m, 1)),
					  double_at(m, 2), double_at(m, 3) };
	}
	x->n_marks = n;
	return 0;
}

/* --- to the sink --------------------------------------------------------------------------- */

static void note_none(struct load_ended *l, const char *run, const char *why)
{
	char plain[SINK_WHY_MAX];

	if (!l->n_none++) {
		plain_text(run, strlen(run), plain, sizeof(plain));
		snprintf(l->first_none, sizeof(l->first_none), "'%s': %s", plain, why);
	}
}

/* Tried again while there is time; what is refused is not. */
static int give(struct load_ended *l, const struct ended *x)
{
	int wait_ms = RETRY_FIRST_MS, err;
	int64_t written;

	while ((err = sink_ended(l->sink, x, &written))) {
		if (err == -ENXIO) {
			note_none(l, x->run, l->sink->why);
			return 0;
		}
		if (err == -EINVAL) {
			if (!l->refused)
				snprintf(l->refusal, sizeof(l->refusal), "%s", l->sink->why);
			l->refused = true;
			return 0;
		}
		if (!l->patience || !l->patience->wait(l->patience->ctx, wait_ms))
			return err;
		wait_ms = 2 * wait_ms < RETRY_LAST_MS ? 2 * wait_ms : RETRY_LAST_MS;
	}
	return 0;
}

/*
 * The number of the run's start; @o: of a split tree, whose journal holds the variable.  False, and
 * that it has none was noted.
 */
static bool take_start(struct load_ended *l, json_object *o, struct ended *x)
{
	const char *variable = l->scheduler->start_env, *text;
	json_object *all = o ? table_value(o, "variables") : NULL, *v = NULL;
	char why[160];

	x->worker = l->scheduler->worker;
	x->start = l->scheduler->start;
	if (!variable)
		return true;
	if (o)
		json_object_object_get_ex(all, variable, &v);
	text = o ? json_object_get_string(v) : getenv(variable);
	if (text && scheduler_number(text, &x->start))
		return true;
	if (o && !json_object_object_get_ex(all, variable, NULL))
		snprintf(why, sizeof(why),
			 "the journal does not hold %s: --start ENV:%s goes with the run", variable,
			 variable);
	else
		snprintf(why, sizeof(why), "%s is %s", variable, text ? "no number" : "not set");
	note_none(l, x->run, why);
	return false;
}

/* --- lines --------------------------------------------------------------------------------- */

static int on_start(void *ctx, const struct run_facts *run, const struct env *env)
{
	struct load_ended *l = ctx;

	(void)env;
	l->started_at_ns = run->started_at_ns;
	l->pid = run->pid;
	l->id = run->id && *run->id ? strdup(run->id) : NULL;
	return run->id && *run->id && !l->id ? -ENOMEM : 0;
}

static int take_process(struct load_ended *l, json_object *o)
{
	int64_t run = int_at(o, "run"), started_ns = time_at(o, "started");
	int64_t ended_ns = time_at(o, "ended"), cpu_ns = time_at(o, "cpu_seconds");
	struct living_run *r;

	if (run == UNKNOWN)
		run = 0;
	/* A late descendant's: the run was told without it. */
	if (!living_may_be(&l->living, run) || started_ns == TIME_NONE || ended_ns == TIME_NONE)
		return 0;
	r = living_run(&l->living, run);
	if (!r)
		return -ENOMEM;
	return ended_add(&r->x, &(struct em_exit){ -seconds(started_ns), -seconds(ended_ns),
						   int_at(o, "peak_rss_bytes"),
						   cpu_ns < 0 ? -1 : seconds(cpu_ns) });
}

static int give_run(struct load_ended *l, json_object *o, int64_t t_ns, struct ended *x)
{
	json_object *name = table_value(o, "name");
	int err = copy_marks(table_value(o, "marks"), x);

	x->pid = int_at(o, "pid");
	x->max_rss = int_at(o, "usage.peak_rss_process_bytes");
	/* Nobody calls it anything: it is none of the scheduler's. */
	if (err || x->pid <= 0 || !json_object_is_type(name, json_type_string) ||
	    !json_object_get_string_len(name))
		return err;
	x->run = strdup(json_object_get_string(name));
	if (!x->run)
		return -ENOMEM;
	ended_settle(x);
	age_exits(x, t_ns);
	x->aged_ns = on_our_clock(l, t_ns);
	return take_start(l, o, x) ? give(l, x) : 0;
}

static int take_end(struct load_ended *l, json_object *o)
{
	int64_t run = int_at(o, "run"), t_ns = time_at(o, "t");
	struct living_run *r;
	int err;

	if (l->started_at_ns < 0)
		return 0; /* said at the end */
	if (l->left_out) {
		l->split = true;
		note_none(l, "?", "the journal had reached its size");
		return 0;
	}
	if (run <= 0 || !living_may_be(&l->living, run) || t_ns == TIME_NONE) {
		note_none(l, "?", "an end without its number and time, or for the second time");
		return 0;
	}
	l->split = true;
	r = living_run(&l->living, run);
	if (!r)
		return -ENOMEM;
	err = give_run(l, o, t_ns, &r->x);
	if (err == -EBADMSG) {
		note_none(l, r->x.run ? r->x.run : "?", "its marks are none");
		err = 0;
	}
	return err ? err : living_end(&l->living, r);
}

static int on_line(void *ctx, const char *event, json_object *o)
{
	struct load_ended *l = ctx;

	if (!strcmp(event, "left_out"))
		l->left_out = true;
	else
		return strcmp(event, "run_end") != 0 ? take_process(l, o) : take_end(l, o);
	return 0;
}

/* --- the end ------------------------------------------------------------------------------- */

static int give_whole(struct load_ended *l, const struct summary *s)
{
	struct living_run *r = living_run(&l->living, 0);
	struct ended *x;

	if (!r)
		return -ENOMEM;
	x = &r->x;
	x->run = strdup(l->id);
	x->marks = calloc(s->n_marks + 1, sizeof(*x->marks));
	if (!x->run || !x->marks)
		return -ENOMEM;
	memcpy(x->marks, s->marks, s->n_marks * sizeof(*x->marks));
	x->n_marks = s->n_marks;
	x->pid = s->run.pid;
	x->max_rss = s->usage.peak_process_bytes;
	ended_settle(x);
	age_exits(x, s->aged_ns);
	x->aged_ns = on_our_clock(l, s->aged_ns);
	return take_start(l, NULL, x) ? give(l, x) : 0;
}

/* Why nothing of it can be recorded; NULL: it can. */
static const char *void_because(const struct load_ended *l, const struct summary *s)
{
	if (l->started_at_ns < 0)
		return "it does not say when the run began";
	if (l->split)
		return NULL;
	if (!l->id || s->run.pid <= 0)
		return "it does not say whose run it is";
	/* Numbers are written once, when the process has ended (U-5). */
	if (l->left_out)
		return "the journal had reached its size";
	return s->cut_off ? "the journal was cut off" : NULL;
}

static enum load_result finish(struct load_ended *l, const struct journal_read *r, int *err)
{
	const char *why;

	if (!r->summary) {
		faults_print(l->name, r);
		return LOAD_FOREIGN;
	}
	why = void_because(l, r->summary);
	if (why) {
		log_line("%s: attempts are not recorded: %s", l->name, why);
		return LOAD_VOID;
	}
	if (!l->split)
		*err = give_whole(l, r->summary);
	if (*err)
		return LOAD_FAILED;
	if (l->refused) {
		*err = sink_fail(l->sink, -EINVAL, "%s", l->refusal);
		return LOAD_REFUSED;
	}
	faults_print(l->name, r);
	if (l->n_none == 1)
		log_line("%s: no attempts of run %s", l->name, l->first_none);
	else if (l->n_none)
		log_line("%s: no attempts of %llu runs, the first %s", l->name, l->n_none,
			 l->first_none);
	return LOAD_DONE;
}

/* The next run of the journal, or runs where it is of a split tree. */
static enum load_result load_run(struct journal_runs *runs, const struct load_ended *of,
				 bool *ret_more, int *ret_err)
{
	struct load_ended l = *of;
	const struct journal_observer by = { &l, on_start, on_line };
	enum load_result result = LOAD_FAILED;
	struct journal_read r;

	*ret_err = journal_runs_next(runs, TOP_PEAK, &by, &r);
	if (!*ret_err)
		result = finish(&l, &r, ret_err);
	if (*ret_err && !*l.sink->why)
		sink_fail(l.sink, *ret_err, "reading '%s': %s", l.name, strerror(-*ret_err));
	*ret_more = !*ret_err && r.more;
	living_free(&l.living);
	free(l.id);
	summary_free(r.summary);
	return result;
}

enum load_result load_ended(FILE *in, const char *name, struct sink *s,
			    const struct scheduler *scheduler, const struct patience *patience,
			    int *ret_err)
{
	const struct load_ended l = { .sink = s,
				      .scheduler = scheduler,
				      .patience = patience,
				      .name = name,
				      .started_at_ns = UNKNOWN };
	struct journal_runs runs;
	enum load_result result;
	bool more = false;

	s->why[0] = '\0';
	*ret_err = journal_runs_open(&runs, in);
	result = *ret_err ? LOAD_FAILED : load_run(&runs, &l, &more, ret_err);
	while (more)
		result = load_both(result, load_run(&runs, &l, &more, ret_err));
	journal_runs_close(&runs);
	return result;
}
