// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/budget.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <strings.h>

#include "lib/number.h"
#include "model/summary.h"
#include "units.h"

#define VALUE_MOST 9.0e18

static const struct {
	const char *name, *field, *why;
	enum { SIZE, SECONDS, COUNT } unit;
} items[BUDGET_ITEMS] = {
	[BUDGET_PEAK_RSS] = { "peak_rss", "peak_rss_bytes",
			      "peak_rss is a size above 0, such as 512M or 1.5G", SIZE },
	[BUDGET_CPU] = { "cpu", "cpu_seconds", "cpu is seconds above 0", SECONDS },
	[BUDGET_WALL] = { "wall", "wall_seconds", "wall is seconds above 0", SECONDS },
	[BUDGET_PROCESSES] = { "processes", "processes", "processes is a whole number above 0",
			       COUNT },
};

const char *budget_item_name(enum budget_item item)
{
	return items[item].name;
}

const char *budget_item_field(enum budget_item item)
{
	return items[item].field;
}

bool budget_item_is_time(enum budget_item item)
{
	return items[item].unit == SECONDS;
}

static struct budget budget_blank(void)
{
	return (struct budget){ .limit = { UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN } };
}

struct budget_watch budget_watch_blank(void)
{
	return (struct budget_watch){ .budget = budget_blank(),
				      .passed_ns = { TIME_NONE, TIME_NONE, TIME_NONE, TIME_NONE },
				      .pid = UNKNOWN };
}

struct budget_result budget_result_blank(void)
{
	return (struct budget_result){ .budget = budget_blank() };
}

/* --- the command line ---------------------------------------------------------------------- */

/* "M", "MB", "MiB", "B" or nothing, in any case; 0: none of these. */
static double factor(const char *unit, size_t len)
{
	static const char prefixes[] = "KMGT";
	double v = 1;

	for (size_t i = 0; len && i < sizeof(prefixes) - 1; i++) {
		v *= 1024;
		if (strncasecmp(unit, &prefixes[i], 1) != 0)
			continue;
		unit++;
		len--;
		return !len || (len == 1 && !strncasecmp(unit, "B", 1)) ||
				       (len == 2 && !strncasecmp(unit, "iB", 2))
			       ? v
			       : 0;
	}
	return !len || (len == 1 && !strncasecmp(unit, "B", 1)) ? 1 : 0;
}

static bool value_parse(enum budget_item item, const char *text, size_t len, int64_t *ret)
{
	bool whole;
	size_t digits = em_number_len(text, len, &whole);
	double v, times;

	if (!digits || !em_number_double(text, digits, &v))
		return false;
	switch (items[item].unit) {
	case SIZE:
		times = factor(text + digits, len - digits);
		break;
	case SECONDS:
		times = digits == len ? (double)NS_PER_S : 0;
		break;
	default:
		times = digits == len && whole ? 1 : 0;
	}
	v = round(v * times);
	if (!(v >= 1 && v <= VALUE_MOST))
		return false;
	*ret = (int64_t)v;
	return true;
}

bool budget_size_parse(const char *text, int64_t *ret)
{
	return value_parse(BUDGET_PEAK_RSS, text, strlen(text), ret);
}

int budget_parse(const char *text, struct budget *ret, const char **ret_why)
{
	struct budget b = budget_blank();
	const char *p = text;

	for (;;) {
		size_t len = strcspn(p, ","), name_len = strcspn(p, "=");
		int item = 0;

		while (item < BUDGET_ITEMS && (strlen(items[item].name) != name_len ||
					       memcmp(items[item].name, p, name_len) != 0))
			item++;
		*ret_why = "peak_rss=SIZE, cpu=S, wall=S or processes=N, with commas between";
		if (name_len >= len || item == BUDGET_ITEMS)
			return -EINVAL;
		*ret_why = "each only once";
		if (b.limit[item] != UNKNOWN)
			return -EINVAL;
		*ret_why = items[item].why;
		if (!value_parse((enum budget_item)item, p + name_len + 1, len - name_len - 1,
				 &b.limit[item]))
			return -EINVAL;
		p += len;
		if (!*p)
			break;
		p++;
	}
	memcpy(ret->limit, b.limit, sizeof(ret->limit));
	return 0;
}

/* --- while the run goes on ------------------------------------------------------------------ */

static void see(struct budget_watch *w, enum budget_item item, int64_t value, int64_t at_ns)
{
	if (w->budget.limit[item] != UNKNOWN && value > w->budget.limit[item] &&
	    (w->passed_ns[item] == TIME_NONE || at_ns < w->passed_ns[item]))
		w->passed_ns[item] = at_ns;
}

void budget_on_sample(struct budget_watch *w, const struct tree_sample *s, int64_t rss_bytes,
		      int64_t start_ns)
{
	const struct totals *t = &s->totals;
	int64_t now = s->at_ns - start_ns;

	if (w->budget.upper)
		see(w, BUDGET_PEAK_RSS, t->upper_max_bytes, now);
	else if (t->lower_max_at_ns >= start_ns && t->lower_max_bytes > 0)
		see(w, BUDGET_PEAK_RSS, t->lower_max_bytes, t->lower_max_at_ns - start_ns);
	if (!w->budget.upper)
		see(w, BUDGET_PEAK_RSS, rss_bytes, now);
	see(w, BUDGET_CPU, t->cpu_ns, now);
}

void budget_on_fork(struct budget_watch *w, const struct fork_record *f, int64_t start_ns)
{
	bool before = w->passed_ns[BUDGET_PROCESSES] != TIME_NONE;

	/* What was there before the run counts from its start on. */
	see(w, BUDGET_PROCESSES, ++w->born, f->at_ns < start_ns ? 0 : f->at_ns - start_ns);
	if (before || w->passed_ns[BUDGET_PROCESSES] == TIME_NONE)
		return;
	w->key = f->key;
	w->pid = f->pid;
}

void budget_on_exit(struct budget_watch *w, const struct exit_record *e, int64_t start_ns)
{
	if (!e->running && e->cpu_ns > 0 && e->ended_ns >= start_ns) {
		w->ended_cpu_ns += e->cpu_ns;
		see(w, BUDGET_CPU, w->ended_cpu_ns, e->ended_ns - start_ns);
	}
	if (w->pid != UNKNOWN && w->key.tgid == e->key.tgid && w->key.start_ns == e->key.start_ns)
		memcpy(w->comm, e->comm, sizeof(w->comm));
}

/* --- the end ------------------------------------------------------------------------------- */

static int64_t figure(const struct budget *b, enum budget_item item, const struct summary *s)
{
	switch (item) {
	case BUDGET_PEAK_RSS:
		return b->upper ? s->usage.peak_upper_bytes : s->usage.peak_lower_bytes;
	case BUDGET_CPU:
		return s->usage.cpu_ns;
	case BUDGET_WALL:
		return s->run.wall_ns;
	default:
		return s->usage.total_processes;
	}
}

/* The one with the most of it; of the wall clock the root. */
static const struct process *most(const struct summary *s, enum budget_item item)
{
	const struct process *best = NULL;

	for (size_t i = 0; i < s->n_rows; i++) {
		const struct process *p = s->rows[i];

		if (item == BUDGET_WALL && p->pid == s->run.pid)
			return p;
		if (item == BUDGET_PEAK_RSS && p->peak_rss_bytes >= 0 &&
		    (!best || p->peak_rss_bytes > best->peak_rss_bytes))
			best = p;
		if (item == BUDGET_CPU && p->cpu_ns >= 0 && (!best || p->cpu_ns > best->cpu_ns))
			best = p;
	}
	return best;
}

static void name_culprit(const struct budget_watch *w, const struct summary *s,
			 struct budget_excess *e)
{
	const struct process *p;

	e->pid = UNKNOWN;
	if (e->item == BUDGET_PROCESSES) {
		e->pid = w->pid;
		memcpy(e->comm, w->comm, sizeof(e->comm));
		return;
	}
	/* The lower bound is a sum that was seen: the largest part of it. */
	if (e->item == BUDGET_PEAK_RSS && !w->budget.upper && s->n_at_peak) {
		e->pid = s->at_peak[0].pid;
		memcpy(e->comm, s->at_peak[0].comm, sizeof(e->comm));
		return;
	}
	p = most(s, e->item);
	if (!p)
		return;
	e->pid = p->pid;
	memcpy(e->comm, p->comm, sizeof(e->comm));
}

static int64_t moment(const struct budget_watch *w, const struct summary *s, enum budget_item item)
{
	int64_t seen = w->passed_ns[item], peak = s->usage.peak_at_ns;

	if (item == BUDGET_WALL)
		return w->budget.limit[item];
	/* Between two samples, and the kernel knows when; or after the last one. */
	if (item == BUDGET_PEAK_RSS && !w->budget.upper && peak != TIME_NONE &&
	    (seen == TIME_NONE || peak < seen))
		return peak;
	return seen;
}

void budget_judge(const struct budget_watch *w, struct summary *s)
{
	struct budget_result *r = &s->budget;

	*r = budget_result_blank();
	if (!w->asked)
		return;
	r->asked = true;
	r->budget = w->budget;
	for (int i = 0; i < BUDGET_ITEMS; i++) {
		enum budget_item item = (enum budget_item)i;
		int64_t limit = w->budget.limit[i], value = figure(&w->budget, item, s);
		struct budget_excess *e = &r->exceeded[r->n_exceeded];

		if (limit == UNKNOWN)
			continue;
		r->unknown[i] = value < 0;
		if (value <= limit)
			continue;
		*e = (struct budget_excess){
			.item = item, .limit = limit, .value = value, .at_ns = moment(w, s, item)
		};
		name_culprit(w, s, e);
		r->n_exceeded++;
	}
}
