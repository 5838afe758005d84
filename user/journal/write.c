// SPDX-License-Identifier: GPL-2.0-or-later
#include "journal/write.h"

#include <math.h>
#include <string.h>

#include "output.h"
#include "report/json_env.h"
#include "report/json_fields.h"
#include "report/json_stretch.h"
#include "report/json_summary.h"

void journal_init(struct journal *w, int fd)
{
	*w = (struct journal){ .fd = fd, .copy_fds = { -1, -1 } };
	json_init(&w->j);
}

static bool begin(struct journal *w, const char *event, int64_t now_ns)
{
	if (w->fd < 0 && w->copy_fds[COPY_FOR_REPORT] < 0 && w->copy_fds[COPY_FOR_RECORD] < 0)
		return false;
	json_open(&w->j);
	json_key(&w->j, "event");
	json_cstring(&w->j, event);
	json_key(&w->j, "t");
	json_ns(&w->j, now_ns - w->start_ns);
	return true;
}

static void end(struct journal *w)
{
	json_close(&w->j);
	json_newline(&w->j);
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

void journal_process(struct journal *w, int64_t now_ns, const struct process *p, uint64_t run)
{
	if (!begin(w, "process", now_ns))
		return;
	run_number(w, run);
	json_process_members(&w->j, p);
	end(w);
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
	end(w);
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

void journal_summary(struct journal *w, int64_t now_ns, const struct summary *s)
{
	/* The moment its ages count from, to the ns: aged_at in the document has ms. */
	if (s->aged_at_ns >= 0 && s->run.started_at_ns >= 0)
		now_ns = w->start_ns + s->aged_at_ns - s->run.started_at_ns;
	if (!begin(w, "summary", now_ns))
		return;
	json_summary_members(&w->j, s);
	end(w);
}

/* A sink that failed is left alone from there on. */
static int put(struct journal *w, int *fd)
{
	int err = w->j.err;

	if (*fd < 0)
		return 0;
	if (!err && w->j.len)
		err = write_all(*fd, w->j.buf, w->j.len);
	if (err)
		*fd = -1;
	return err;
}

int journal_flush(struct journal *w)
{
	int err = put(w, &w->fd);

	for (int i = 0; i < JOURNAL_COPIES; i++) {
		int copy_err = put(w, &w->copy_fds[i]);

		if (copy_err)
			w->copy_errs[i] = copy_err;
	}
	json_reset(&w->j);
	return err;
}

void journal_free(struct journal *w)
{
	json_free(&w->j);
}
