// SPDX-License-Identifier: GPL-2.0-or-later
#include "journal/write.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "output.h"
#include "report/fields.h"
#include "report/json_env.h"
#include "report/json_fields.h"
#include "report/json_stretch.h"
#include "report/json_summary.h"

void journal_init(struct journal *w, int fd, struct room *room)
{
	*w = (struct journal){ .fd = fd,
			       .copy_fds = { -1, -1 },
			       .room = room && room->most_bytes ? room : NULL };
	json_init(&w->j);
	json_init(&w->own);
	room_run_init(&w->room_run);
}

static void begin_line(struct json *j, const char *event, int64_t t_ns)
{
	json_open(j);
	json_key(j, "event");
	json_cstring(j, event);
	json_key(j, "t");
	json_ns(j, t_ns);
}

static bool begin(struct journal *w, const char *event, int64_t now_ns)
{
	if (w->fd < 0 && w->copy_fds[COPY_FOR_REPORT] < 0 && w->copy_fds[COPY_FOR_RECORD] < 0)
		return false;
	w->line = w->j.len;
	begin_line(&w->j, event, now_ns - w->start_ns);
	return true;
}

static void end_line(struct json *j)
{
	json_close(j);
	json_newline(j);
}

/* Into the file alone, so far. */
static void tell_left_out(struct journal *w, int64_t now_ns)
{
	size_t before = w->own.len;

	begin_line(&w->own, "left_out", now_ns - w->start_ns);
	json_fields(&w->own, &w->room_run.left_out, &left_out_fields);
	end_line(&w->own);
	w->room->used_bytes += (int64_t)(w->own.len - before);
}

/* Whether the line goes into the file too, where that has a limit. */
static bool end_of(struct journal *w, enum room_line kind, int64_t now_ns)
{
	bool told = w->room_run.left_out.from_ns != TIME_NONE, takes;
	size_t len;

	end_line(&w->j);
	if (!w->room || w->j.err)
		return true;
	len = w->j.len - w->line;
	takes = room_takes(w->room, &w->room_run, kind, len, now_ns - w->start_ns);
	/* At once, since nobody knows how it ends; and with each sample, how much by then. */
	if (w->room_run.left_out.from_ns != TIME_NONE && (!told || (takes && kind == ROOM_SAMPLE)))
		tell_left_out(w, now_ns);
	if (takes) {
		json_raw(&w->own, w->j.buf + w->line, len);
		w->own.comma = false;
	}
	return takes;
}

static void end(struct journal *w)
{
	end_of(w, ROOM_RESULT, w->start_ns);
}

void journal_start(struct journal *w, int64_t start_ns, const struct run_facts *run,
		   const struct source_facts *source, const struct env *env)
{
	w->start_ns = start_ns;
	if (!begin(w, "run_start", start_ns))
		return;
	json_key(&w->j, "run");
	json_run(&w->j, run);
	json_key(&w->j, "source");
	json_source(&w->j, source);
	json_key(&w->j, "env");
	json_env(&w->j, env);
	end(w);
}

static void run_number(struct journal *w, uint64_t run)
{
	if (!run)
		return;
	json_key(&w->j, "run");
	json_int(&w->j, (int64_t)run);
}

static bool write_process(struct journal *w, int64_t now_ns, const struct process *p, uint64_t run,
			  enum room_line kind)
{
	if (!begin(w, "process", now_ns))
		return true;
	run_number(w, run);
	json_process_members(&w->j, p);
	return end_of(w, kind, now_ns);
}

void journal_process(struct journal *w, int64_t now_ns, struct process *p, uint64_t run)
{
	if (write_process(w, now_ns, p, run, ROOM_ROW))
		return;
	p->left_out = true;
	p->run = (uint32_t)run;
	room_row_out(&w->room_run, p);
}

/* The machine's counters since the run's first look at them, and the load of the last window. */
static void write_load(struct journal *w, const struct load_watch *load)
{
	const struct load_reading *first = &load->first, *last = &load->last;
	struct load_sample told = { .at_ns = last->at_ns - w->start_ns,
				    .busy_ns = load_busy_ns(first, last),
				    .own_ns = load_own_ns(first, last),
				    .steal_ns = load_steal_ns(first, last),
				    .foreign_cores = load->newest.span_ns
							     ? load->newest.foreign_cores
							     : NAN };

	json_fields_object(&w->j, "host_load", &told, &load_sample_fields);
}

static void sample(struct journal *w, uint64_t run, const struct tree_sample *s,
		   const struct load_watch *load, double cpus, bool asked)
{
	const struct totals *t = &s->totals;

	if (!begin(w, "sample", s->at_ns))
		return;
	run_number(w, run);
	json_count(json_key(&w->j, "rss_bytes"), run_sample_rss(s));
	json_duration(json_key(&w->j, "cpu_seconds"), t->cpu_ns);
	json_figure(json_key(&w->j, "cpus"), cpus);
	json_count(json_key(&w->j, "processes"), t->processes);
	json_count(json_key(&w->j, "threads"), t->threads);
	json_count(json_key(&w->j, "lower_bytes"), t->lower_max_bytes);
	json_count(json_key(&w->j, "upper_bytes"), t->upper_max_bytes);
	if (load && s->load_read)
		write_load(w, load);
	if (s->pss_bytes > 0)
		json_count(json_key(&w->j, "pss_bytes"), s->pss_bytes);
	if (asked) {
		json_key(&w->j, "asked");
		json_bool(&w->j, true);
	}
	end_of(w, ROOM_SAMPLE, s->at_ns);
}

void journal_lost(struct journal *w, int64_t now_ns, const struct loss *l)
{
	if (!begin(w, "lost", now_ns))
		return;
	json_key(&w->j, "what");
	json_cstring(&w->j, l->what);
	json_key(&w->j, "count");
	json_int(&w->j, (int64_t)l->count);
	end(w);
}

void journal_sample(struct journal *w, const struct tree_sample *s, const struct load_watch *load,
		    double cpus, bool asked)
{
	sample(w, w->run, s, load, cpus, asked);
}

void journal_run_sample(struct journal *w, uint64_t run, const struct tree_sample *s, double cpus)
{
	sample(w, run, s, NULL, cpus, false);
}

void journal_run_end(struct journal *w, int64_t now_ns, const struct journal_run *run,
		     const struct summary *s)
{
	if (!begin(w, "run_end", now_ns))
		return;
	run_number(w, run->number);
	json_key(&w->j, "name");
	json_cstring(&w->j, run->name);
	json_count(json_key(&w->j, "pid"), run->pid);
	json_time(json_key(&w->j, "started"), run->started_ns);
	json_time(json_key(&w->j, "ended"), run->ended_ns);
	json_count(json_key(&w->j, "exit_code"), run->exit_code);
	json_count(json_key(&w->j, "exit_signal"), run->exit_signal);
	if (run->variable) {
		json_key(&w->j, "variables");
		json_open(&w->j);
		json_key(&w->j, run->variable);
		json_cstring(&w->j, run->value);
		json_close(&w->j);
	}
	json_run_end_members(&w->j, s);
	end(w);
}

void journal_phase(struct journal *w, int64_t now_ns, const char *name, size_t len,
		   int64_t rss_bytes)
{
	if (!begin(w, "phase", now_ns))
		return;
	run_number(w, w->run);
	json_key(&w->j, "name");
	json_string(&w->j, name, len);
	json_count(json_key(&w->j, "rss_bytes"), rss_bytes);
	end(w);
}

void journal_attempt_start(struct journal *w, int64_t now_ns, const char *id, size_t len)
{
	if (!begin(w, "attempt_start", now_ns))
		return;
	run_number(w, w->run);
	json_key(&w->j, "id");
	json_attempt_id(&w->j, id, len);
	end(w);
}

void journal_attempt_end(struct journal *w, int64_t now_ns, int64_t of_ns, const struct stretch *s,
			 const char *io_source)
{
	if (!begin(w, "attempt_end", now_ns))
		return;
	run_number(w, w->run);
	json_key(&w->j, "id");
	json_attempt_id(&w->j, s->name, strlen(s->name));
	json_key(&w->j, "at");
	json_ns(&w->j, of_ns - w->start_ns + s->started_ns);
	json_stretch_members(&w->j, s, io_source);
	end(w);
}

void journal_oom(struct journal *w, const struct oom_record *r)
{
	if (!begin(w, "oom", r->at_ns))
		return;
	json_key(&w->j, "pid");
	json_int(&w->j, r->pid);
	json_key(&w->j, "comm");
	json_string(&w->j, r->comm, strnlen(r->comm, sizeof(r->comm)));
	end(w);
}

static int by_end(const void *a, const void *b)
{
	const struct process *x = *(struct process *const *)a, *y = *(struct process *const *)b;

	return x->ended_ns != y->ended_ns ? (x->ended_ns < y->ended_ns ? -1 : 1)
					  : (x->pid > y->pid) - (x->pid < y->pid);
}

/* The copies have it. */
static void write_again(struct journal *w, int64_t now_ns, const struct process *p)
{
	write_process(w, now_ns, p, p->run, ROOM_RESULT);
	w->j.len = w->line;
	room_row_again(&w->room_run, p);
}

void journal_left_out(struct journal *w, int64_t now_ns, const struct summary *s)
{
	struct process **rows;
	bool root = false;
	size_t n = 0;

	if (!w->room || w->fd < 0 || w->room_run.left_out.from_ns == TIME_NONE)
		return;
	rows = calloc(s->n_rows + 1, sizeof(struct process *));
	for (size_t i = 0; rows && i < s->n_rows; i++) {
		root |= s->rows[i] == s->root;
		if (s->rows[i]->left_out)
			rows[n++] = s->rows[i];
	}
	if (rows && s->root && !root && s->root->left_out)
		rows[n++] = s->root;
	if (n)
		qsort(rows, n, sizeof(struct process *), by_end);
	for (size_t i = 0; i < n; i++)
		write_again(w, now_ns, rows[i]);
	free(rows);
	tell_left_out(w, now_ns);
}

void journal_summary(struct journal *w, int64_t now_ns, const struct summary *s)
{
	/* The moment its ages count from, to the ns: aged_at in the document has ms. */
	if (s->aged_at_ns >= 0 && s->run.started_at_ns >= 0)
		now_ns = w->start_ns + s->aged_at_ns - s->run.started_at_ns;
	if (!begin(w, "summary", now_ns))
		return;
	json_summary_members(&w->j, s);
	/* Too few samples are left to make the same from. */
	if (w->room_run.left_out.samples)
		json_marks(&w->j, s);
	end(w);
}

/* A sink that failed is left alone from there on. */
static int put(const struct json *j, int *fd)
{
	int err = j->err;

	if (*fd < 0)
		return 0;
	if (!err && j->len)
		err = write_all(*fd, j->buf, j->len);
	if (err)
		*fd = -1;
	return err;
}

int journal_flush(struct journal *w)
{
	int err = put(w->room && !w->j.err ? &w->own : &w->j, &w->fd);

	for (int i = 0; i < JOURNAL_COPIES; i++) {
		int copy_err = put(&w->j, &w->copy_fds[i]);

		if (copy_err)
			w->copy_errs[i] = copy_err;
	}
	json_reset(&w->j);
	json_reset(&w->own);
	return err;
}

void journal_free(struct journal *w)
{
	json_free(&w->j);
	json_free(&w->own);
}
