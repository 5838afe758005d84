// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/split.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "hash.h"
#include "lib/number.h"
#include "session/sampler.h"
#include "session/split_name.h"
#include "units.h"

struct split_run {
	uint32_t place; /* the source's number, which is used again */
	UT_hash_handle hh;
	uint64_t number;
	char *name;
	char *start;              /* value of the variable for it; NULL: not there, or not known */
	bool start_known;         /* as of the last exec */
	struct process_key first; /* its first process, a child of what is attached to */
	int32_t pid;
	int64_t born_ns, ended_ns; /* of that process; UNKNOWN: it lives */
	int wait_status;
	struct run *run; /* NULL: its end was told */
	bool whole;      /* all of it has ended, as of the drain before */
};

struct split_member {
	int32_t pid;
	UT_hash_handle hh;
	struct process_key key;
	uint32_t place;
};

static struct split_run *find(const struct split *s, uint32_t place)
{
	struct split_run *r;

	HASH_FIND(hh, s->runs, &place, sizeof(place), r);
	return r;
}

static bool same(struct process_key a, struct process_key b)
{
	return a.start_ns == b.start_ns && a.tgid == b.tgid;
}

static void forget(struct split *s, struct split_run *r)
{
	HASH_DEL(s->runs, r); // NOLINT(clang-analyzer-core.NullDereference): it is in the table
	if (r->run)
		run_free(r->run);
	free(r->run);
	free(r->name);
	free(r->start);
	free(r);
}

static struct split_run *begin(struct split *s, const struct fork_record *f)
{
	struct split_run *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->run = malloc(sizeof(*r->run));
	if (!r->run || run_init(r->run, f->at_ns, s->min_sample_s, s->n_cpus)) {
		free(r->run);
		free(r);
		return NULL;
	}
	r->place = f->run;
	r->number = ++s->begun;
	r->first = f->key;
	r->pid = f->pid;
	r->born_ns = f->at_ns;
	r->ended_ns = UNKNOWN;
	r->wait_status = UNKNOWN;
	if (s->source->info.degraded)
		texts_add(&r->run->reasons, "%s", s->source->info.degraded);
	HASH_ADD(hh, s->runs, place, sizeof(r->place), r);
	if (hash_is_in(r))
		return r;
	run_free(r->run);
	free(r->run);
	free(r);
	return NULL;
}

static void drop_member(struct split *s, int32_t pid, const struct process_key *key)
{
	struct split_member *m;

	HASH_FIND_INT(s->members, &pid, m);
	if (!m || (key && !same(m->key, *key)))
		return;
	HASH_DEL(s->members, m);
	free(m);
}

static int add_member(struct split *s, const struct fork_record *f)
{
	struct split_member *m;

	drop_member(s, f->pid, NULL); /* one of before, whose end is not here yet */
	m = calloc(1, sizeof(*m));
	if (!m)
		return -ENOMEM;
	m->pid = f->pid;
	m->key = f->key;
	m->place = f->run;
	HASH_ADD_INT(s->members, pid, m);
	if (hash_is_in(m))
		return 0;
	free(m);
	return -ENOMEM;
}

static void name_it(const struct split *s, struct split_run *r, const char *comm)
{
	char *name = split_name(s->key, r->pid, comm);

	if (!name)
		return; /* gone, or not there: what was known before stays */
	free(r->name);
	r->name = name;
}

static void find_start(const struct split *s, struct split_run *r)
{
	char *value = s->start_env ? split_variable(r->pid, s->start_env) : NULL;

	if (!value)
		return;
	free(r->start);
	r->start = value;
}

int split_on_fork(struct split *s, const struct fork_record *f)
{
	struct split_run *r;
	int err;

	if (!s->on || !f->run)
		return 0;
	r = find(s, f->run);
	if (!r) {
		r = begin(s, f);
		if (!r)
			return -ENOMEM;
		name_it(s, r, NULL);
		find_start(s, r);
	}
	err = add_member(s, f);
	if (!err && r->run)
		err = run_on_fork(r->run, f);
	return err;
}

int split_on_exec(struct split *s, const struct exec_record *e)
{
	struct split_run *r = s->on && e->run ? find(s, e->run) : NULL;

	if (!r || !r->run)
		return 0;
	if (same(r->first, e->key) && !split_key_variable(s->key))
		name_it(s, r, e->comm);
	if (same(r->first, e->key)) {
		if (!r->start_known)
			find_start(s, r);
		r->start_known = false;
	}
	return run_on_exec(r->run, e);
}

int split_on_env(struct split *s, uint32_t place, enum run_variable which, bool known,
		 const char *value, size_t len)
{
	struct split_run *r = s->on && place ? find(s, place) : NULL;
	char *text, **of;

	if (r && !known && which == RUN_NAME)
		name_it(s, r, NULL);
	if (!r || !known)
		return 0;
	text = value ? strndup(value, len) : NULL;
	if (value && !text)
		return -ENOMEM;
	of = which == RUN_NAME ? &r->name : &r->start;
	r->start_known |= which == RUN_START;
	free(*of);
	*of = text;
	return 0;
}

void split_on_mark(struct split *s, uint32_t place, struct process_key key, int64_t mark_bytes)
{
	struct split_run *r = s->on && place ? find(s, place) : NULL;

	if (r && r->run)
		run_on_mark(r->run, key, mark_bytes);
}

/* --- its end ------------------------------------------------------------------------------- */

/* Its own first process is not one it forked.  Of a place that was given out there always are. */
static void totals_of(struct split *s, const struct split_run *r, struct totals *t)
{
	source_run_totals(s->source, r->place, t);
	if (!t->initial && t->forks > 0) {
		t->initial = 1;
		t->forks--;
	}
}

/* What its living descendants have used, as far as the records of all others are here. */
static void count_living(struct split *s, const struct split_run *r, const struct totals *t,
			 struct scan_counters *ret)
{
	const struct scan_counters unknown = { UNKNOWN, UNKNOWN, UNKNOWN,    UNKNOWN,
					       UNKNOWN, UNKNOWN, io_unknown, UNKNOWN };
	struct totals after = { .exits = UNKNOWN };

	if (s->scan && t->exits == t->records) {
		scan_count(s->scan, r->place, ret);
		source_run_counts(s->source, r->place, &after);
	}
	if (after.exits != t->exits)
		*ret = unknown;
}

static void tell_end(struct split *s, struct split_run *r, int64_t at_ns)
{
	struct loss losses[LOSSES_MAX];
	struct run_end end = { .at_ns = at_ns,
			       .losses = losses,
			       .n_losses = source_losses(s->source, losses, LOSSES_MAX),
			       .exact_source = s->exact_source,
			       .rusage = { UNKNOWN, UNKNOWN, UNKNOWN } };
	struct scan_counters living;
	struct journal_run line = { .number = r->number,
				    .name = r->name,
				    .variable = s->start_env,
				    .value = r->start,
				    .pid = r->pid };
	struct summary *sum = summary_new();

	totals_of(s, r, &end.totals);
	if (end.totals.processes > 0) {
		count_living(s, r, &end.totals, &living);
		end.living = &living;
	}
	if (!sum || run_finish(r->run, &end, TOP_PEAK, sum)) {
		texts_add(s->reasons, "the end of a run was not written: out of memory");
	} else {
		sum->usage.io_source = strdup(s->io_source);
		line.started_ns = r->born_ns - s->start_ns;
		line.ended_ns = r->ended_ns < 0 ? TIME_NONE : r->ended_ns - s->start_ns;
		line.exit_code = line.exit_signal = UNKNOWN;
		if (r->wait_status >= 0 && WIFSIGNALED(r->wait_status))
			line.exit_signal = WTERMSIG(r->wait_status);
		else if (r->wait_status >= 0)
			line.exit_code = WEXITSTATUS(r->wait_status);
		journal_run_end(s->journal, at_ns, &line, sum);
	}
	summary_free(sum);
	run_free(r->run);
	free(r->run);
	r->run = NULL;
}

int split_on_exit(struct split *s, const struct exit_record *e, uint64_t *ret_number)
{
	struct split_run *r = s->on && e->run ? find(s, e->run) : NULL;
	int err = 0;

	*ret_number = r ? r->number : 0;
	if (!r)
		return 0;
	if (!e->running)
		drop_member(s, e->pid, &e->key);
	if (r->run)
		err = run_on_exit(r->run, e, NULL);
	if (e->running || !same(r->first, e->key))
		return err;
	r->ended_ns = e->ended_ns;
	r->wait_status = e->wait_status;
	if (r->run && !s->key)
		name_it(s, r, e->comm);
	return err;
}

/*
 * A run of which the totals say that all has ended sent its last record before: the next drain has
 * it, and the one after that finds nobody who still speaks of its place.
 */
void split_on_drained(struct split *s)
{
	struct split_run *r, *next;
	struct totals t;

	if (!s->on)
		return;
	for (r = s->runs; r; r = next) {
		next = r->hh.next;
		if (r->whole) {
			if (r->run)
				tell_end(s, r, clock_ns(CLOCK_MONOTONIC));
			source_run_release(s->source, r->place);
			forget(s, r);
			continue;
		}
		if (r->ended_ns >= 0 && r->run && !s->wait_tree)
			tell_end(s, r, clock_ns(CLOCK_MONOTONIC));
		/* One whose first process's record was lost ends here. */
		if (!source_run_counts(s->source, r->place, &t))
			r->whole = t.exits > 0 && !t.processes && t.exits == t.records;
	}
}

void split_sample(struct split *s, int64_t at_ns)
{
	struct split_run *r, *next;

	if (!s->on)
		return;
	for (r = s->runs; r; r = next) {
		next = r->hh.next;
		struct tree_sample t = { .at_ns = at_ns };
		double cpus = -1;

		if (!r->run)
			continue;
		totals_of(s, r, &t.totals);
		if (run_on_sample(r->run, &t))
			cpus = r->run->meter.last_cpus;
		journal_run_sample(s->journal, r->number, &t, cpus);
	}
}

void split_finish(struct split *s, int64_t at_ns)
{
	struct split_run *r, *next;

	for (r = s->runs; r; r = next) {
		next = r->hh.next;
		if (r->run)
			tell_end(s, r, at_ns);
	}
}

void split_free(struct split *s)
{
	struct split_member *m, *m_next;
	struct split_run *r, *next;

	for (r = s->runs; r; r = next) {
		next = r->hh.next;
		forget(s, r);
	}
	for (m = s->members; m; m = m_next) {
		m_next = m->hh.next;
		HASH_DEL(s->members, m);
		free(m);
	}
}

/* --- whose is it --------------------------------------------------------------------------- */

const char *split_of_pid(const struct split *s, pid_t pid, struct split_run **ret)
{
	struct split_member *m;
	int32_t key = (int32_t)pid;

	HASH_FIND_INT(s->members, &key, m);
	*ret = m ? find(s, m->place) : NULL;
	return *ret && !(*ret)->run ? "the run has ended" : NULL;
}

const char *split_named(const struct split *s, const char *name, size_t len, struct split_run **ret)
{
	struct split_run *r, *next, *numbered = NULL, *named = NULL;
	bool integer;
	int64_t number = -1;

	if (em_number_len(name, len, &integer) == len && integer)
		em_number_int(name, len, &number);
	for (r = s->runs; r; r = next) {
		next = r->hh.next;
		if (!r->run)
			continue;
		if ((int64_t)r->number == number)
			numbered = r;
		if (!r->name || strlen(r->name) != len || memcmp(r->name, name, len) != 0)
			continue;
		if (named)
			return "more than one run has that name";
		named = r;
	}
	*ret = named ? named : numbered;
	return *ret ? NULL : "no such run";
}

struct run *split_run_model(struct split_run *r)
{
	return r->run;
}

uint32_t split_run_place(const struct split_run *r)
{
	return r->place;
}

uint64_t split_run_number(const struct split_run *r)
{
	return r->number;
}
