// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/compare.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "units.h"

/* --- what is compared ----------------------------------------------------------------------- */

enum kind {
	KIND_INT,    /* int64_t, UNKNOWN */
	KIND_NS,     /* the same, in ns */
	KIND_REAL,   /* double, below 0 unknown */
	KIND_SIGNED, /* double, NaN unknown */
};

struct figure {
	struct compare_figure said;
	size_t offset; /* in struct summary */
	enum kind kind;
};

#define F(name, key, unit, member, kind)                                    \
	{                                                                   \
		{ name, key, unit }, offsetof(struct summary, member), kind \
	}

static const struct figure figures[] = {
	F("wall time", "wall_seconds", COMPARE_SECONDS, run.wall_ns, KIND_NS),
	F("CPU", "cpu_seconds", COMPARE_SECONDS, usage.cpu_ns, KIND_NS),
	F("CPU, user", "cpu_user_seconds", COMPARE_SECONDS, usage.cpu_user_ns, KIND_NS),
	F("CPU, system", "cpu_system_seconds", COMPARE_SECONDS, usage.cpu_system_ns, KIND_NS),
	F("busy cores, most", "peak_cpus", COMPARE_CORES, usage.peak_cpus, KIND_REAL),
	F("busy cores, mean", "mean_cpus", COMPARE_CORES, usage.mean_cpus, KIND_REAL),
	F("peak memory, lower bound", "peak_rss_lower_bytes", COMPARE_BYTES, usage.peak_lower_bytes,
	  KIND_INT),
	F("peak memory, upper bound", "peak_rss_upper_bytes", COMPARE_BYTES, usage.peak_upper_bytes,
	  KIND_INT),
	F("largest process", "peak_rss_process_bytes", COMPARE_BYTES, usage.peak_process_bytes,
	  KIND_INT),
	F("peak, shared pages once", "peak_pss_bytes", COMPARE_BYTES, usage.peak_pss_bytes,
	  KIND_INT),
	F("peak of the cgroup", "cgroup_peak_bytes", COMPARE_BYTES, usage.cgroup_peak_bytes,
	  KIND_INT),
	F("processes", "total_processes", COMPARE_COUNT, usage.total_processes, KIND_INT),
	F("processes at once", "max_processes", COMPARE_COUNT, usage.max_processes, KIND_INT),
	F("threads at once", "max_threads", COMPARE_COUNT, usage.max_threads, KIND_INT),
	F("minor faults", "minor_faults", COMPARE_COUNT, usage.minor_faults, KIND_INT),
	F("major faults", "major_faults", COMPARE_COUNT, usage.major_faults, KIND_INT),
	F("voluntary switches", "voluntary_ctxt_switches", COMPARE_COUNT, usage.voluntary_switches,
	  KIND_INT),
	F("involuntary switches", "involuntary_ctxt_switches", COMPARE_COUNT,
	  usage.involuntary_switches, KIND_INT),
	F("read from disk", "read_bytes", COMPARE_BYTES, usage.io.read_bytes, KIND_INT),
	F("written to disk", "write_bytes", COMPARE_BYTES, usage.io.write_bytes, KIND_INT),
	F("foreign cores", "foreign_cores", COMPARE_CORES, host_load.foreign_cores, KIND_SIGNED),
};

#define N_FIGURES (sizeof(figures) / sizeof(figures[0]))
_Static_assert(N_FIGURES <= COMPARE_FIGURES_MAX, "room for all figures");

static double figure_of(const struct summary *s, const struct figure *f)
{
	const void *at = (const char *)s + f->offset;
	int64_t v;

	if (f->kind == KIND_SIGNED)
		return *(const double *)at;
	if (f->kind == KIND_REAL)
		return *(const double *)at >= 0 ? *(const double *)at : NAN;
	v = *(const int64_t *)at;
	if (v == UNKNOWN)
		return NAN;
	return f->kind == KIND_NS ? (double)v / (double)NS_PER_S : (double)v;
}

/* Those that a comparison may stand or fall with, the machine's first. */
static const char *const facts[] = {
	"machine",
	"kernel",
	"processor",
	"processors",
	"processors allowed",
	"CPU limit",
	"memory",
	"memory limit",
	"governor",
	"huge pages",
	"file system",
	"scheduled as",
	"container",
	"host",
	"exits from",
	"interval",
	"exact",
	"command",
	"program's build id",
	"folder",
	"exit status",
};

#define N_FACTS (sizeof(facts) / sizeof(facts[0]))
_Static_assert(N_FACTS <= COMPARE_FACTS_MAX, "room for all facts");

size_t compare_figures(void)
{
	return N_FIGURES;
}

const struct compare_figure *compare_figure(size_t figure)
{
	return &figures[figure].said;
}

size_t compare_figure_of(const char *key)
{
	size_t i = 0;

	while (i + 1 < N_FIGURES && strcmp(figures[i].said.key, key) != 0)
		i++;
	return i;
}

size_t compare_facts(void)
{
	return N_FACTS;
}

const char *compare_fact(size_t fact)
{
	return facts[fact];
}

size_t compare_fact_of(const char *name)
{
	size_t i = 0;

	while (i + 1 < N_FACTS && strcmp(facts[i], name) != 0)
		i++;
	return i;
}

static void print(char **ret, bool known, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Into *@ret; it stays NULL where it is not known, or without memory. */
static void print(char **ret, bool known, const char *format, ...)
{
	va_list ap;

	if (!known)
		return;
	va_start(ap, format);
	if (vasprintf(ret, format, ap) < 0)
		*ret = NULL;
	va_end(ap);
}

static void print_text(char **ret, const char *text)
{
	print(ret, text, "%s", text);
}

static void print_bytes(char **ret, int64_t bytes)
{
	char text[32];

	em_bytes_text(bytes, text, sizeof(text));
	print(ret, bytes >= 0, "%s", text);
}

static void print_number(char **ret, int64_t v)
{
	print(ret, v >= 0, "%lld", (long long)v);
}

static void print_command(char **ret, char *const *words)
{
	char *text = NULL;
	size_t len = 0;
	FILE *f = words ? open_memstream(&text, &len) : NULL;

	if (!f)
		return;
	for (; *words; words++)
		fprintf(f, "%s%s", len || ftello(f) ? " " : "", *words);
	fclose(f);
	*ret = text;
}

static void print_facts(struct compare_run *r, const struct summary *s)
{
	const struct env *e = &s->env;
	const struct run_facts *f = &s->run;
	char **to = r->facts;

	print_text(to++, e->machine);
	print_text(to++, e->kernel);
	print_text(to++, e->cpu_model);
	print_number(to++, e->cpus);
	print_number(to++, e->affinity_cpus);
	print(to++, e->cgroup.cpu_limit >= 0, "%g cores", e->cgroup.cpu_limit);
	print_bytes(to++, e->memory_bytes);
	print_bytes(to++, e->cgroup.memory_limit_bytes);
	print_text(to++, e->governor);
	print_text(to++, e->thp);
	print_text(to++, e->work_fs_type);
	print_text(to++, e->sched_class);
	print_text(to++, e->container);
	print(to++, s->host_load.verdict != EM_HOST_UNAVAILABLE, "%s",
	      s->host_load.verdict == EM_HOST_QUIET ? "quiet" : "busy");
	print_text(to++, s->source.exits);
	print(to++, s->source.interval_ns >= 0, "%g s",
	      (double)s->source.interval_ns / (double)NS_PER_S);
	print(to++, s->completeness.exact != UNKNOWN, "%s", s->completeness.exact ? "yes" : "no");
	print_command(to++, f->command);
	print_text(to++, f->exe_build_id);
	print_text(to++, f->cwd);
	if (f->exit_signal > 0)
		print(to, true, "signal %lld", (long long)f->exit_signal);
	else
		print_number(to, f->exit_code);
}

/* --- runs and sides ------------------------------------------------------------------------- */

static const char *label_of(const struct run_facts *f, const char *key)
{
	const char *value = NULL;

	for (size_t i = 0; key && i < f->n_labels; i++)
		if (!strcmp(f->labels[i].key, key))
			value = f->labels[i].value;
	return value;
}

/* The side of that name, or a new one. */
static int side_of(struct comparison *c, const char *name, bool shared, size_t *ret)
{
	struct compare_side *sides;

	for (size_t i = 0; shared && i < c->n_sides; i++) {
		if (!strcmp(c->sides[i].name, name)) {
			*ret = i;
			return 0;
		}
	}
	sides = reallocarray(c->sides, c->n_sides + 1, sizeof(*sides));
	if (!sides)
		return -ENOMEM;
	c->sides = sides;
	sides[c->n_sides] = (struct compare_side){ .name = strdup(name) };
	if (!sides[c->n_sides].name)
		return -ENOMEM;
	*ret = c->n_sides++;
	return 0;
}

static int copy_marks(struct compare_run *r, const struct summary *s)
{
	if (!s->n_marks)
		return 0;
	r->marks = calloc(s->n_marks, sizeof(*r->marks));
	if (!r->marks)
		return -ENOMEM;
	memcpy(r->marks, s->marks, s->n_marks * sizeof(*r->marks));
	r->n_marks = s->n_marks;
	/* The first is the run's start. */
	for (size_t i = 0; i < r->n_marks; i++)
		r->marks[i].at = s->marks[0].at - s->marks[i].at;
	return 0;
}

/* Which side the run is of that was added last. */
static int find_side(struct comparison *c, const char *journal, bool again, const char *label)
{
	struct compare_run *r = &c->runs[c->n_runs - 1];

	if (label || !again || c->n_runs < 2)
		return side_of(c, label ? label : journal, label, &r->side);
	r->side = c->runs[c->n_runs - 2].side;
	return 0;
}

int comparison_add(struct comparison *c, const char *journal, bool again, const struct summary *s)
{
	struct compare_run *runs = reallocarray(c->runs, c->n_runs + 1, sizeof(*runs));
	struct compare_run *r;
	int err;

	if (!runs)
		return -ENOMEM;
	c->runs = runs;
	r = &runs[c->n_runs++];
	*r = (struct compare_run){ .name = strdup(journal) };
	err = r->name ? find_side(c, journal, again, label_of(&s->run, c->by)) : -ENOMEM;
	if (err)
		return err;
	c->sides[r->side].runs++;
	for (size_t i = 0; i < N_FIGURES; i++)
		r->figures[i] = figure_of(s, &figures[i]);
	print_facts(r, s);
	return c->without_marks ? 0 : copy_marks(r, s);
}

void comparison_free(struct comparison *c)
{
	for (size_t i = 0; i < c->n_runs; i++) {
		free(c->runs[i].name);
		free(c->runs[i].marks);
		for (size_t k = 0; k < N_FACTS; k++)
			free(c->runs[i].facts[k]);
	}
	for (size_t i = 0; i < c->n_sides; i++)
		free(c->sides[i].name);
	free(c->runs);
	free(c->sides);
	*c = (struct comparison){ .by = c->by };
}

/* --- figures -------------------------------------------------------------------------------- */

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double median_of(double *v, size_t n)
{
	qsort(v, n, sizeof(*v), by_value);
	return (v[(n - 1) / 2] + v[n / 2]) / 2;
}

struct compare_value compare_value_of(const struct comparison *c, size_t side, size_t figure)
{
	struct compare_value v = { NAN, NAN, NAN, NAN, 0 };
	double *known = calloc(c->sides[side].runs + 1, sizeof(*known));

	for (size_t i = 0; known && i < c->n_runs; i++)
		if (c->runs[i].side == side && !isnan(c->runs[i].figures[figure]))
			known[v.n++] = c->runs[i].figures[figure];
	if (v.n) {
		v.median = median_of(known, v.n);
		v.least = known[0];
		v.most = known[v.n - 1];
		for (size_t i = 0; i < v.n; i++)
			known[i] = fabs(known[i] - v.median);
		v.deviation = median_of(known, v.n);
	}
	free(known);
	return v;
}

struct compare_difference compare_difference_of(const struct comparison *c, size_t side,
						size_t figure)
{
	struct compare_difference d = { NAN, NAN, NAN, false };
	const struct compare_value first = compare_value_of(c, 0, figure);
	const struct compare_value v = compare_value_of(c, side, figure);

	if (!first.n || !v.n)
		return d;
	d.by = v.median - first.median;
	if (first.median != 0)
		d.share = d.by / first.median;
	if (first.n < 2 || v.n < 2)
		return d;
	d.noise = (first.most - first.least + v.most - v.least) / 2;
	d.apart = v.least > first.most || v.most < first.least;
	return d;
}

/* --- facts ---------------------------------------------------------------------------------- */

static bool same_fact(const struct compare_run *a, const struct compare_run *b, size_t fact)
{
	const char *x = a->facts[fact], *y = b->facts[fact];

	return x && y ? !strcmp(x, y) : x == y;
}

bool compare_fact_differs(const struct comparison *c, size_t fact)
{
	for (size_t i = 1; i < c->n_runs; i++)
		if (!same_fact(&c->runs[0], &c->runs[i], fact))
			return true;
	return false;
}

static bool said_before(const struct comparison *c, size_t run, size_t fact)
{
	for (size_t i = 0; i < run; i++)
		if (c->runs[i].side == c->runs[run].side &&
		    same_fact(&c->runs[i], &c->runs[run], fact))
			return true;
	return false;
}

void compare_fact_text(const struct comparison *c, size_t side, size_t fact, char *buf, size_t cap)
{
	size_t len = 0;

	*buf = '\0';
	for (size_t i = 0; i < c->n_runs && len < cap; i++) {
		const char *text = c->runs[i].facts[fact];

		if (c->runs[i].side == side && !said_before(c, i, fact))
			len += (size_t)snprintf(buf + len, cap - len, "%s%s", len ? ", " : "",
						text ? text : "unknown");
	}
}
