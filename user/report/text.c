// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/text.h"

#include <string.h>

#include "lib/exitmeter.h"
#include "report/text_asked.h"
#include "report/words.h"
#include "units.h"

#define LINE             "exitmeter: "
#define SHARED_SAY_BYTES (64ll << 20) /* below that sharing is not worth a line */
#define STOLEN_SAY_CORES 0.05         /* nor is less stolen time */
#define ARGS_MAX         60

#define SECONDS(ns) ((double)(ns) / (double)NS_PER_S)

/* Name and arguments, safe for a terminal, cut to about ARGS_MAX. */
static void name_text(const struct process *p, char *buf, size_t cap)
{
	struct words words = words_of(p, ARGS_MAX);
	const char *word;
	size_t len, word_len;

	plain_text(p->comm, strnlen(p->comm, sizeof(p->comm)), buf, cap);
	while ((len = strlen(buf)) < ARGS_MAX && (word = words_next(&words, &word_len))) {
		buf[len++] = ' ';
		plain_text(word, word_len, buf + len, cap - len < ARGS_MAX ? cap - len : ARGS_MAX);
	}
}

static const struct process *largest(const struct summary *s)
{
	const struct process *best = NULL;

	if (s->cut_off && s->left_out.from_ns != TIME_NONE)
		return NULL; /* it may be one that is not there */
	for (size_t i = 0; i < s->n_rows; i++)
		if (!best || s->rows[i]->peak_rss_bytes > best->peak_rss_bytes)
			best = s->rows[i];
	return best && best->peak_rss_bytes >= 0 ? best : NULL;
}

/* Reasons and names may come from a journal, which may hold anything. */
static void put_plain(FILE *out, const char *text)
{
	char plain[1024];

	plain_text(text, strlen(text), plain, sizeof(plain));
	fputs(plain, out);
}

/* Why a better source was refused, and whom this one disturbs. */
static void say_traced(FILE *out, const struct summary *s)
{
	const struct source_facts *f = &s->source;
	const size_t len = strlen(SOURCE_DISTURBED);

	if (f->exits && !strcmp(f->exits, "ptrace") && f->fallback_reason) {
		fputs(LINE "exits from ptrace, not bpf: ", out);
		put_plain(out, f->fallback_reason);
		fputc('\n', out);
	}
	for (size_t i = 0; i < f->notes.n; i++) {
		if (strncmp(f->notes.at[i], SOURCE_DISTURBED, len) != 0)
			continue;
		fputs(LINE, out);
		put_plain(out, f->notes.at[i]);
		fputs(" (--source=proc lets it be)\n", out);
	}
}

static void say_degraded(FILE *out, const struct summary *s)
{
	const struct source_facts *f = &s->source;
	const struct texts *reasons = &s->completeness.reasons;
	bool sampled = f->exits && !strcmp(f->exits, "proc");

	if (s->cut_off)
		fputs(LINE "the journal was cut off: what follows is what it holds\n", out);
	if (sampled) {
		fputs(LINE "sampled only, no exit records: ", out);
		put_plain(out, f->fallback_reason ? f->fallback_reason : "asked for");
		fputc('\n', out);
	} else if (!s->cut_off && !s->completeness.exact && reasons->n) {
		fputs(LINE "not exact: ", out);
		put_plain(out, reasons->at[0]);
		fputs(reasons->n > 1 ? " (more in the JSON summary)\n" : "\n", out);
	}
}

static void value_text(enum budget_item item, int64_t v, char *buf, size_t cap)
{
	if (item == BUDGET_PEAK_RSS)
		em_bytes_text(v, buf, cap);
	else if (budget_item_is_time(item))
		em_cpu_text(SECONDS(v), buf, cap);
	else
		snprintf(buf, cap, "%lld", (long long)v);
}

static const char *bound_text(const struct budget *b, enum budget_item item)
{
	return item == BUDGET_PEAK_RSS && b->upper ? "at most " : "";
}

/* What was allowed and what was not known, before anything else is said of the run. */
static void say_budget(FILE *out, const struct budget_result *b)
{
	char value[40], limit[40], name[4 * EM_COMM_LEN + 1];

	for (size_t i = 0; i < b->n_exceeded; i++) {
		const struct budget_excess *e = &b->exceeded[i];

		value_text(e->item, e->value, value, sizeof(value));
		value_text(e->item, e->limit, limit, sizeof(limit));
		fprintf(out, LINE "over budget: %s %s%s, allowed %s", budget_item_name(e->item),
			bound_text(&b->budget, e->item), value, limit);
		if (e->at_ns != TIME_NONE)
			fprintf(out, ", at %.1f s", SECONDS(e->at_ns));
		plain_text(e->comm, strnlen(e->comm, sizeof(e->comm)), name, sizeof(name));
		if (e->pid >= 0)
			fprintf(out, "%s%s%s (pid %d)", e->at_ns == TIME_NONE ? ", by " : " by ",
				name, *name ? "" : "a process", (int)e->pid);
		fputc('\n', out);
	}
	for (int i = 0; i < BUDGET_ITEMS; i++)
		if (b->unknown[i])
			fprintf(out, LINE "budget not judged: %s%s is not known\n",
				budget_item_name((enum budget_item)i),
				i == BUDGET_PEAK_RSS && b->budget.upper ? "'s upper bound" : "");
}

void text_figures(FILE *out, const struct summary *s)
{
	const struct usage *u = &s->usage;
	const char *comma = "";
	const struct em_usage known = { u->peak_lower_bytes,
					u->cpu_ns < 0 ? -1 : SECONDS(u->cpu_ns), u->peak_cpus };
	char text[128];

	em_usage_text(&known, text, sizeof(text));
	fputs(text, out);
	if (*text)
		comma = ", ";
	if (s->run.wall_ns >= 0) {
		em_cpu_text(SECONDS(s->run.wall_ns), text, sizeof(text));
		fprintf(out, "%swall %s", comma, text);
		comma = ", ";
	}
	if (u->total_processes >= 0) {
		fprintf(out, "%s%lld process%s", comma, (long long)u->total_processes,
			u->total_processes == 1 ? "" : "es");
		comma = ", ";
	}
	if (!*comma)
		fputs("nothing is known", out);
}

static void say_peak(FILE *out, const struct summary *s)
{
	const struct usage *u = &s->usage;
	const struct process *p = largest(s);
	char low[32], high[32], name[ARGS_MAX * 3 + 64], peak[32];
	bool said = false;

	em_bytes_text(u->peak_lower_bytes, low, sizeof(low));
	em_bytes_text(u->peak_upper_bytes, high, sizeof(high));
	if (*low && *high && !strcmp(low, high)) {
		fprintf(out, LINE "tree peak %s", low);
		said = true;
	} else if (*low && *high) {
		char *unit = strchr(low, ' ');

		/* "between 806 and 815 MB": one unit is enough. */
		if (unit && !strcmp(unit, strchr(high, ' ')))
			*unit = '\0';
		fprintf(out, LINE "tree peak between %s and %s", low, high);
		said = true;
	}
	if (said && u->peak_at_ns != TIME_NONE)
		fprintf(out, " at %.1f s", SECONDS(u->peak_at_ns));
	if (p) {
		name_text(p, name, sizeof(name));
		em_bytes_text(p->peak_rss_bytes, peak, sizeof(peak));
		fprintf(out, "%slargest process %s %s%s (pid %d)", said ? "; " : LINE, name, peak,
			p->peak_source == PEAK_LIFETIME ? " in its life" : "", (int)p->pid);
		said = true;
	}
	if (said)
		fputc('\n', out);
}

static void say_sharing(FILE *out, const struct summary *s)
{
	int64_t shared = 0;
	char text[32];

	for (size_t i = 0; i < s->n_rows; i++)
		if (s->rows[i]->inherited_rss_bytes > 0 &&
		    __builtin_add_overflow(shared, s->rows[i]->inherited_rss_bytes, &shared))
			return;
	if (shared < SHARED_SAY_BYTES || shared < s->usage.peak_upper_bytes / 4)
		return;
	if (s->usage.peak_pss_bytes >= 0 || s->usage.cgroup_peak_bytes >= 0)
		return;
	if (shared > s->usage.peak_upper_bytes) /* processes one after another */
		shared = s->usage.peak_upper_bytes;
	em_bytes_text(shared, text, sizeof(text));
	fprintf(out,
		LINE "up to %s of it shared by fork: --pss or --cgroup tell what was really used\n",
		text);
}

static void load_text(enum em_host verdict, double cores, char *buf, size_t cap)
{
	const em_verdict v = { .host = verdict, .foreign = cores };

	em_verdict_text(&v, buf, cap);
}

/* Whether something was said.  Without a verdict nothing is. */
static bool say_host(FILE *out, const struct host_load *h)
{
	const struct load_window *w = &h->worst;
	char host[128], worst[128] = "";

	load_text(h->verdict, h->foreign_cores, host, sizeof(host));
	if (!*host)
		return false;
	fprintf(out, LINE "%s", host);
	/* What the length of the run has diluted. */
	if (h->verdict == EM_HOST_QUIET && w->span_ns > 0 && w->verdict == EM_HOST_COTENANT)
		load_text(w->verdict, w->foreign_cores, worst, sizeof(worst));
	if (*worst)
		fprintf(out, ", but %s for %.2f s at %.1f s", worst + strlen("host "),
			SECONDS(w->span_ns), SECONDS(w->at_ns));
	return true;
}

/* The contention that busy time does not show (SPEC H-3). */
static void say_stolen(FILE *out, const struct host_load *h)
{
	char stolen[32];

	if (h->steal_ns < 0 || h->span_ns <= 0 ||
	    SECONDS(h->steal_ns) <
		    STOLEN_SAY_CORES * SECONDS(h->span_ns) + EM_COUNTER_ALLOWANCE_SECONDS)
		return;
	em_cpu_text(SECONDS(h->steal_ns), stolen, sizeof(stolen));
	fprintf(out, LINE "the hypervisor took %s of CPU time for others\n", stolen);
}

static void say_source(FILE *out, const struct summary *s)
{
	const struct completeness *c = &s->completeness;
	bool host = say_host(out, &s->host_load);

	if (!s->source.exits || c->events_lost < 0) {
		fputs(host ? "\n" : "", out);
		return;
	}
	fprintf(out, "%sexits from ", host ? "; " : LINE);
	put_plain(out, s->source.exits);
	fputs(", ", out);
	if (c->events_lost)
		fprintf(out, "%lld of %lld records lost (totals are exact)\n",
			(long long)c->events_lost, (long long)c->exits);
	else
		fputs("none lost\n", out);
}

void text_warnings(FILE *out, const struct summary *s)
{
	say_degraded(out, s);
	say_traced(out, s);
	say_budget(out, &s->budget);
}

void text_failure(FILE *out, const char *before, const struct summary *s)
{
	const struct run_facts *f = &s->run;

	if (f->exit_signal > 0)
		fprintf(out, "%sCommand terminated by signal %lld\n", before,
			(long long)f->exit_signal);
	else if (f->exit_code > 0)
		fprintf(out, "%sCommand exited with non-zero status %lld\n", before,
			(long long)f->exit_code);
}

void text_summary(FILE *out, const struct summary *s)
{
	text_warnings(out, s);
	text_lines(out, s);
	text_failure(out, LINE, s);
}

void text_lines(FILE *out, const struct summary *s)
{
	fputs(LINE, out);
	text_figures(out, s);
	fputc('\n', out);
	say_peak(out, s);
	say_sharing(out, s);
	text_asked(out, s);
	say_source(out, s);
	say_stolen(out, &s->host_load);
}

void text_process(FILE *out, const struct process *p)
{
	char peak[32], cpu[32], name[ARGS_MAX * 3 + 64], end[32] = "";

	em_bytes_text(p->peak_rss_bytes, peak, sizeof(peak));
	em_cpu_text(p->cpu_ns < 0 ? -1 : SECONDS(p->cpu_ns), cpu, sizeof(cpu));
	name_text(p, name, sizeof(name));
	if (p->running)
		snprintf(end, sizeof(end), ", running");
	else if (p->exit_signal > 0)
		snprintf(end, sizeof(end), ", signal %d", (int)p->exit_signal);
	else if (p->exit_code > 0)
		snprintf(end, sizeof(end), ", exit %d", (int)p->exit_code);
	fprintf(out, LINE "%9s %9s  %s (pid %d%s)\n", *peak ? peak : "-", *cpu ? cpu : "-", name,
		(int)p->pid, end);
}

void text_omitted(FILE *out, const struct summary *s, enum top_order sort, size_t list)
{
	size_t sure = sort == TOP_PEAK ? ROWS_BY_PEAK : sort == TOP_CPU ? ROWS_BY_CPU : 0;

	if (s->rows_omitted > 0 && list > sure)
		fprintf(out,
			LINE
			"of %lld processes %zu are kept, the list is of these (--all has all)\n",
			(long long)s->rows_omitted + (long long)s->n_rows, s->n_rows);
}
