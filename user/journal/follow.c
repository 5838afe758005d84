// SPDX-License-Identifier: GPL-2.0-or-later
#include "journal/follow.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "units.h"

/* --- lines --------------------------------------------------------------------------------- */

static int begin_run(struct follow *f)
{
	int err;

	f->now = sample_values_blank();
	f->left_out = left_out_blank();
	f->sampled_ns = UNKNOWN;
	err = top_init(&f->by_peak, TOP_PEAK, FOLLOW_TOP);
	return err ? err : em_meter_init(&f->series, 0, 0, FOLLOW_MARKS);
}

/* Of the run alone; where it is read stays. */
static void forget_run(struct follow *f)
{
	summary_free(f->run);
	top_free(&f->by_peak);
	em_meter_clear(&f->series);
	free(f->phase);
	for (size_t i = 0; i < FOLLOW_RUNS; i++)
		free(f->runs[i].name);
	f->run = NULL;
	f->ended = false;
	f->phase = NULL;
	f->last_ns = f->rows = f->failed = f->n_runs = f->lost = 0;
	memset(f->runs, 0, sizeof(f->runs));
}

/* The first of the file, or another one behind it. */
static int take_start(struct follow *f, json_object *o, struct why *why)
{
	struct summary *s = summary_new();
	int err = 0;

	if (f->run) {
		forget_run(f);
		err = begin_run(f);
	}
	if (!err)
		err = s ? values_start(o, s, why) : -ENOMEM;
	if (err)
		summary_free(s);
	else
		f->run = s;
	return err;
}

static int take_process(struct follow *f, json_object *o, struct why *why)
{
	struct process *p;
	int err = values_process(o, &p, why);

	if (err)
		return err;
	f->rows += !p->running;
	f->failed += process_failed(p);
	top_add(&f->by_peak, p);
	process_unref(p);
	return 0;
}

static int take_sample(struct follow *f, json_object *o, int64_t at_ns, struct why *why)
{
	struct sample_values told;
	double cpu_s;
	int err = values_sample(o, &told, why);

	if (err)
		return err;
	f->now = told;
	f->sampled_ns = at_ns;
	cpu_s = told.cpu_ns < 0 ? 0 : (double)told.cpu_ns / (double)NS_PER_S;
	/* As the run's own meter had it. */
	if (json_object_object_get_ex(o, "asked", NULL))
		em_meter_reading(&f->series, told.rss_bytes, cpu_s,
				 (double)at_ns / (double)NS_PER_S);
	else
		em_meter_sample(&f->series, told.rss_bytes, cpu_s,
				(double)at_ns / (double)NS_PER_S);
	return 0;
}

static int take_phase(struct follow *f, json_object *o, struct why *why)
{
	json_object *name;
	const char *text;
	size_t len;
	int err = value_child(o, "name", json_type_string, &name, why);

	if (err || !name)
		return err;
	text = value_text(name, &len);
	free(f->phase);
	f->phase = text ? strdup(text) : NULL;
	return text && !f->phase ? -ENOMEM : 0;
}

static void run_forget(struct follow_run *r)
{
	free(r->name);
	*r = (struct follow_run){ .usage.peak_lower_bytes = UNKNOWN,
				  .usage.cpu_ns = UNKNOWN,
				  .usage.peak_cpus = UNKNOWN,
				  .pid = UNKNOWN,
				  .started_ns = TIME_NONE,
				  .ended_ns = TIME_NONE,
				  .exit_code = UNKNOWN,
				  .exit_signal = UNKNOWN };
}

static int fill_run(struct follow_run *r, json_object *o, struct why *why)
{
	json_object *name, *v;
	size_t len;
	int err = value_child(o, "name", json_type_string, &name, why);

	if (!err && name && value_text(name, &len)) {
		r->name = strdup(value_text(name, &len));
		err = r->name ? 0 : -ENOMEM;
	}
	if (!err)
		err = value_int(o, "pid", &r->pid, why);
	if (!err)
		err = value_int(o, "exit_code", &r->exit_code, why);
	if (!err)
		err = value_int(o, "exit_signal", &r->exit_signal, why);
	if (!err &&
	    ((json_object_object_get_ex(o, "started", &v) &&
	      value_ns(v, TIME_NONE, &r->started_ns)) ||
	     (json_object_object_get_ex(o, "ended", &v) && value_ns(v, TIME_NONE, &r->ended_ns))))
		err = why_set(why, "a run's times are no seconds");
	return err ? err : value_object(o, "usage", &r->usage, &usage_peak_fields, why);
}

static int take_run_end(struct follow *f, json_object *o, struct why *why)
{
	struct follow_run *r = &f->runs[f->n_runs % FOLLOW_RUNS];
	int err;

	run_forget(r);
	err = fill_run(r, o, why);
	if (err)
		run_forget(r);
	else
		f->n_runs++;
	return err;
}

static int take_lost(struct follow *f, json_object *o, struct why *why)
{
	int64_t count = UNKNOWN;
	int err = value_int(o, "count", &count, why);

	if (!err && count > 0 && __builtin_add_overflow(f->lost, count, &f->lost))
		f->lost = INT64_MAX;
	return err;
}

/* What it says is all up to then. */
static int take_left_out(struct follow *f, json_object *o, struct why *why)
{
	struct left_out l = left_out_blank();
	int err = value_fields(o, &l, &left_out_fields, why);

	if (!err && (l.processes < 0 || l.failed < 0 || l.samples < 0))
		err = why_set(why, "left_out without processes, failed and samples");
	if (err)
		return err;
	f->rows += l.processes - f->left_out.processes;
	f->failed += l.failed - f->left_out.failed;
	f->left_out = l;
	return 0;
}

static int take_summary(struct follow *f, json_object *o, struct why *why)
{
	struct summary *s = summary_new();
	int err = s ? values_summary(o, s, why) : -ENOMEM;

	if (err) {
		summary_free(s);
		return err;
	}
	summary_free(f->run);
	f->run = s;
	f->ended = true;
	return 0;
}

static int take_line(struct follow *f, const char *event, json_object *o, struct why *why)
{
	json_object *v;
	int64_t at_ns;
	int err = 0;

	if (!json_object_object_get_ex(o, "t", &v) || !v || value_ns(v, 0, &at_ns))
		return why_set(why, "no t of a journal");
	if (!strcmp(event, "run_start"))
		err = take_start(f, o, why);
	else if (f->ended)
		return why_set(why, "a line after the summary");
	else if (!f->run)
		return why_set(why, "there is no run_start before it");
	else if (!strcmp(event, "process"))
		err = take_process(f, o, why);
	else if (!strcmp(event, "summary"))
		err = take_summary(f, o, why);
	else if (!strcmp(event, "run_end"))
		err = take_run_end(f, o, why);
	else if (json_object_object_get_ex(o, "run", NULL))
		return 0; /* of one run of a split tree: the whole tree's tell all */
	else if (!strcmp(event, "sample"))
		err = take_sample(f, o, at_ns, why);
	else if (!strcmp(event, "phase"))
		err = take_phase(f, o, why);
	else if (!strcmp(event, "lost"))
		err = take_lost(f, o, why);
	else if (!strcmp(event, "left_out"))
		err = take_left_out(f, o, why);
	if (!err && at_ns > f->last_ns)
		f->last_ns = at_ns;
	return err;
}

/* --- the file ------------------------------------------------------------------------------ */

static void forget(struct follow *f)
{
	forget_run(f);
	lines_free(&f->lines);
}

/* Nothing is known of it any more. */
static int begin_anew(struct follow *f)
{
	int err;

	forget(f);
	*f = (struct follow){ .name = f->name };
	err = lines_init(&f->lines, NULL);
	return err ? err : begin_run(f);
}

struct follow *follow_new(const char *name)
{
	struct follow *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->name = strdup(name);
	if (f->name && !begin_anew(f))
		return f;
	follow_free(f);
	return NULL;
}

void follow_free(struct follow *f)
{
	if (!f)
		return;
	forget(f);
	free(f->name);
	free(f);
}

static struct follow_place place_of(const struct stat *st)
{
	return (struct follow_place){ (int64_t)st->st_dev, (int64_t)st->st_ino, st->st_size,
				      (int64_t)st->st_mtim.tv_sec * NS_PER_S +
					      st->st_mtim.tv_nsec };
}

static bool same_file(const struct follow_place *a, const struct follow_place *b)
{
	return a->device == b->device && a->inode == b->inode;
}

/* Whether it begins as before; the first time what it begins with is kept. */
static int begins_alike(struct follow *f, FILE *in, bool *ret)
{
	char head[FOLLOW_HEAD];
	ssize_t n = pread(fileno(in), head, sizeof(head), 0);

	if (n < 0)
		return -errno;
	*ret = (size_t)n >= f->n_head && !memcmp(head, f->head, f->n_head);
	memcpy(f->head, head, (size_t)n);
	f->n_head = (size_t)n;
	return 0;
}

static int read_lines(struct follow *f, unsigned int most)
{
	int more = 0;

	while (most && (more = lines_follow(&f->lines)) > 0) {
		const char *event;
		struct why why = { "" };
		json_object *o;
		int err = lines_parse(&f->lines, &o, &event, &why);

		if (!err)
			err = take_line(f, event, o, &why);
		else if (!f->lines.whole) /* the run before was cut off */
			err = 0;
		json_object_put(o);
		if (err == -EBADMSG) {
			f->fault = (struct journal_fault){ f->lines.n, why };
			f->n_faults++;
		} else if (err) {
			return err;
		}
		most--;
	}
	f->behind = more > 0;
	return more < 0 ? more : 0;
}

static int read_on(struct follow *f, FILE *in, unsigned int most)
{
	struct stat st;
	struct follow_place place;
	bool alike = false;
	int err;

	if (fstat(fileno(in), &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	place = place_of(&st);
	err = begins_alike(f, in, &alike);
	if (!err && (!alike || place.size_bytes < f->offset ||
		     (f->offset && !same_file(&place, &f->place)))) {
		err = begin_anew(f);
		if (!err)
			err = begins_alike(f, in, &alike);
	}
	if (!err && fseek(in, f->offset, SEEK_SET))
		err = -errno;
	if (err)
		return err;
	f->place = place;
	f->lines.in = in;
	err = read_lines(f, most);
	f->lines.in = NULL;
	f->offset = ftell(in);
	return err;
}

int follow_read(struct follow *f, unsigned int lines)
{
	struct follow_place place;
	struct stat st;
	FILE *in;
	int fd, err;

	if (stat(f->name, &st)) {
		err = -errno;
		if (err == -ENOENT && f->n_head && begin_anew(f))
			err = -ENOMEM;
		return err;
	}
	place = place_of(&st);
	if (!f->behind && !memcmp(&place, &f->place, sizeof(place)))
		return 0;
	/* A pipe is none, and would be waited for. */
	fd = open(f->name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return -errno;
	in = fdopen(fd, "r");
	if (!in) {
		err = -errno;
		close(fd);
		return err;
	}
	err = read_on(f, in, lines);
	fclose(in);
	return err;
}
