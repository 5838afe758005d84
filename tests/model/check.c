// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * check - what was made of a history against what is true of it
 */
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "journal/read.h"
#include "play.h"
#include "report/document.h"
#include "units.h"

struct checking {
	const struct play *p;
	const struct truth *t;
	const struct summary *s;
	FILE *to;
	int wrong;
};

__attribute__((format(printf, 3, 4))) static bool must(struct checking *c, bool holds,
						       const char *format, ...)
{
	va_list args;

	if (holds)
		return true;
	c->wrong++;
	va_start(args, format);
	fputs("# wrong: ", c->to);
	vfprintf(c->to, format, args);
	fputc('\n', c->to);
	va_end(args);
	return false;
}

static void same(struct checking *c, int64_t got, int64_t want, const char *what)
{
	must(c, got == want, "%s: got %lld, want %lld", what, (long long)got, (long long)want);
}

static void at_most(struct checking *c, int64_t got, int64_t most, const char *what)
{
	must(c, got <= most, "%s: got %lld, at most %lld", what, (long long)got, (long long)most);
}

static void at_least(struct checking *c, int64_t got, int64_t least, const char *what)
{
	must(c, got >= least, "%s: got %lld, at least %lld", what, (long long)got,
	     (long long)least);
}

static int64_t bytes(int64_t pages)
{
	return pages < 0 ? -1 : pages * PAGE_BYTES;
}

static bool lossless(const struct checking *c)
{
	const struct world *w = &c->p->w;

	return !w->lost_forks && !w->lost_execs && !w->lost_exits;
}

static bool by_proc(const struct checking *c)
{
	return c->p->w.h->teller == TELLER_PROC;
}

static bool by_bpf(const struct checking *c)
{
	return c->p->w.h->teller == TELLER_BPF;
}

/* --- rows ----------------------------------------------------------------------------------- */

static void check_argv(struct checking *c, const struct process *row, int i)
{
	const struct being *b = &c->t->all[i];
	char want[64];
	size_t len = argv_of(c->t, i, want, sizeof(want));

	if (!b->execs && !b->taken_in) {
		must(c, !row->argv_known, "%d never execed and has arguments", i);
		return;
	}
	/* It may have gone before anybody read them, or be read late. */
	if (b->taken_in && !b->execs)
		return;
	if (must(c, row->argv_known, "%d has no arguments", i))
		must(c, row->argv_len == len && !memcmp(row->argv, want, len),
		     "%d has other arguments: %s", i, row->argv);
}

/*
 * Where the kernel's mark is approximate, what rose and fell may be missing in it; then, when no
 * mark is above what is there at the end, nobody can tell that it is not the peak.
 */
static int64_t blind(const struct checking *c)
{
	return bytes(c->p->w.h->noise);
}

/*
 * To proc memory is of who is left of those that shared it; and of one that it first met then, in
 * memory from before it attached, it cannot tell that the mark is as old.
 */
static int64_t proc_most(const struct checking *c)
{
	int64_t most = c->t->gross_max;

	for (int i = 0; c->p->w.h->attach && i < c->t->n; i++)
		if (c->t->all[i].was_shared && !c->t->all[i].taken_in)
			for (int k = 0; k < c->t->n_spaces; k++)
				most = larger(most, c->t->spaces[k].mark);
	return bytes(most);
}

/* A peak that is exact, or off by no more than it says. */
static void check_peak(struct checking *c, const struct process *row, int i)
{
	const struct being *b = &c->t->all[i];
	int64_t truth = bytes(truth_peak(c->t, b)), error = row->peak_error_bytes;
	int64_t got = row->peak_rss_bytes;

	if (row->peak_source == PEAK_LIFETIME) {
		must(c, b->taken_in, "%d was not there before", i);
		if (by_bpf(c) && !row->running)
			at_least(c, got + bytes(c->p->w.h->noise), truth, "a lifetime's mark");
		return;
	}
	/* To proc a fork's copy counts. */
	if (by_proc(c))
		truth = b->was_shared ? proc_most(c) : bytes(b->gross);
	if (truth < 0) {
		must(c, got < 0, "%d has no memory of its own, its row %lld", i, (long long)got);
		return;
	}
	if (row->running || by_proc(c)) {
		if (!by_proc(c))
			must(c, row->peak_rss_exact == 0, "%d still runs and is exact", i);
		/* With the kernel's mark in it. */
		at_most(c, got - bytes(c->p->w.h->noise), truth, "a running one's peak");
		if (!by_proc(c) && !row->execs)
			must(c, got != 0, "%d still runs with a peak of 0", i);
		return;
	}
	if (row->peak_rss_exact) {
		must(c, error == 0, "%d is exact and off by %lld", i, (long long)error);
		must(c, got <= truth && got + blind(c) >= truth,
		     "%d: exact peak %lld, in truth %lld", i, (long long)got, (long long)truth);
		return;
	}
	if (error < 0)
		return;
	at_most(c, truth, got + larger(error, blind(c)), "a peak with an error");
	at_least(c, truth, got - error, "a peak with an error");
	/* Only the mark may be above. */
	if (!(row->notes & NOTE_HIWATER))
		at_least(c, truth, got, "a peak that was read");
}

static void check_row(struct checking *c, const struct process *row, int i)
{
	const struct being *b = &c->t->all[i];
	int64_t start_ns = c->p->run.start_ns;

	same(c, (int64_t)row->key.start_ns, (int64_t)key_of_being(c->t, i).start_ns, "key");
	same(c, row->ppid, b->creator < 0 ? 1 : pid_of(b->creator), "ppid");
	same(c, row->started_ns,
	     (c->p->w.h->attach ? b->born_ns : larger(b->born_ns, start_ns)) - start_ns, "start");
	if (!by_proc(c)) {
		same(c, row->threads, b->threads_ever, "threads");
		same(c, row->execs, b->execs, "execs");
		/* Of one on its way out when metering stopped the end is not known. */
		if (!row->running) {
			same(c, row->running, b->alive, "running");
			same(c, row->ended_ns, b->ended_ns - start_ns, "end");
			same(c, row->exit_code,
			     b->wait_status & 0x7f ? -1 : b->wait_status >> 8 & 0xff, "code");
			same(c, row->exit_signal,
			     b->wait_status & 0x7f ? b->wait_status & 0x7f : -1, "signal");
			same(c, row->cpu_ns, b->cpu_ns, "CPU");
			same(c, row->cpu_user_ns + row->cpu_system_ns, b->cpu_ns, "CPU's parts");
		}
		if (lossless(c))
			check_argv(c, row, i);
	} else {
		at_most(c, row->cpu_ns, b->cpu_ns, "CPU");
		must(c, !row->peak_rss_exact, "a row of proc is exact");
	}
	check_peak(c, row, i);
}

static void check_rows(struct checking *c)
{
	int seen[PROCESSES] = { 0 }, rows = 0;
	const struct play *p = c->p;

	for (size_t k = 0; k < p->n_rows; k++) {
		int i = p->rows[k]->pid - PID_BASE;

		if (!must(c, i >= 0 && i < c->t->n && c->t->all[i].member, "a row of nobody: %d",
			  i))
			continue;
		seen[i]++;
		check_row(c, p->rows[k], i);
	}
	for (int i = 0; i < c->t->n; i++) {
		rows += seen[i];
		if (!c->t->all[i].member)
			must(c, !seen[i], "%d is not in the run", i);
		else if (by_proc(c) || p->w.lost_exits)
			must(c, seen[i] <= 1, "%d has %d rows", i, seen[i]);
		else
			must(c, seen[i] == 1, "%d has %d rows", i, seen[i]);
	}
	same(c, (int64_t)c->s->n_rows + c->s->rows_omitted, rows, "rows and those left out");
}

/* --- counts, sums, bounds -------------------------------------------------------------------- */

static void check_completeness(struct checking *c)
{
	const struct completeness *k = &c->s->completeness;
	int64_t running = 0, lost = c->p->w.lost_exits;

	for (size_t i = 0; i < c->p->n_rows; i++)
		running += c->p->rows[i]->running;
	same(c, k->initial, c->t->initial, "initial");
	must(c, k->exact == !k->reasons.n, "exact %d with %zu reasons", k->exact, k->reasons.n);
	if (by_proc(c)) {
		must(c, !k->exact, "proc is exact");
		same(c, k->running_at_end, running, "running at the end");
		return;
	}
	same(c, k->forks, c->t->forks, "forks");
	same(c, k->initial + k->forks, k->exits + k->running_at_end, "exits and the running");
	same(c, k->running_at_end, running, "running rows");
	same(c, k->events_lost, lost, "lost");
	same(c, (int64_t)c->p->n_rows - running + lost, k->exits, "rows and the lost");
	/* Those that end just then count as running where it was left. */
	at_least(c, k->running_at_end, c->t->alive, "running at the end");
	if (c->p->root_ended || !c->p->w.h->attach)
		same(c, k->running_at_end, c->t->alive, "running at the end");
	must(c, k->exact == (lossless(c) && !k->running_at_end), "exact: %d", k->exact);
	same(c, c->s->usage.total_processes, c->t->initial + c->t->forks, "all processes");
	same(c, c->s->usage.max_processes, c->t->alive_max, "processes at once");
	same(c, c->s->usage.max_threads, c->t->threads_max, "threads at once");
}

static void check_sums(struct checking *c)
{
	const struct usage *u = &c->s->usage;
	int64_t sum = 0, largest = -1, minor = 0, cpu = 0;
	bool running = false;

	for (size_t i = 0; i < c->p->n_rows; i++) {
		const struct process *row = c->p->rows[i];
		int64_t peak = row->peak_rss_bytes;

		sum += larger(row->peak_source == PEAK_LIFETIME ? 0 : peak, 0);
		if (row->peak_source != PEAK_LIFETIME)
			largest = larger(largest, peak);
		minor += larger(row->minor_faults, 0);
		cpu += larger(row->cpu_ns, 0);
		running |= row->running;
	}
	same(c, u->cpu_ns, c->t->cpu_ns, "CPU of all");
	at_least(c, u->peak_sum_bytes, sum ? sum : -1, "sum of peaks");
	at_least(c, u->peak_process_bytes, largest, "largest process");
	if (lossless(c) && !by_proc(c) && !running) {
		same(c, cpu, c->t->cpu_ns, "CPU of the rows");
		if (!c->p->w.h->attach) {
			same(c, u->peak_sum_bytes, sum ? sum : -1, "sum of peaks");
			same(c, u->peak_process_bytes, largest, "largest process");
		}
		same(c, u->minor_faults, minor, "minor faults");
	}
	if (u->cpu_user_ns >= 0)
		same(c, u->cpu_user_ns + u->cpu_system_ns, u->cpu_ns, "CPU's parts");
	if (by_bpf(c) && !c->p->last.processes) {
		same(c, c->p->last.lower_bytes, 0, "lower when all have ended");
		same(c, c->p->last.upper_bytes, 0, "upper when all have ended");
	}
}

static void check_bounds(struct checking *c)
{
	const struct usage *u = &c->s->usage;
	int64_t gross = bytes(c->t->gross_max), net = bytes(c->t->net_max), process = 0;

	for (int i = 0; i < c->t->n; i++)
		if (c->t->all[i].member)
			process = larger(process, by_proc(c)
							  ? proc_most(c)
							  : bytes(truth_peak(c->t, &c->t->all[i])));
	/* There it is a mark of the kernel's, as that is. */
	if (by_proc(c))
		process += bytes(c->p->w.h->noise);
	at_most(c, u->peak_lower_bytes, by_proc(c) ? larger(gross, process) : gross, "lower");
	at_most(c, u->peak_lower_bytes, larger(by_proc(c) ? gross : net, process), "lower, net");
	if (u->peak_upper_bytes >= 0) {
		at_least(c, u->peak_upper_bytes + blind(c) * c->t->alive_max, gross, "upper");
		at_least(c, u->peak_upper_bytes, u->peak_lower_bytes, "upper and lower");
	}
	if (by_bpf(c) && gross > 0)
		must(c, u->peak_upper_bytes > 0, "no upper bound");
	at_most(c, u->peak_process_bytes - bytes(c->p->w.h->noise), process, "largest process");
	if (u->peak_lower_bytes > 0 && u->peak_at_ns != TIME_NONE) {
		at_least(c, u->peak_at_ns, 0, "the peak's time");
		at_most(c, u->peak_at_ns, c->p->end_ns - c->p->run.start_ns, "the peak's time");
	}
}

static bool shares_on(const struct checking *c)
{
	for (int i = 0; i < c->t->n; i++)
		if (c->t->all[i].alive && c->t->all[i].shared)
			return true;
	return false;
}

static void check_at_peak(struct checking *c)
{
	int64_t sum = 0;

	for (size_t i = 0; i < c->s->n_at_peak; i++) {
		sum += c->s->at_peak[i].rss_bytes;
		if (i)
			at_most(c, c->s->at_peak[i].rss_bytes, c->s->at_peak[i - 1].rss_bytes,
				"parts of the peak by size");
	}
	if (c->s->usage.peak_source != PEAK_TRACKED || !lossless(c) || !c->s->n_at_peak)
		return;
	at_most(c, sum, c->s->usage.peak_lower_bytes, "parts of the peak");
	/* Who still runs in the address space of one that has ended has no part. */
	if (!shares_on(c))
		same(c, sum, c->s->usage.peak_lower_bytes, "parts of the peak");
}

static void check_groups(struct checking *c)
{
	int64_t processes = 0;

	for (size_t g = 0; g < c->s->n_groups; g++) {
		const struct group *group = &c->s->groups[g];
		int64_t n = 0, cpu = 0, peak = -1;
		bool unknown = false;

		for (size_t i = 0; i < c->p->n_rows; i++) {
			const struct process *row = c->p->rows[i];

			if (strncmp(row->comm, group->comm, EM_COMM_LEN) != 0)
				continue;
			n++;
			unknown |= row->cpu_ns < 0;
			cpu += row->cpu_ns;
			peak = larger(peak, row->peak_rss_bytes);
		}
		same(c, group->processes, n, "a group's processes");
		same(c, group->cpu_ns, unknown ? -1 : cpu, "a group's CPU");
		same(c, group->peak_rss_bytes, peak, "a group's peak");
		processes += n;
		if (g)
			at_most(c, group->cpu_ns, c->s->groups[g - 1].cpu_ns, "groups by CPU");
	}
	same(c, processes, (int64_t)c->p->n_rows, "processes in groups");
}

/* --- time ------------------------------------------------------------------------------------ */

/* Inside, to the ns as far as doubles tell. */
static int64_t time_of(const struct play *p, double age)
{
	return p->end_ns - (int64_t)llround(age * 1e9);
}

static void check_marks(struct checking *c)
{
	const struct em_mark *m = c->s->marks;
	size_t n = c->s->n_marks;
	bool gross = by_proc(c);

	if (!must(c, n >= 2 && n <= EM_MAX_MARKS, "%zu marks", n))
		return;
	must(c, m[0].rss == -1 && m[n - 1].rss == -1 && m[n - 1].cpus == -1, "first or last mark");
	for (size_t i = 1; i < n; i++) {
		int64_t from_ns = time_of(c->p, m[i - 1].at) - 2,
			to_ns = time_of(c->p, m[i].at) + 2;
		int64_t most = bytes((gross ? truth_gross : truth_net)(c->t, from_ns, to_ns));

		must(c, m[i].at <= m[i - 1].at && m[i].cpu >= m[i - 1].cpu, "marks in order");
		at_most(c, m[i].rss, most, "a mark");
		must(c, m[i].cpus <= c->p->w.h->cpus + 1e-6, "a mark's cores: %g", m[i].cpus);
	}
	must(c, fabs(m[n - 1].cpu - (double)c->t->cpu_ns / 1e9) < 1e-9, "the last mark's CPU: %g",
	     m[n - 1].cpu);
	must(c, fabs(c->s->usage.peak_cpus - c->p->cpus_max) < 1e-6, "cores: %g, want %g",
	     c->s->usage.peak_cpus, c->p->cpus_max);
}

/* The largest peak of those who lived in that time, for some time of their life: U-74. */
static int64_t met(const struct checking *c, int64_t from_ns, int64_t to_ns)
{
	int64_t most = 0;

	for (size_t i = 0; i < c->p->n_rows; i++) {
		const struct process *row = c->p->rows[i];
		int64_t start_ns = c->p->run.start_ns;

		if (row->started_ns + start_ns <= to_ns &&
		    (row->ended_ns == TIME_NONE || row->ended_ns + start_ns >= from_ns))
			most = larger(most, row->peak_rss_bytes);
	}
	return most;
}

static void check_stretch(struct checking *c, const struct told *t, const struct stretch *s)
{
	int64_t start_ns = c->p->run.start_ns, to_ns = t->to_ns < 0 ? c->p->end_ns : t->to_ns;
	int64_t cpu = (t->to_ns < 0 ? c->t->cpu_ns : t->cpu_to_ns) - t->cpu_from_ns;
	int64_t most = bytes(truth_gross(c->t, t->from_ns, to_ns));

	same(c, s->started_ns, t->from_ns - start_ns, "a stretch's start");
	same(c, s->ended_ns, t->to_ns < 0 ? TIME_NONE : t->to_ns - start_ns, "a stretch's end");
	same(c, s->used.cpu_ns, cpu, "a stretch's CPU");
	at_most(c, s->max_threads, truth_threads(c->t, t->from_ns, to_ns), "a stretch's threads");
	if (t->attempt && c->p->attempts == 1)
		most = larger(most, met(c, t->from_ns, to_ns));
	/* A row of one that lived in it may be the kernel's mark. */
	at_most(c, s->peak_rss_bytes, most + bytes(c->p->w.h->noise), "a stretch's peak");
	for (size_t i = 0; i < c->p->n_rows; i++) {
		const struct process *row = c->p->rows[i];

		if (row->started_ns >= s->started_ns && row->ended_ns != TIME_NONE &&
		    row->ended_ns <= to_ns - start_ns)
			at_least(c, s->peak_rss_bytes, row->peak_rss_bytes,
				 "a stretch with a process in it");
	}
}

static void check_stretches(struct checking *c)
{
	const struct stretch *phase = c->s->phases.first, *attempt = c->s->attempts.first;

	for (size_t i = 0; i < c->p->n_told; i++) {
		const struct told *t = &c->p->told[i];
		const struct stretch **s = t->attempt ? &attempt : &phase;

		if (!must(c, *s, "a phase or attempt is not there"))
			return;
		check_stretch(c, t, *s);
		*s = (*s)->next;
	}
	must(c, !phase && !attempt, "more phases or attempts than there were");
}

static void check_budget(struct checking *c)
{
	const struct budget_result *r = &c->s->budget;
	int64_t figures[] = { c->s->usage.peak_lower_bytes, c->s->usage.cpu_ns, -1,
			      c->s->usage.total_processes };
	size_t n = 0;

	if (!c->p->w.h->budget)
		return;
	for (int i = 0; i < BUDGET_ITEMS; i++) {
		int64_t limit = r->budget.limit[i];

		if (limit < 0)
			continue;
		n += figures[i] > limit;
		must(c, r->unknown[i] == (figures[i] < 0), "a limit's figure is known or not");
	}
	same(c, (int64_t)r->n_exceeded, (int64_t)n, "limits that were passed");
	for (size_t i = 0; i < r->n_exceeded; i++)
		if (r->exceeded[i].at_ns != TIME_NONE)
			at_most(c, r->exceeded[i].at_ns, c->p->end_ns - c->p->run.start_ns,
				"when a limit was passed");
}

int check(const struct play *p, FILE *to)
{
	struct checking c = { .p = p, .t = &p->w.truth, .s = p->summary, .to = to };

	if (!p->summary)
		return 0;
	check_rows(&c);
	check_completeness(&c);
	check_sums(&c);
	check_bounds(&c);
	check_at_peak(&c);
	check_groups(&c);
	check_marks(&c);
	check_stretches(&c);
	check_budget(&c);
	if (!p->w.lost_exits && !by_proc(&c))
		must(&c, c.s->root && c.s->root->pid == pid_of(0), "the root's row");
	return c.wrong;
}

/* --- the journal ------------------------------------------------------------------------------ */

struct text {
	char *at;
	size_t len, cap;
};

static int put(void *ctx, const char *data, size_t len)
{
	struct text *t = ctx;

	if (t->len + len > t->cap) {
		t->cap = 2 * (t->len + len);
		t->at = realloc(t->at, t->cap);
		if (!t->at)
			abort();
	}
	memcpy(t->at + t->len, data, len);
	t->len += len;
	return 0;
}

static void differ(struct checking *c, const struct text *live, const struct text *read)
{
	size_t i = 0, from;

	while (i < live->len && i < read->len && live->at[i] == read->at[i])
		i++;
	from = i > 150 ? i - 150 : 0;
	must(c, false, "read back it differs:\n#   live ...%.*s\n#   read ...%.*s",
	     (int)(live->len - from < 220 ? live->len - from : 220), live->at + from,
	     (int)(read->len - from < 220 ? read->len - from : 220), read->at + from);
}

static void check_same(struct checking *c, const struct summary *read)
{
	struct text live_text = { 0 }, read_text = { 0 };
	struct document_sink live_to = { put, &live_text }, read_to = { put, &read_text };

	document_json(c->s, NULL, &live_to);
	document_json(read, NULL, &read_to);
	if (live_text.len != read_text.len ||
	    memcmp(live_text.at, read_text.at, live_text.len) != 0)
		differ(c, &live_text, &read_text);
	free(live_text.at);
	free(read_text.at);
}

/* Without its last line rows and samples are all there is: what they tell is the same, or bounds.
 */
static void check_cut(struct checking *c, const struct summary *read)
{
	const struct usage *live = &c->s->usage, *u = &read->usage;

	must(c, read->cut_off, "a cut journal is not cut off");
	must(c, read->completeness.exact != 1, "a cut journal is exact");
	same(c, (int64_t)read->n_rows, (int64_t)c->s->n_rows, "rows of the cut one");
	same(c, (int64_t)read->n_groups, (int64_t)c->s->n_groups, "groups of the cut one");
	same(c,
	     u->peak_process_bytes >= live->peak_process_bytes || c->p->w.lost_exits ||
		     c->p->w.h->attach || by_proc(c),
	     1, "the largest process of the cut one");
	at_most(c, u->peak_lower_bytes,
		(by_proc(c) ? proc_most(c) : bytes(c->t->gross_max)) + bytes(c->p->w.h->noise),
		"lower of the cut one");
	if (u->peak_upper_bytes >= 0) {
		at_least(c, u->peak_upper_bytes, u->peak_lower_bytes, "upper of the cut one");
		/* It holds up to the last sample. */
		at_least(c, u->peak_upper_bytes,
			 bytes(truth_gross(c->t, 0, c->p->sampled_ns)) - blind(c) * c->t->alive_max,
			 "upper of the cut one");
	}
	at_most(c, u->cpu_ns, live->cpu_ns, "CPU of the cut one");
}

static int read_back(char *text, size_t len, struct journal_read *r)
{
	FILE *in = fmemopen(text, len, "r");
	int err;

	if (!in)
		abort();
	err = journal_read(in, TOP_PEAK, r);
	fclose(in);
	return err;
}

int check_journal(const struct play *p, int fd, FILE *to)
{
	struct checking c = { .p = p, .t = &p->w.truth, .s = p->summary, .to = to };
	off_t len = lseek(fd, 0, SEEK_END);
	struct journal_read r;
	char *text, *last;

	if (!p->summary)
		return 0;
	text = malloc((size_t)len + 1);
	if (!text || len <= 0 || pread(fd, text, (size_t)len, 0) != len)
		abort();
	text[len] = '\0';
	if (must(&c, !read_back(text, (size_t)len, &r) && !r.n_faults && r.summary,
		 "the journal does not read back: %s", r.n_faults ? r.faults[0].why.text : ""))
		check_same(&c, r.summary);
	summary_free(r.summary);
	text[len - 1] = '\0';
	last = strrchr(text, '\n');
	if (must(&c, last && !read_back(text, (size_t)(last + 1 - text), &r) && r.summary,
		 "the cut journal does not read back"))
		check_cut(&c, r.summary);
	summary_free(r.summary);
	free(text);
	return c.wrong;
}
