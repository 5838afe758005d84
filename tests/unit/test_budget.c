// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_budget - what a run may use: how it is written, when it was passed and by whom
 */
#include <errno.h>
#include <stdlib.h>

#include "model/run.h"
#include "model/summary.h"
#include "tap.h"
#include "units.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define MIB      (1ll << 20)
#define NONE     UNKNOWN
#define START    (50 * NS_PER_S)

/* --- the text ------------------------------------------------------------------------------ */

static const struct parse_row {
	const char *text;
	int64_t rss, cpu_ms, wall_ms, processes;
} good[] = {
	{ "peak_rss=1", 1, NONE, NONE, NONE },
	{ "peak_rss=1B", 1, NONE, NONE, NONE },
	{ "peak_rss=1K", 1024, NONE, NONE, NONE },
	{ "peak_rss=3kb", 3072, NONE, NONE, NONE },
	{ "peak_rss=512M", 512 * MIB, NONE, NONE, NONE },
	{ "peak_rss=512MB", 512 * MIB, NONE, NONE, NONE },
	{ "peak_rss=512MiB", 512 * MIB, NONE, NONE, NONE },
	{ "peak_rss=512mib", 512 * MIB, NONE, NONE, NONE },
	{ "peak_rss=1.5G", 1536 * MIB, NONE, NONE, NONE },
	{ "peak_rss=0.5T", MIB *MIB / 2, NONE, NONE, NONE },
	{ "peak_rss=1e3", 1000, NONE, NONE, NONE },
	{ "cpu=12", NONE, 12000, NONE, NONE },
	{ "cpu=0.5", NONE, 500, NONE, NONE },
	{ "wall=3600.25", NONE, NONE, 3600250, NONE },
	{ "processes=4194304", NONE, NONE, NONE, 4194304 },
	{ "processes=1,wall=2,cpu=3,peak_rss=4", 4, 3000, 2000, 1 },
};

static const char *const bad[] = {
	"",
	",",
	"=",
	"=1",
	"peak_rss",
	"peak_rss=",
	"peak_rss=0",
	"peak_rss=0.1",
	"peak_rss=-1",
	"peak_rss=+1",
	"peak_rss= 1",
	"peak_rss=1 ",
	"peak_rss=1 M",
	"peak_rss=M",
	"peak_rss=1X",
	"peak_rss=1Mi",
	"peak_rss=1MiBB",
	"peak_rss=1BM",
	"peak_rss=nan",
	"peak_rss=inf",
	"peak_rss=0x10",
	"peak_rss=1e300",
	"peak_rss=8388608T",
	"PEAK_RSS=1",
	"peak=1",
	"rss=1",
	"cpu=1s",
	"cpu=1K",
	"cpu=0",
	"cpu=1e10",
	"wall=",
	"wall=-0.5",
	"processes=1.5",
	"processes=1K",
	"processes=0",
	"processes=99999999999999999999",
	"wall=1,",
	",wall=1",
	"wall=1,,cpu=1",
	"wall=1 cpu=1",
	"wall=1;cpu=1",
	"wall=1,wall=2",
	"peak_rss=1,cpu=2,peak_rss=1",
	"wall=1,cpu",
	"wall,cpu=1",
};

static int64_t ms(int64_t v)
{
	return v == NONE ? NONE : v * NS_PER_MS;
}

static void test_parse(void)
{
	for (size_t i = 0; i < COUNT(good); i++) {
		const struct parse_row *r = &good[i];
		struct budget b = { .upper = true };
		const char *why;

		EQ_I(budget_parse(r->text, &b, &why), 0, "%s", r->text);
		EQ_I(b.limit[BUDGET_PEAK_RSS], r->rss, "%s: peak_rss", r->text);
		EQ_I(b.limit[BUDGET_CPU], ms(r->cpu_ms), "%s: cpu", r->text);
		EQ_I(b.limit[BUDGET_WALL], ms(r->wall_ms), "%s: wall", r->text);
		EQ_I(b.limit[BUDGET_PROCESSES], r->processes, "%s: processes", r->text);
		OK(b.upper, "%s: the bound is another option's", r->text);
	}
	for (size_t i = 0; i < COUNT(bad); i++) {
		struct budget b = { .limit = { 7, 7, 7, 7 } };
		const char *why = NULL;

		EQ_I(budget_parse(bad[i], &b, &why), -EINVAL, "refused: '%s'", bad[i]);
		OK(why && *why, "refused: '%s': it says why", bad[i]);
		OK(b.limit[0] == 7 && b.limit[3] == 7, "refused: '%s': nothing is written", bad[i]);
	}
}

/* --- a run --------------------------------------------------------------------------------- */

static struct process_key key_of(int32_t pid)
{
	return (struct process_key){ .start_ns = 1000u + (uint32_t)pid, .tgid = (uint32_t)pid };
}

static void live(struct run *r, int32_t pid, int64_t at_ms)
{
	struct fork_record f = { .key = key_of(pid),
				 .pid = pid,
				 .at_ns = START + at_ms * NS_PER_MS };

	if (run_on_fork(r, &f))
		exit(99);
}

static void die(struct run *r, int32_t pid, const char *comm, int64_t peak, int64_t cpu_ms)
{
	struct exit_record e = exit_record_unknown;

	e.key = key_of(pid);
	e.pid = pid;
	e.born_ns = START;
	e.ended_ns = START + 900 * NS_PER_MS;
	e.wait_status = 0;
	e.peak_rss_bytes = peak;
	e.peak_source = PEAK_EXIT;
	e.peak_rss_exact = 1;
	e.peak_error_bytes = 0;
	e.cpu_ns = ms(cpu_ms);
	memcpy(e.comm, comm, strlen(comm));
	if (run_on_exit(r, &e, NULL))
		exit(99);
}

static void look(struct run *r, int64_t at_ms, int64_t lower, int64_t upper, int64_t cpu_ms)
{
	struct tree_sample s = { .at_ns = START + at_ms * NS_PER_MS };

	s.totals = (struct totals){ .lower_bytes = lower,
				    .upper_bytes = upper,
				    .lower_max_bytes = lower,
				    .upper_max_bytes = upper,
				    .interval_max_bytes = lower,
				    .lower_max_at_ns = s.at_ns - 10 * NS_PER_MS,
				    .cpu_ns = ms(cpu_ms) };
	run_on_sample(r, &s);
}

/* Three processes: peaks 30 and 50 MiB, together between 60 and 90; 0.7 s of CPU; 1 s. */
static struct summary *run_with(const char *text, bool upper, bool known)
{
	struct summary *s = summary_new();
	struct run_end end = { .at_ns = START + NS_PER_S,
			       .exact_source = true,
			       .window_ns = UNKNOWN };
	const char *why;
	struct run r;

	if (!s || run_init(&r, START, 0.05, 2))
		exit(99);
	r.budget.asked = !!text;
	r.budget.budget.upper = upper;
	if (text && budget_parse(text, &r.budget.budget, &why))
		exit(99);
	live(&r, 10, -1);
	live(&r, 11, 100);
	look(&r, 250, 20 * MIB, 40 * MIB, 100);
	live(&r, 12, 400);
	look(&r, 500, 60 * MIB, 90 * MIB, 600);
	look(&r, 750, 60 * MIB, 90 * MIB, 650);
	die(&r, 11, "small", 30 * MIB, 500);
	die(&r, 12, "large", 50 * MIB, 150);
	die(&r, 10, "root", 5 * MIB, 50);
	s->run.wall_ns = NS_PER_S;
	s->run.pid = 10;
	end.totals = (struct totals){ .initial = 1,
				      .baseline_cpu_ns = UNKNOWN,
				      .forks = known ? 2 : UNKNOWN,
				      .exits = 3,
				      .cpu_ns = known ? 700 * NS_PER_MS : UNKNOWN,
				      .lower_bytes = UNKNOWN,
				      .lower_max_bytes = 60 * MIB,
				      .lower_max_at_ns = START + 490 * NS_PER_MS,
				      .upper_max_bytes = known ? 90 * MIB : UNKNOWN };
	if (run_finish(&r, &end, TOP_PEAK, s))
		exit(99);
	run_free(&r);
	return s;
}

static const struct judge_row {
	const char *label, *text;
	bool upper;
	const char *what; /* NULL: nothing was passed */
	int64_t value, at_ms;
	int32_t pid;
	const char *comm;
} judged[] = {
	{ "far below", "peak_rss=1G,cpu=10,wall=10,processes=100", false, NULL, 0, 0, 0, NULL },
	{ "each limit itself", "peak_rss=60M,cpu=0.7,wall=1,processes=3", false, NULL, 0, 0, 0,
	  NULL },
	{ "the lower bound", "peak_rss=59M", false, "peak_rss", 60 * MIB, 490, 12, "large" },
	{ "it may have been more, and nobody saw it", "peak_rss=75M", false, NULL, 0, 0, 0, NULL },
	{ "the upper bound, when asked", "peak_rss=75M", true, "peak_rss", 90 * MIB, 500, 12,
	  "large" },
	{ "the upper bound itself", "peak_rss=90M", true, NULL, 0, 0, 0, NULL },
	{ "CPU", "cpu=0.5", false, "cpu", 700 * NS_PER_MS, 500, 11, "small" },
	{ "CPU that was passed after the last look, by those that ended", "cpu=0.68", false, "cpu",
	  700 * NS_PER_MS, 900, 11, "small" },
	{ "wall", "wall=0.75", false, "wall", NS_PER_S, 750, 10, "root" },
	{ "the one too many", "processes=2", false, "processes", 3, 400, 12, "large" },
	{ "the first was there before", "processes=1", false, "processes", 3, 100, 11, "small" },
};

static void test_judge(void)
{
	for (size_t i = 0; i < COUNT(judged); i++) {
		const struct judge_row *r = &judged[i];
		struct summary *s = run_with(r->text, r->upper, true);
		const struct budget_excess *e = &s->budget.exceeded[0];

		EQ_I(s->budget.n_exceeded, !!r->what, "%s: passed", r->label);
		OK(s->budget.asked && s->budget.budget.upper == r->upper, "%s: asked", r->label);
		if (r->what && s->budget.n_exceeded) {
			EQ_S(budget_item_name(e->item), r->what, "%s: what", r->label);
			EQ_I(e->value, r->value, "%s: value", r->label);
			EQ_I(e->limit, s->budget.budget.limit[e->item], "%s: limit", r->label);
			EQ_I(e->at_ns, r->at_ms < 0 ? TIME_NONE : r->at_ms * NS_PER_MS, "%s: when",
			     r->label);
			EQ_I(e->pid, r->pid, "%s: whose", r->label);
			EQ_S(e->comm, r->comm, "%s: its name", r->label);
		}
		summary_free(s);
	}
}

/* A run of which nothing was seen has figures for nothing, and is over no budget. */
static void test_unknown(void)
{
	struct budget_watch w = budget_watch_blank();
	struct summary *s = summary_new();
	const char *why;

	if (!s || budget_parse("peak_rss=1,cpu=0.001,processes=1", &w.budget, &why))
		exit(99);
	w.asked = true;
	for (int upper = 0; upper <= 1; upper++) {
		w.budget.upper = upper;
		budget_judge(&w, s);
		EQ_I(s->budget.n_exceeded, 0, "unknown: nothing is passed");
		OK(s->budget.unknown[BUDGET_PEAK_RSS] && s->budget.unknown[BUDGET_CPU] &&
			   s->budget.unknown[BUDGET_PROCESSES],
		   "unknown: it is said of which");
		OK(!s->budget.unknown[BUDGET_WALL], "unknown: not of what has no limit");
	}
	summary_free(s);
	s = run_with("wall=0.5,processes=1", false, false);
	EQ_I(s->budget.n_exceeded, 1, "known: the clock");
	EQ_I(s->budget.exceeded[0].item, BUDGET_WALL, "known: the clock is passed");
	OK(s->budget.unknown[BUDGET_PROCESSES], "unknown: how many there were");
	summary_free(s);
	s = run_with(NULL, false, true);
	OK(!s->budget.asked && !s->budget.n_exceeded && s->budget.budget.limit[0] == UNKNOWN,
	   "no budget: nothing is judged");
	summary_free(s);
}

int main(void)
{
	test_parse();
	test_judge();
	test_unknown();
	return tap_done();
}
