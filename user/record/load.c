// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/load.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "journal/faults.h"
#include "journal/read.h"
#include "log.h"
#include "report/json_fields.h"
#include "report/json_summary.h"

struct load {
	struct sink *sink;
	struct row row;
	bool begun;   /* a transaction is open */
	bool unnamed; /* the first line names no run */
};

static void make_part(const struct run_facts *run, const struct env *env, char *buf, size_t cap)
{
	char at[32] = "?";
	const char *host = env->host ? env->host : env->boot_id ? env->boot_id : "?";

	if (run->started_at_ns >= 0)
		wall_clock_text(run->started_at_ns, at, sizeof(at));
	snprintf(buf, cap, "%s:%lld@%s", host, (long long)run->pid, at);
}

static int on_start(void *ctx, const struct run_facts *run, const struct env *env)
{
	struct load *l = ctx;
	char part[400], *id;
	int err;

	l->unnamed = !run->id || !*run->id;
	if (l->unnamed)
		return sink_fail(l->sink, -EBADMSG, "the run has no id");
	make_part(run, env, part, sizeof(part));
	id = table_text(run->id);
	if (!id)
		return sink_fail(l->sink, -ENOMEM, "out of memory");
	err = sink_begin(l->sink, &(struct part){ id, part });
	free(id);
	l->begun = !err;
	return err;
}

static int put(struct load *l, enum table_id table, int64_t split, json_object *o)
{
	int err = row_fill(&l->row, &tables[table], o);

	if (err)
		return sink_fail(l->sink, err, "out of memory");
	return sink_row(l->sink, table, split, &l->row);
}

static int put_each(struct load *l, enum table_id table, int64_t split, json_object *list)
{
	int err = 0;

	if (!json_object_is_type(list, json_type_array))
		return 0;
	for (size_t i = 0; !err && i < json_object_array_length(list); i++)
		err = put(l, table, split, json_object_array_get_idx(list, i));
	return err;
}

static int64_t split_of(json_object *o)
{
	json_object *v = table_value(o, "run");

	return json_object_is_type(v, json_type_int) ? json_object_get_int64(v) : 0;
}

static int move(json_object *to, const char *key, json_object *v)
{
	return json_object_object_add(to, key, json_object_get(v));
}

/* A line of one run in the shape of a summary, whose "run" is an object. */
static json_object *run_of_end(json_object *o)
{
	json_object *whole = json_object_new_object(), *run = json_object_new_object();
	int err = !whole || !run;

	if (err || json_object_object_add(whole, "run", run)) {
		json_object_put(whole);
		json_object_put(run);
		return NULL;
	}
	json_object_object_foreach(o, key, v)
	{
		bool of_run = !strcmp(key, "pid") || !strcmp(key, "exit_code") ||
			      !strcmp(key, "exit_signal");

		if (of_run)
			err |= move(run, key, v);
		else if (strcmp(key, "run") != 0)
			err |= move(whole, key, v);
	}
	if (!err)
		return whole;
	json_object_put(whole);
	return NULL;
}

static int put_run_end(struct load *l, json_object *o)
{
	int64_t split = split_of(o);
	json_object *whole = run_of_end(o);
	int err;

	if (!whole)
		return sink_fail(l->sink, -ENOMEM, "out of memory");
	err = put(l, TABLE_RUNS, split, whole);
	if (!err)
		err = put_each(l, TABLE_MARKS, split, table_value(o, "marks"));
	if (!err)
		err = put_each(l, TABLE_ATTEMPTS, split, table_value(o, "attempts"));
	json_object_put(whole);
	return err;
}

static int on_line(void *ctx, const char *event, json_object *o)
{
	struct load *l = ctx;

	if (!l->begun || !strcmp(event, "left_out"))
		return 0;
	if (!strcmp(event, "run_end"))
		return put_run_end(l, o);
	return put(l, TABLE_PROCESSES, split_of(o), o);
}

/* The whole run as its document, out of the journal's summary or out of what was there of it. */
static json_object *document(const struct journal_read *r)
{
	struct json j;
	json_object *o = NULL;

	json_init(&j);
	json_summary_begin(&j, r->summary);
	json_summary_end(&j, r->summary, 0);
	if (!j.err)
		o = json_tokener_parse(json_text(&j));
	json_free(&j);
	if (o &&
	    (json_object_object_add(o, "lines",
				    json_object_new_int64((int64_t)(r->lines - r->n_faults))) ||
	     json_object_object_add(o, "cut_off", json_object_new_boolean(r->summary->cut_off)))) {
		json_object_put(o);
		o = NULL;
	}
	return o;
}

static int put_whole(struct load *l, const struct journal_read *r)
{
	json_object *o = document(r);
	json_object *env;
	int err;

	if (!o)
		return sink_fail(l->sink, -ENOMEM, "out of memory");
	env = table_value(o, "env");
	err = put(l, TABLE_RUNS, 0, o);
	if (!err && env)
		err = put(l, TABLE_ENV, 0, env);
	if (!err)
		err = put_each(l, TABLE_MARKS, 0, table_value(o, "marks"));
	if (!err)
		err = put_each(l, TABLE_ATTEMPTS, 0, table_value(o, "attempts"));
	json_object_put(o);
	return err;
}

/* The next run of the journal. */
static enum load_result load_run(struct journal_runs *runs, const char *name, struct sink *s,
				 bool *ret_more, int *ret_err)
{
	struct load l = { .sink = s };
	const struct journal_observer by = { &l, on_start, on_line };
	struct journal_read r;
	int err;

	err = journal_runs_next(runs, TOP_PEAK, &by, &r);
	if (!err && l.begun)
		err = put_whole(&l, &r);
	if (!err && l.begun)
		err = sink_commit(s, (int64_t)(r.lines - r.n_faults), !r.summary->cut_off);
	if (err && l.begun)
		sink_rollback(s);
	if (err && !*s->why)
		sink_fail(s, err, "reading '%s': %s", name, strerror(-err));
	if (!err || l.unnamed)
		faults_print(name, &r);
	if (!err && r.summary && !l.begun)
		log_line("%s: without its first line nobody knows whose run it is", name);
	row_free(&l.row);
	summary_free(r.summary);
	*ret_more = !err && r.more;
	*ret_err = err;
	if (l.unnamed || (!err && !l.begun))
		return LOAD_FOREIGN;
	return err ? LOAD_FAILED : r.n_faults ? LOAD_FAULTY : LOAD_DONE;
}

enum load_result load_both(enum load_result a, enum load_result b)
{
	/* From what needs nothing more to what has to be tried again. */
	static const int rank[] = { [LOAD_DONE] = 0,
				    [LOAD_VOID] = 1,
				    [LOAD_FAULTY] = 2,
				    [LOAD_REFUSED] = 3,
				    [LOAD_FAILED] = 4 };

	if (a == b)
		return a;
	a = a == LOAD_FOREIGN ? LOAD_FAULTY : a;
	b = b == LOAD_FOREIGN ? LOAD_FAULTY : b;
	return rank[a] > rank[b] ? a : b;
}

enum load_result load_journal(FILE *in, const char *name, struct sink *s, int *ret_err)
{
	struct journal_runs runs;
	enum load_result result;
	bool more = false;

	s->why[0] = '\0';
	*ret_err = journal_runs_open(&runs, in);
	result = *ret_err ? LOAD_FAILED : load_run(&runs, name, s, &more, ret_err);
	while (more)
		result = load_both(result, load_run(&runs, name, s, &more, ret_err));
	journal_runs_close(&runs);
	return result;
}
