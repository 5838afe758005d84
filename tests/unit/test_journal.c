// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_journal - what is written comes back: random runs to the byte; broken and cut journals
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "journal/read.h"
#include "journal/write.h"
#include "report/document.h"
#include "report/json_summary.h"
#include "tap.h"
#include "units.h"

#define ROUNDS 40

static uint64_t seed;

static uint64_t random_below(uint64_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed % n;
}

/* Now and then unknown, now and then 0. */
static int64_t random_value(uint64_t n)
{
	switch (random_below(8)) {
	case 0:
		return UNKNOWN;
	case 1:
		return 0;
	default:
		return (int64_t)random_below(n);
	}
}

/* Any byte but NUL, often what needs care. */
static void random_text(char *to, size_t len)
{
	static const char odd[] = "\"\\\n\t\x1b\x7f\x80\x85\xa0\xc2\xc3\xa9\xe2\x82\xac\xf0\xff";

	for (size_t i = 0; i < len; i++)
		to[i] = random_below(2) ? odd[random_below(sizeof(odd) - 1)]
					: (char)(1 + random_below(255));
	to[len] = '\0';
}

/* --- a buffer for a document, a file for a journal ----------------------------------------- */

struct buffer {
	char *data;
	size_t len;
};

static int put(void *ctx, const char *data, size_t len)
{
	struct buffer *b = ctx;
	char *more = realloc(b->data, b->len + len + 1);

	if (!more)
		return -ENOMEM;
	b->data = more;
	memcpy(b->data + b->len, data, len);
	b->len += len;
	b->data[b->len] = '\0';
	return 0;
}

static struct buffer document(const struct summary *s, const struct document_rows *all)
{
	struct buffer b = { 0 };
	struct document_sink sink = { put, &b };

	document_json(s, all, &sink);
	return b;
}

static FILE *file_of(const char *data, size_t len)
{
	FILE *f = tmpfile();

	if (!f || fwrite(data, 1, len, f) != len)
		abort();
	rewind(f);
	return f;
}

static struct journal_read read_text(const char *data, size_t len)
{
	FILE *f = file_of(data, len);
	struct journal_read r;

	if (journal_read(f, TOP_PEAK, &r))
		abort();
	fclose(f);
	return r;
}

/* --- a run as a session makes it ----------------------------------------------------------- */

struct live {
	struct run run;
	struct journal journal;
	struct room room;
	struct summary *summary;
	FILE *file;
	int64_t start_ns, now_ns, cpu_ns, busy_ns;
};

static void random_facts(struct live *l, struct run_facts *f, struct source_facts *source)
{
	char word[24];

	*f = (struct run_facts){ .id = strdup("an id"),
				 .mode = strdup("command"),
				 .pid = 5,
				 .exe_path = strdup("/bin/true"),
				 .exe_size_bytes = 5,
				 .exe_mtime_ns = -1500 * NS_PER_MS,
				 .exe_inode = INT64_MIN + 5, /* an inode number of 64 bits */
				 .started_at_ns = 1700000000 * NS_PER_S + 7,
				 .wall_ns = UNKNOWN,
				 .exit_code = UNKNOWN,
				 .exit_signal = UNKNOWN,
				 .core_dumped = UNKNOWN,
				 .oom_killed = UNKNOWN };
	f->labels = calloc(2, sizeof(*f->labels));
	f->command = calloc(3, sizeof(char *));
	for (int i = 0; i < 2; i++) {
		random_text(word, 1 + random_below(20));
		f->command[i] = strdup(word);
		f->labels[i].value = strdup(word);
		word[0] = (char)('a' + i);
		f->labels[i].key = strdup(word);
		f->n_labels++;
	}
	random_text(word, 9);
	f->cwd = random_below(4) ? strdup(word) : NULL;
	*source = (struct source_facts){ .exits = strdup("bpf"),
					 .interval_ns = (int64_t)random_below(6) * 60 * NS_PER_MS,
					 .self_cpu_ns = UNKNOWN,
					 .self_peak_rss_bytes = UNKNOWN };
	texts_add(&source->notes, "%s", word);
	(void)l;
}

static char *random_word(void)
{
	char word[24];

	if (!random_below(4))
		return NULL;
	random_text(word, random_below(sizeof(word) - 1));
	return strdup(word);
}

static void random_load(double load[LOADS])
{
	bool known = random_below(4);

	for (int i = 0; i < LOADS; i++)
		load[i] = known ? (double)random_below(100000) / 100 : UNKNOWN;
}

static void random_env(struct env *e)
{
	char **const texts[] = { &e->source,       &e->kernel,      &e->machine,   &e->governor,
				 &e->work_fs_type, &e->sched_class, &e->cpu_model, &e->thp,
				 &e->container,    &e->boot_id };
	int64_t *const numbers[] = { &e->sched_priority,
				     &e->affinity_cpus,
				     &e->memory_bytes,
				     &e->page_size,
				     &e->clock_ticks,
				     &e->cgroup.version,
				     &e->cgroup.memory_limit_bytes,
				     &e->psi_cpu.some_ns,
				     &e->psi_cpu.full_ns,
				     &e->psi_memory.some_ns,
				     &e->psi_memory.full_ns,
				     &e->psi_io.some_ns,
				     &e->psi_io.full_ns };

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		*texts[i] = random_word();
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		*numbers[i] = random_value(1ll << 50);
	e->cpus = 1 + (int64_t)random_below(4);
	e->cgroup.cpu_limit = random_below(3) ? (double)random_below(1000) / 7 : UNKNOWN;
	random_load(e->load_start);
}

static void random_budget(struct budget_watch *w)
{
	w->asked = random_below(3);
	w->budget.upper = random_below(2);
	for (int i = 0; i < BUDGET_ITEMS; i++)
		if (random_below(2))
			w->budget.limit[i] = 1 + (int64_t)random_below(i ? 1ll << 36 : 1ll << 30);
}

static void random_energies(struct summary *s)
{
	s->n_energies = random_below(4);
	s->energies = calloc(s->n_energies + 1, sizeof(*s->energies));
	for (size_t i = 0; s->energies && i < s->n_energies; i++)
		s->energies[i] = (struct energy){ .source = random_word(),
						  .domain = random_word(),
						  .covers = random_word(),
						  .start_uj = random_value(1ll << 50),
						  .end_uj = random_value(1ll << 50),
						  .delta_uj = random_value(1ll << 50),
						  .wraps = random_value(5),
						  .quality = random_word(),
						  .status = random_word(),
						  .reason = random_word() };
}

static void random_disks(struct summary *s)
{
	s->n_disks = random_below(3);
	s->disks = calloc(s->n_disks + 1, sizeof(*s->disks));
	for (size_t i = 0; s->disks && i < s->n_disks; i++)
		s->disks[i] = (struct disk){ random_word(), random_value(1ll << 50),
					     random_value(1ll << 50) };
}

/* Now and then a counter is not to be read, or goes back. */
static struct load_reading random_load_reading(struct live *l)
{
	l->busy_ns += (int64_t)random_below(NS_PER_S);
	return (struct load_reading){ .at_ns = l->now_ns,
				      .busy_ns = random_below(20) ? l->busy_ns : UNKNOWN,
				      .steal_ns = random_value(1 << 30),
				      .self_ns = l->cpu_ns / 7 - (int64_t)random_below(2) * 1000,
				      .tree_ns = random_below(20) ? l->cpu_ns : UNKNOWN };
}

/* @most_bytes of its file; 0: no limit. */
static void live_start(struct live *l, int64_t most_bytes)
{
	struct run_facts facts;
	struct source_facts source;
	double interval;

	*l = (struct live){ .start_ns = 86400 * NS_PER_S + (int64_t)random_below(NS_PER_S),
			    .summary = summary_new(),
			    .file = tmpfile() };
	l->now_ns = l->start_ns;
	l->room.most_bytes = most_bytes;
	journal_init(&l->journal, fileno(l->file), &l->room);
	random_facts(l, &facts, &source);
	random_env(&l->summary->env);
	interval = (double)source.interval_ns / (double)NS_PER_S;
	if (run_init(&l->run, l->start_ns,
		     interval > 0 && interval < EM_MIN_SAMPLE_SECONDS ? interval
								      : EM_MIN_SAMPLE_SECONDS,
		     (int)l->summary->env.cpus))
		abort();
	random_budget(&l->run.budget);
	if (random_below(5)) {
		const struct load_reading first = random_load_reading(l);

		load_on_reading(&l->run.load, &first, l->start_ns);
	}
	journal_start(&l->journal, l->start_ns, &facts, &source, &l->summary->env);
	l->summary->run = facts;
	l->summary->source = source;
}

static void live_exit(struct live *l)
{
	struct exit_record e = { .pid = (int32_t)random_below(1 << 22),
				 .ppid = (int32_t)random_below(1 << 22),
				 .running = !random_below(20),
				 .born_ns = l->now_ns - (int64_t)random_below(NS_PER_S),
				 .ended_ns = l->now_ns,
				 .wait_status = (int32_t)random_below(3) << 8,
				 .oom_killed = (int8_t)((int)random_below(3) - 1),
				 .notes = (uint32_t)random_below(32),
				 .peak_rss_bytes = random_value(1ll << 40),
				 .peak_error_bytes = random_value(1 << 20),
				 .peak_rss_exact = (int8_t)random_below(2),
				 .peak_source = (enum peak_source)random_below(PEAK_RUSAGE + 1),
				 .final_peak_bytes = random_value(1ll << 40),
				 .inherited_rss_bytes = random_value(1 << 30),
				 .peak_vm_bytes = random_value(1ll << 50),
				 .cpu_ns = random_value(1ll << 48),
				 .cpu_user_ns = random_value(1ll << 40),
				 .cpu_system_ns = random_value(1ll << 40),
				 .threads = random_value(100),
				 .execs = random_value(9),
				 .minor_faults = random_value(1 << 30),
				 .major_faults = random_value(9),
				 .voluntary_switches = random_value(999),
				 .involuntary_switches = random_value(999) };
	int64_t *split[] = { &e.split.anon_bytes, &e.split.file_bytes, &e.split.shmem_bytes,
			     &e.split.swap_bytes, &e.split.hugetlb_bytes };
	int64_t *io[] = { &e.io.read_bytes, &e.io.write_bytes, &e.io.cancelled_write_bytes,
			  &e.io.rchar,      &e.io.wchar,       &e.io.syscr,
			  &e.io.syscw };
	char comm[EM_COMM_LEN], argv[64];
	struct exec_record x = { .at_ns = l->now_ns, .argv = argv };
	struct process *row;

	for (size_t i = 0; i < sizeof(split) / sizeof(split[0]); i++)
		*split[i] = random_value(1ll << 40);
	for (size_t i = 0; i < sizeof(io) / sizeof(io[0]); i++)
		*io[i] = random_value(1ll << 60);
	if (!random_below(4))
		e.wait_status = 9 | (random_below(2) ? 0x80 : 0);
	if (!random_below(9))
		e.born_ns = UNKNOWN;
	random_text(comm, random_below(3) ? 5 : EM_COMM_LEN - 1);
	/* The longest names have no room for a control character in two bytes. */
	for (size_t i = 0; i < sizeof(comm); i++)
		if ((unsigned char)comm[i] >= 0x80 && (unsigned char)comm[i] < 0xa0)
			comm[i] = 'x';
	memcpy(e.comm, comm, sizeof(comm));
	memset(e.comm + strlen(comm), 0, sizeof(e.comm) - strlen(comm));
	e.key = (struct process_key){ .start_ns = random_below(1 << 30), .tgid = (uint32_t)e.pid };
	x.key = e.key;
	x.argv_known = random_below(4);
	x.argv_len = random_below(sizeof(argv) - 1);
	random_text(argv, sizeof(argv) - 1);
	for (size_t i = 0; i < sizeof(argv); i++)
		if (!random_below(6))
			argv[i] = '\0';
	x.argv_truncated = !random_below(4);
	if (run_on_exec(&l->run, &x) || run_on_exit(&l->run, &e, &row))
		abort();
	journal_process(&l->journal, l->now_ns, row, 0);
	process_unref(row);
}

static void live_sample(struct live *l)
{
	struct tree_sample s = { .at_ns = l->now_ns, .load_read = random_below(4) };
	double cpus = -1;

	s.load = random_load_reading(l);

	l->cpu_ns += (int64_t)random_below(NS_PER_S);
	s.totals.cpu_ns = random_below(9) ? l->cpu_ns : UNKNOWN;
	s.totals.interval_max_bytes = random_value(1ll << 40);
	s.totals.processes = random_value(99);
	s.totals.threads = random_value(99);
	s.totals.lower_max_bytes = s.totals.upper_max_bytes = UNKNOWN;
	s.scanned = random_below(2);
	s.scan.complete = random_below(2);
	s.scan.net_rss_bytes = random_value(1ll << 40);
	if (run_on_sample(&l->run, &s))
		cpus = l->run.meter.last_cpus;
	journal_sample(&l->journal, &s, &l->run.load, cpus, false);
}

static void live_end(struct live *l)
{
	struct loss loss = { "stale", 3, false };
	struct run_end end = { .at_ns = l->now_ns + (int64_t)random_below(NS_PER_S),
			       .losses = &loss,
			       .n_losses = random_below(2),
			       .exact_source = random_below(2),
			       .rusage = { random_value(1 << 30), 5, UNKNOWN } };
	struct load_reading last = random_load_reading(l);
	struct summary *s = l->summary;

	end.load = random_below(5) ? &last : NULL;
	end.window_ns = random_below(2) ? UNKNOWN : (int64_t)random_below(NS_PER_S);
	end.totals.initial = 1;
	end.totals.baseline_cpu_ns = random_value(1ll << 40);
	end.totals.forks = random_value(1000);
	end.totals.exits = 1 + (int64_t)random_below(1000);
	end.totals.cpu_ns = random_value(1ll << 40);
	end.totals.lower_bytes = end.totals.lower_max_bytes = UNKNOWN;
	end.totals.upper_max_bytes = UNKNOWN;
	end.totals.io.rchar = random_value(2);
	for (size_t i = 0; i < end.n_losses; i++)
		journal_lost(&l->journal, end.at_ns, &loss);
	s->run.wall_ns = (int64_t)random_below(1ll << 60);
	s->run.exit_code = 3;
	s->aged_at_ns = s->run.started_at_ns + (end.at_ns - l->start_ns);
	random_load(s->env.load_end);
	s->env.steal_ns = random_value(1ll << 40);
	random_energies(s);
	random_disks(s);
	s->usage.io_source = strdup("exit");
	s->usage.mean_cpus = (double)random_below(1 << 30) / 3e7;
	if (run_finish(&l->run, &end, TOP_PEAK, s))
		abort();
	journal_left_out(&l->journal, end.at_ns, s);
	journal_summary(&l->journal, end.at_ns + 12345, s);
	if (journal_flush(&l->journal))
		abort();
	rewind(l->file);
}

static void live_free(struct live *l)
{
	run_free(&l->run);
	journal_free(&l->journal);
	summary_free(l->summary);
	fclose(l->file);
}

static void live_run_within(struct live *l, uint64_t round, int64_t most_bytes)
{
	static const uint64_t steps[] = { 5, 60, 700, 3000 };

	seed = 88172645463325252ull + round * 7919;
	live_start(l, most_bytes);
	for (uint64_t i = steps[round % 4]; i; i--) {
		l->now_ns += (int64_t)random_below(random_below(9) ? 40 * NS_PER_MS : NS_PER_S);
		if (random_below(3))
			live_exit(l);
		else
			live_sample(l);
	}
	live_end(l);
}

static void live_run(struct live *l, uint64_t round)
{
	live_run_within(l, round, 0);
}

static struct process *next_row(void *rows)
{
	return journal_rows_next(rows);
}

static size_t first_difference(const struct buffer *a, const struct buffer *b)
{
	size_t i = 0;

	while (i < a->len && i < b->len && a->data[i] == b->data[i])
		i++;
	return i;
}

static void test_round_trip(uint64_t round)
{
	struct document_rows all = { next_row, NULL };
	struct buffer want, got, every;
	struct journal_read r;
	struct live l;

	live_run(&l, round);
	want = document(l.summary, NULL);
	EQ_I(journal_read(l.file, TOP_PEAK, &r), 0, "round %d: read", (int)round);
	EQ_I(r.n_faults, 0, "round %d: no line is malformed", (int)round);
	got = document(r.summary, NULL);
	if (!OK(want.len == got.len && !memcmp(want.data, got.data, want.len),
		"round %d: the same document", (int)round)) {
		size_t at = first_difference(&want, &got);

		at = at > 60 ? at - 60 : 0;
		printf("# want %.120s\n# got  %.120s\n", want.data + at, got.data + at);
		printf("# %s\n", r.n_faults ? r.faults[0].why.text : "");
	}
	rewind(l.file);
	all.ctx = journal_rows_new(l.file, r.lines);
	every = document(r.summary, &all);
	EQ_I(journal_rows_free(all.ctx), 0, "round %d: all rows again", (int)round);
	OK(every.len >= got.len, "round %d: they are no fewer", (int)round);
	free(want.data);
	free(got.data);
	free(every.data);
	summary_free(r.summary);
	live_free(&l);
}

/* Without its rows, and what is said of those that are missing. */
static struct buffer figures(struct summary *s)
{
	struct buffer b;
	size_t n = s->n_rows;

	s->n_rows = 0;
	s->rows_omitted = 0;
	s->left_out = left_out_blank();
	b = document(s, NULL);
	s->n_rows = n;
	return b;
}

/* Of the so many largest, whichever of equal ones they are. */
static int64_t sum_of(struct summary *s, enum top_order order, size_t most)
{
	int64_t sum = 0;

	rows_sort(s->rows, s->n_rows, order);
	for (size_t i = 0; i < s->n_rows && i < most; i++)
		sum += order == TOP_PEAK ? s->rows[i]->peak_rss_bytes : s->rows[i]->cpu_ns;
	return sum;
}

/* A file that may have no more: the same figures, and the rows that the summary lists. */
static void test_left_out(uint64_t round, int64_t most_bytes)
{
	struct buffer want, got;
	struct journal_read r;
	struct live l;
	int64_t rows;

	live_run_within(&l, round, most_bytes);
	rows = (int64_t)l.summary->n_rows + l.summary->rows_omitted;
	EQ_I(journal_read(l.file, TOP_PEAK, &r), 0, "left out %d: read", (int)round);
	EQ_I(r.n_faults, 0, "left out %d: no line is malformed", (int)round);
	OK(r.summary->left_out.from_ns != TIME_NONE && r.summary->left_out.processes > 0 &&
		   r.summary->left_out.samples > 0,
	   "left out %d: it says so", (int)round);
	EQ_I((int64_t)r.summary->n_rows + r.summary->rows_omitted, rows,
	     "left out %d: every row is there or counted", (int)round);
	EQ_I(r.summary->left_out.processes, l.journal.room_run.left_out.processes,
	     "left out %d: so many are not there", (int)round);
	EQ_I(sum_of(r.summary, TOP_PEAK, ROWS_BY_PEAK), sum_of(l.summary, TOP_PEAK, ROWS_BY_PEAK),
	     "left out %d: the largest", (int)round);
	EQ_I(sum_of(r.summary, TOP_CPU, ROWS_BY_CPU), sum_of(l.summary, TOP_CPU, ROWS_BY_CPU),
	     "left out %d: the longest", (int)round);
	want = figures(l.summary);
	got = figures(r.summary);
	OK(want.len == got.len && !memcmp(want.data, got.data, want.len),
	   "left out %d: the same figures", (int)round);
	free(want.data);
	free(got.data);
	summary_free(r.summary);
	live_free(&l);
}

static void test_room(void)
{
	struct room room = { .most_bytes = 100 };
	struct process *p = process_blank(0);
	struct room_run r;
	int taken = 0;

	room_run_init(&r);
	OK(room_takes(&room, &r, ROOM_ROW, 100, 1), "room: as much as there is");
	EQ_I(r.left_out.from_ns, TIME_NONE, "room: all is there");
	OK(!room_takes(&room, &r, ROOM_ROW, 1, 1000), "room: no more");
	EQ_I(r.left_out.from_ns, 1000, "room: since when");
	OK(room_takes(&room, &r, ROOM_RESULT, 50, 1000), "room: but for results");
	EQ_I(room.used_bytes, 150, "room: which are counted");
	for (int64_t t_ns = 1000; t_ns < 1000000; t_ns += 10)
		taken += room_takes(&room, &r, ROOM_SAMPLE, 1, t_ns);
	OK(taken >= 25 && taken <= 32, "room: samples ever more seldom: %d", taken);
	EQ_I(taken + r.left_out.samples, 99900, "room: each is there or counted");
	if (!p)
		abort();
	p->exit_code = 1;
	room_row_out(&r, p);
	room_row_out(&r, p);
	room_row_again(&r, p);
	EQ_I(r.left_out.processes, 1, "room: rows");
	EQ_I(r.left_out.failed, 1, "room: that failed");
	room_run_init(&r);
	OK(!room_takes(&room, &r, ROOM_ROW, 0, 0), "room: full it stays, for the next run too");
	process_unref(p);
}

struct repeated {
	struct process *p;
	int left;
};

static struct process *next_repeated(void *ctx)
{
	struct repeated *r = ctx;

	return r->left-- > 0 ? process_ref(r->p) : NULL;
}

struct written {
	struct buffer all;
	int puts, torn, fail_at; /* @fail_at: the put that fails, 0 for none */
};

static int put_lines(void *ctx, const char *data, size_t len)
{
	struct written *l = ctx;

	if (++l->puts == l->fail_at)
		return -ENOSPC;
	l->torn += !len || data[len - 1] != '\n';
	return put(&l->all, data, len);
}

/* Longer than what is gathered: it goes out in pieces of whole lines, nothing twice. */
static void test_long_text(void)
{
	struct written none = { 0 }, one = { 0 }, many = { 0 }, failing = { .fail_at = 2 };
	struct repeated rows = { 0 };
	struct document_rows all = { next_repeated, &rows };
	struct document_sink sink = { put_lines, &none };
	size_t row_len, same = 0;
	struct live l;

	live_run(&l, 1);
	rows.p = l.summary->n_rows ? l.summary->rows[0] : NULL;
	if (!OK(rows.p, "long text: there is a row")) {
		live_free(&l);
		return;
	}
	EQ_I(document_text(l.summary, 0, TOP_PEAK, NULL, &sink), 0, "long text: no rows");
	sink.ctx = &one;
	rows.left = 1;
	EQ_I(document_text(l.summary, 0, TOP_PEAK, &all, &sink), 0, "long text: one row");
	EQ_I(one.puts, 1, "long text: a short one in one write");
	row_len = one.all.len - none.all.len;
	sink.ctx = &many;
	rows.left = 5000;
	EQ_I(document_text(l.summary, 0, TOP_PEAK, &all, &sink), 0, "long text: many rows");
	OK(many.puts > 1, "long text: in several writes");
	EQ_I(many.torn, 0, "long text: of whole lines");
	EQ_I(many.all.len, none.all.len + 5000 * row_len, "long text: all of it, once");
	for (size_t at = none.all.len; at + row_len <= many.all.len; at += row_len)
		same += !memcmp(many.all.data + at, one.all.data + none.all.len, row_len);
	EQ_I(same, 5000, "long text: every row");
	sink.ctx = &failing;
	rows.left = 5000;
	EQ_I(document_text(l.summary, 0, TOP_PEAK, &all, &sink), -ENOSPC,
	     "long text: a write fails");
	EQ_I(failing.puts, 2, "long text: and is the last");
	free(none.all.data);
	free(one.all.data);
	free(many.all.data);
	free(failing.all.data);
	live_free(&l);
}

/* --- broken journals ----------------------------------------------------------------------- */

#define START                                                                                     \
	"{\"event\":\"run_start\",\"t\":0,\"run\":{\"id\":\"x\",\"started_at\":"                  \
	"\"2026-11-30T01:21:27.272Z\"},\"source\":{\"exits\":\"bpf\",\"interval_seconds\":0.25}," \
	"\"env\":{\"cpus\":2}}\n"
#define ROW(rest) "{\"event\":\"process\",\"t\":1,\"pid\":7,\"comm\":\"a\"" rest "}\n"
#define SAMPLE                                                                                  \
	"{\"event\":\"sample\",\"t\":0.5,\"rss_bytes\":4096,\"cpu_seconds\":0.25,\"cpus\":0.5," \
	"\"processes\":3,\"threads\":4,\"lower_bytes\":8192,\"upper_bytes\":12288}\n"
#define END                                                                                  \
	"{\"event\":\"summary\",\"t\":2,\"schema\":\"exitmeter.summary/1\",\"run\":{\"id\":" \
	"\"x\"},\"source\":{},\"completeness\":{\"exact\":true},\"usage\":{}}\n"

static void test_malformed(void)
{
	static const struct {
		const char *label, *line, *why;
	} rows[] = {
		{ "half", "{\"event\":\"process\",\n", "not JSON: it ends too soon" },
		{ "empty", "\n", "the line is empty" },
		{ "an array", "[1]\n", "no event of a journal" },
		{ "a number", "5\n", NULL },
		{ "no event", "{\"t\":1}\n", "no event of a journal" },
		{ "an event that is none", "{\"event\":5,\"t\":1}\n", "no event of a journal" },
		{ "no t", "{\"event\":\"process\"}\n", "no t of a journal" },
		{ "null t", "{\"event\":\"process\",\"t\":null}\n", "no t of a journal" },
		{ "t is a text", "{\"event\":\"process\",\"t\":\"1\"}\n", "no t of a journal" },
		{ "two objects", "{\"event\":\"process\",\"t\":1}{}\n", NULL },
		{ "no pid", "{\"event\":\"process\",\"t\":1,\"comm\":\"a\"}\n",
		  "a process without pid or comm" },
		{ "pid too large",
		  "{\"event\":\"process\",\"t\":1,\"pid\":4294967296,\"comm\":\"a\"}\n",
		  "pid is not a pid" },
		{ "comm too long",
		  "{\"event\":\"process\",\"t\":1,\"pid\":1,\"comm\":\"12345678901234567\"}\n",
		  "comm is not a name of at most 16 bytes" },
		{ "a NUL in comm",
		  "{\"event\":\"process\",\"t\":1,\"pid\":1,\"comm\":\"a\\u0000\"}\n",
		  "comm is not a name of at most 16 bytes" },
		{ "a text for a count", ROW(",\"threads\":\"1\""),
		  "threads is not a count or null" },
		{ "below 0", ROW(",\"threads\":-1"), "threads is not a count or null" },
		{ "a fraction", ROW(",\"threads\":1.5"), "threads is not a count or null" },
		{ "too large", ROW(",\"threads\":18446744073709551615"),
		  "threads is not a count or null" },
		{ "seconds below 0", ROW(",\"cpu_seconds\":-1"),
		  "cpu_seconds is not seconds or null" },
		{ "seconds too large", ROW(",\"cpu_seconds\":1e30"),
		  "cpu_seconds is not seconds or null" },
		{ "a NaN", ROW(",\"cpu_seconds\":NaN"), NULL },
		{ "a flag that is none", ROW(",\"running\":1"),
		  "running is not true, false or null" },
		{ "running null", ROW(",\"running\":null"), "running is null" },
		{ "argv", ROW(",\"argv\":\"a\""), "argv is not an array" },
		{ "a word", ROW(",\"argv\":[1]"), "argv holds what is no text" },
		{ "a NUL in a word", ROW(",\"argv\":[\"a\\u0000b\"]"),
		  "argv holds what is no text" },
		{ "io", ROW(",\"io\":[]"), "io is not an object" },
		{ "in io", ROW(",\"io\":{\"rchar\":true}"), "rchar is not a count or null" },
		{ "notes", ROW(",\"notes\":[1]"), "notes holds what is no text" },
		{ "a sample", "{\"event\":\"sample\",\"t\":1,\"rss_bytes\":[]}\n",
		  "rss_bytes is not a count or null" },
		{ "a sample's CPU", "{\"event\":\"sample\",\"t\":1,\"cpu_seconds\":-2}\n",
		  "cpu_seconds is not seconds or null" },
		{ "lost", "{\"event\":\"lost\",\"t\":1,\"count\":1}\n",
		  "lost without what and count" },
		{ "a foreign schema", "{\"event\":\"summary\",\"t\":1,\"schema\":\"x\"}\n",
		  "the schema is not exitmeter.summary/1" },
		{ "half a summary",
		  "{\"event\":\"summary\",\"t\":1,\"schema\":\"exitmeter.summary/1\"}\n",
		  "a summary without run, source, completeness or usage" },
		{ "a moment",
		  "{\"event\":\"summary\",\"t\":2,\"schema\":\"exitmeter.summary/1\",\"run\":{"
		  "\"started_at\":\"2026-13-30T01:21:27.272Z\"},\"source\":{},\"completeness\":{},"
		  "\"usage\":{}}\n",
		  "started_at is not a moment in RFC 3339 or null" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char text[4096];
		int len = snprintf(text, sizeof(text), "%s%s%s%s%s", START, SAMPLE, rows[i].line,
				   ROW(""), END);
		struct journal_read r = read_text(text, (size_t)len);

		EQ_I(r.n_faults, 1, "%s: one fault", rows[i].label);
		EQ_I(r.faults[0].line, 3, "%s: with its line", rows[i].label);
		if (rows[i].why)
			EQ_S(r.faults[0].why.text, rows[i].why, "%s: why", rows[i].label);
		OK(r.summary && !r.summary->cut_off && r.summary->n_rows == 1,
		   "%s: the rest is there", rows[i].label);
		EQ_I(r.summary->completeness.exact, 0, "%s: not exact any more", rows[i].label);
		summary_free(r.summary);
	}
}

static void test_many_faults(void)
{
	struct buffer b = { 0 };
	struct journal_read r;

	put(&b, START, sizeof(START) - 1);
	for (int i = 0; i < 50; i++)
		put(&b, "x\n", 2);
	put(&b, END, sizeof(END) - 1);
	put(&b, ROW(""), sizeof(ROW("")) - 1);
	r = read_text(b.data, b.len);
	EQ_I(r.n_faults, 51, "all are counted, one behind the end too");
	EQ_I(r.faults[JOURNAL_FAULTS_MAX - 1].line, JOURNAL_FAULTS_MAX + 1, "the first are kept");
	EQ_I(r.summary->n_rows, 0, "a row behind the end is none");
	summary_free(r.summary);
	free(b.data);
}

static void test_long_lines(void)
{
	size_t len = JOURNAL_LINE_MAX + 100;
	char *line = malloc(len);
	struct buffer b = { 0 };
	struct journal_read r;

	memset(line, ' ', len);
	line[len - 1] = '\n';
	put(&b, START, sizeof(START) - 1);
	put(&b, line, len);
	put(&b, ROW(""), sizeof(ROW("")) - 1);
	put(&b, END, sizeof(END) - 2);
	/* The last line holds the command line and may be long. */
	put(&b, line, len);
	r = read_text(b.data, b.len);
	EQ_I(r.n_faults, 1, "one line is too long");
	EQ_S(r.faults[0].why.text, "the line is too long", "it is said");
	EQ_I(r.faults[0].line, 2, "with its number");
	OK(r.summary && !r.summary->cut_off && r.summary->n_rows == 1, "the rest is read");
	summary_free(r.summary);
	free(b.data);
	free(line);
}

static void test_foreign(void)
{
	static const char *const texts[] = { "{\"level\":\"info\"}\n[1,2]\n", "\n", "x",
					     "{\"event\":\"login\",\"t\":1}\n",
					     "{\"event\":\"run_start\",\"t\":0,\"ru" };
	struct journal_read r = read_text("", 0);

	OK(!r.summary && r.empty, "an empty file");
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		r = read_text(texts[i], strlen(texts[i]));
		OK(!r.summary && !r.empty, "foreign file %d: nothing of a journal", (int)i);
	}
}

static void test_no_start(void)
{
	static const char text[] = "garbage\n" ROW("") END;
	struct journal_read r = read_text(text, sizeof(text) - 1);

	EQ_I(r.n_faults, 2, "a journal whose first line is broken: that, and no run_start");
	OK(r.summary && r.summary->n_rows == 1, "it is read");
	EQ_S(r.summary->run.id, "x", "the end knows the run");
	summary_free(r.summary);
}

static void test_unknown(void)
{
	static const char text[] = START "{\"event\":\"phase\",\"t\":1,\"name\":\"x\"}\n" ROW(
		",\"colour\":\"red\",\"notes\":[\"shared-mm\",\"of-tomorrow\"]") END;
	struct journal_read r = read_text(text, sizeof(text) - 1);

	EQ_I(r.n_faults, 0, "events, fields and notes of a later exitmeter are no faults");
	EQ_I(r.summary->rows[0]->notes, NOTE_SHARED_MM, "the known note is there");
	EQ_I(r.summary->rows[0]->threads, UNKNOWN, "what is missing is unknown");
	summary_free(r.summary);
}

/* --- cut journals -------------------------------------------------------------------------- */

static void test_cut(void)
{
	static const char text[] =
		START ROW(",\"cpu_seconds\":0.5,\"peak_rss_bytes\":5000,\"peak_source\":\"exit\"")
			SAMPLE ROW(",\"cpu_seconds\":0.25,\"peak_rss_bytes\":50000,"
				   "\"peak_rss_exact\":true,\"peak_source\":\"exit\","
				   "\"minor_faults\":3") "{\"event\":\"proc";
	struct journal_read r = read_text(text, sizeof(text) - 1);
	struct summary *s = r.summary;

	EQ_I(r.n_faults, 0, "half a line at the end is the cut, no fault");
	EQ_I(s->cut_off, 1, "it is said");
	EQ_I(s->completeness.exact, 0, "not exact");
	EQ_S(s->completeness.reasons.at[0], "the journal was cut off", "the reason");
	EQ_I(s->completeness.exits, 2, "rows");
	EQ_I(s->completeness.forks, UNKNOWN, "forks are unknown");
	EQ_I(s->completeness.running_at_end, UNKNOWN, "those that run too");
	EQ_I(s->run.wall_ns, UNKNOWN, "and the time");
	EQ_I(s->run.exit_code, UNKNOWN, "and the code");
	EQ_I(s->usage.cpu_ns, 750 * NS_PER_MS, "CPU: rows know more than the last sample");
	EQ_I(s->usage.peak_lower_bytes, 50000, "lower: the largest process");
	EQ_I(s->usage.peak_upper_bytes, 12288 + 50000, "upper: the last one and what came later");
	EQ_I(s->usage.minor_faults, 3, "sums of rows");
	EQ_I(s->usage.io.rchar, UNKNOWN, "what no row knows is unknown");
	EQ_I(s->usage.max_processes, 3, "the most in a sample");
	EQ_I(s->n_marks, 3, "marks");
	EQ_I(s->n_groups, 1, "groups");
	EQ_I(s->aged_at_ns - s->run.started_at_ns, NS_PER_S, "aged at the last line");
	summary_free(s);
}

static void test_cut_anywhere(void)
{
	struct live l;
	char *text;
	long len;
	size_t end;
	bool good = true, cut = true;

	live_run(&l, 1);
	fseek(l.file, 0, SEEK_END);
	len = ftell(l.file);
	rewind(l.file);
	text = malloc((size_t)len + 1);
	if (fread(text, 1, (size_t)len, l.file) != (size_t)len)
		abort();
	text[len] = '\0';
	end = strcspn(text, "\n");
	for (size_t at = end + 1; at < (size_t)len - 1; at += 1 + random_below(97)) {
		struct journal_read r = read_text(text, at);

		good &= r.summary && !r.n_faults;
		cut &= r.summary && r.summary->cut_off && !r.summary->completeness.exact;
		summary_free(r.summary);
	}
	OK(good, "cut anywhere: no fault");
	OK(cut, "cut anywhere: said");
	{
		struct journal_read r = read_text(text, (size_t)len - 1);

		OK(r.summary && !r.summary->cut_off, "only the last newline missing: whole");
		summary_free(r.summary);
	}
	free(text);
	live_free(&l);
}

/* --- values -------------------------------------------------------------------------------- */

static void test_ns(void)
{
	static const struct {
		const char *text;
		int err;
		int64_t want;
	} rows[] = {
		{ "0", 0, 0 },
		{ "1.5", 0, 1500000000 },
		{ "-0.000000001", 0, -1 },
		{ "4611686018.427387903", 0, 4611686018427387903 },
		{ "9007199.254740993", 0, 9007199254740993 },
		{ "1e-3", 0, 1000000 },
		{ "0.0000000004", 0, 0 },
		{ "0.1234567896", 0, 123456790 },
		{ "9e18", -EBADMSG, 0 },
		{ "99999999999999999999", -EBADMSG, 0 },
		{ "\"1\"", -EBADMSG, 0 },
		{ "true", -EBADMSG, 0 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		json_object *v = json_tokener_parse(rows[i].text);
		int64_t got = 0;

		EQ_I(value_ns(v, 0, &got), rows[i].err, "ns %s", rows[i].text);
		if (!rows[i].err)
			EQ_I(got, rows[i].want, "ns %s: exact", rows[i].text);
		json_object_put(v);
	}
}

static void test_unescape(void)
{
	static const struct {
		const char *in, *out;
	} rows[] = {
		{ "plain", "plain" },
		{ "\\u00e9", "\xe9" },
		{ "\\u0085", "\x85" },
		{ "\\u00c3\\u0085", "\xc3\\u0085" },
		{ "\\\\u00e9", "\\\\u00e9" },
		{ "\\u001b", "\\u001b" },
		{ "\\u00e", "\\u00e" },
		{ "\\u00gg", "\\u00gg" },
		{ "\\", "\\" },
		{ "\\u20ac", "\\u20ac" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char text[32];
		size_t len;

		snprintf(text, sizeof(text), "%s", rows[i].in);
		len = values_unescape(text, strlen(text));
		text[len] = '\0';
		EQ_S(text, rows[i].out, "unescape %d", (int)i);
	}
}

int main(void)
{
	for (uint64_t round = 0; round < ROUNDS; round++)
		test_round_trip(round);
	for (uint64_t round = 2; round < ROUNDS; round += 4) {
		test_left_out(round, 50000);
		test_left_out(round + 1, 200000);
	}
	test_room();
	test_long_text();
	test_malformed();
	test_many_faults();
	test_long_lines();
	test_foreign();
	test_no_start();
	test_unknown();
	test_cut();
	test_cut_anywhere();
	test_ns();
	test_unescape();
	return tap_done();
}
