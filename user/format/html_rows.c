// SPDX-License-Identifier: GPL-2.0-or-later
#include "format/html_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "hash.h"
#include "units.h"

/* Of those that have a row because of more than their memory. */
#define ROWS_BY_CPU  1500
#define ROWS_FAILED  250
#define ROWS_RUNNING 250

/* Bytes that all arguments take in the page, and those of one row. */
#define ARGUMENTS_SUM   ((size_t)208 * 1024)
#define ARGUMENTS_LEAST ((size_t)48)
#define ARGUMENTS_MOST  ((size_t)6 * 4096)

/* Bits of a row's flags; above them its notes. */
enum {
	FLAG_RUNNING = 1 << 0,
	FLAG_PEAK_EXACT = 1 << 1,
	FLAG_CORE_DUMPED = 1 << 2,
	FLAG_OOM_KILLED = 1 << 3,
	FLAG_ARGUMENTS_CUT = 1 << 4,
	FLAG_NOTES_SHIFT = 8,
};

static const char *const columns[] = {
	"pid",         "ppid",      "name",    "arguments",    "started_us",   "ended_us",
	"status",      "flags",     "peak",    "peak_source",  "error",        "cpu_us",
	"user_us",     "threads",   "execs",   "minor_faults", "major_faults", "voluntary",
	"involuntary", "inherited", "peak_vm", "read_bytes",   "write_bytes",
};

/* Texts that come again and again, each written once; a row has their numbers. */
struct text {
	UT_hash_handle hh;
	int64_t number;
	size_t len;
	const char *at; /* of a row that is kept */
};

int html_rows_init(struct html_rows *r, int64_t end_ns, size_t max)
{
	*r = (struct html_rows){ .end_ns = end_ns };
	if (top_init(&r->by_peak, TOP_PEAK, max) || top_init(&r->by_cpu, TOP_CPU, ROWS_BY_CPU) ||
	    top_init(&r->failed, TOP_LATEST, ROWS_FAILED) ||
	    top_init(&r->running, TOP_LATEST, ROWS_RUNNING))
		return -ENOMEM;
	return 0;
}

void html_rows_free(struct html_rows *r)
{
	top_free(&r->by_peak);
	top_free(&r->by_cpu);
	top_free(&r->failed);
	top_free(&r->running);
}

static size_t bucket_of(const struct html_rows *r, int64_t at_ns)
{
	double share = r->end_ns > 0 ? (double)at_ns / (double)r->end_ns : 0;

	return share <= 0 ? 0 : share >= 1 ? HTML_BUCKETS - 1 : (size_t)(share * HTML_BUCKETS);
}

/* One more, or with @sign -1 one fewer, in each bucket of its life. */
static void count_alive(struct html_rows *r, const struct process *p, int sign)
{
	if (p->started_ns == TIME_NONE)
		return;
	r->alive[bucket_of(r, p->started_ns)] += sign;
	r->alive[bucket_of(r, p->ended_ns == TIME_NONE ? r->end_ns : p->ended_ns) + 1] -= sign;
}

/* @sum and @more, or less with @sign -1; UNKNOWN where one is. */
static void add_known(int64_t *sum, int64_t more, int sign)
{
	if (*sum == UNKNOWN || more == UNKNOWN || __builtin_add_overflow(*sum, sign * more, sum))
		*sum = UNKNOWN;
}

void html_rows_add(struct html_rows *r, struct process *p)
{
	r->n++;
	add_known(&r->cpu_ns, p->cpu_ns, 1);
	count_alive(r, p, 1);
	top_add(&r->by_peak, p);
	top_add(&r->by_cpu, p);
	if (p->running)
		top_add(&r->running, p);
	else if (process_failed(p))
		top_add(&r->failed, p);
}

/* --- which ----------------------------------------------------------------------------------- */

static int by_address(const void *a, const void *b)
{
	uintptr_t x = (uintptr_t) * (struct process *const *)a;
	uintptr_t y = (uintptr_t) * (struct process *const *)b;

	return x < y ? -1 : x > y;
}

static size_t unique(struct process **rows, size_t n)
{
	size_t kept = 0;

	qsort(rows, n, sizeof(struct process *), by_address);
	for (size_t i = 0; i < n; i++)
		if (!kept || rows[kept - 1] != rows[i])
			rows[kept++] = rows[i];
	return kept;
}

static size_t append(struct process **rows, size_t n, const struct top *t)
{
	memcpy(rows + n, t->rows, t->n * sizeof(struct process *));
	return n + t->n;
}

/*
 * The rows by start, borrowed; *@ret_n of them.  All, where they are not too many; else those that
 * took the most CPU, failed last or still run, and the largest.  NULL: out of memory.
 */
static struct process **choose(struct html_rows *r, size_t *ret_n)
{
	size_t most = r->by_peak.cap;
	struct process **rows =
		calloc(most + ROWS_BY_CPU + ROWS_FAILED + ROWS_RUNNING, sizeof(struct process *));
	struct process **all = rows ? calloc(most + 1, sizeof(struct process *)) : NULL;
	size_t n = 0, have;

	if (!all) {
		free(rows);
		return NULL;
	}
	rows_sort(r->by_peak.rows, r->by_peak.n, TOP_PEAK);
	if (r->by_peak.n < most) {
		n = append(all, 0, &r->by_peak);
	} else {
		n = append(rows, 0, &r->by_cpu);
		n = append(rows, n, &r->failed);
		n = unique(rows, append(rows, n, &r->running));
		memcpy(all, rows, n * sizeof(struct process *));
		have = n;
		for (size_t i = 0; i < r->by_peak.n && n < most; i++)
			if (!bsearch(&r->by_peak.rows[i], rows, have, sizeof(struct process *),
				     by_address))
				all[n++] = r->by_peak.rows[i];
	}
	free(rows);
	rows_sort(all, n, TOP_LATEST);
	*ret_n = n;
	return all;
}

/* --- texts ----------------------------------------------------------------------------------- */

static void texts_done(struct text **texts)
{
	struct text *t, *next;

	HASH_ITER (hh, *texts, t, next) {
		HASH_DEL(*texts, t);
		free(t);
	}
}

/* The number of @at's text in *@texts, where it is added; -ENOMEM. */
static int64_t number_of(struct text **texts, const char *at, size_t len)
{
	struct text *t;

	HASH_FIND(hh, *texts, at, len, t);
	if (t)
		return t->number;
	t = calloc(1, sizeof(*t));
	if (!t)
		return -ENOMEM;
	t->at = at;
	t->len = len;
	t->number = HASH_COUNT(*texts);
	HASH_ADD_KEYPTR(hh, *texts, t->at, t->len, t);
	if (!hash_is_in(t)) {
		free(t);
		return -ENOMEM;
	}
	return t->number;
}

/* What a byte of arguments takes in the page; a NUL ends one of them. */
static size_t byte_cost(unsigned char c)
{
	if (!c)
		return 3;
	if (c == '"' || c == '\\')
		return 2;
	return c < 0x20 || c == 0x7f || c == '<' ? 6 : 1;
}

/* How much of its arguments a row keeps in @most bytes of the page: whole characters. */
static size_t arguments_len(const struct process *p, size_t most)
{
	size_t len = 0, cost = 0;

	while (len < p->argv_len && cost <= most)
		cost += byte_cost((unsigned char)p->argv[len++]);
	if (cost <= most)
		return len;
	len--;
	while (len && ((unsigned char)p->argv[len] & 0xc0) == 0x80)
		len--;
	return len;
}

static size_t cost_of(const struct process *p)
{
	size_t cost = 0;

	for (size_t i = 0; i < p->argv_len; i++)
		cost += byte_cost((unsigned char)p->argv[i]);
	return cost;
}

/* The most each row may take so that all take ARGUMENTS_SUM: short ones leave room for long ones.
 */
static size_t arguments_most(struct process *const *rows, size_t n)
{
	size_t low = ARGUMENTS_LEAST, high = ARGUMENTS_MOST;
	size_t *costs = calloc(n + 1, sizeof(*costs));

	if (!costs)
		return low;
	for (size_t i = 0; i < n; i++)
		costs[i] = cost_of(rows[i]);
	while (low < high) {
		size_t middle = (low + high + 1) / 2, sum = 0;

		for (size_t i = 0; i < n; i++)
			sum += costs[i] < middle ? costs[i] : middle;
		if (sum <= ARGUMENTS_SUM)
			low = middle;
		else
			high = middle - 1;
	}
	free(costs);
	return low;
}

static void write_names(struct json *j, const struct text *names)
{
	json_key(j, "names");
	json_array(j);
	for (const struct text *t = names; t; t = t->hh.next)
		json_string(j, t->at, t->len);
	json_array_end(j);
}

/* Each a list of its arguments. */
static void write_arguments(struct json *j, const struct text *all)
{
	json_key(j, "arguments");
	json_array(j);
	for (const struct text *t = all; t; t = t->hh.next) {
		const char *at = t->at, *end = t->at + t->len;

		json_array(j);
		while (at < end) {
			size_t len = strnlen(at, (size_t)(end - at));

			json_string(j, at, len);
			at += len + 1;
		}
		json_array_end(j);
	}
	json_array_end(j);
}

/* --- rows ------------------------------------------------------------------------------------ */

static void number(struct json *j, int64_t v)
{
	if (v == UNKNOWN)
		json_null(j);
	else
		json_int(j, v);
}

static void time_us(struct json *j, int64_t ns)
{
	if (ns == TIME_NONE)
		json_null(j);
	else
		json_int(j, ns / NS_PER_US);
}

static void span_us(struct json *j, int64_t ns)
{
	number(j, ns == UNKNOWN ? UNKNOWN : ns / NS_PER_US);
}

/* Its exit code, or less than 0 the signal. */
static void status(struct json *j, const struct process *p)
{
	if (p->exit_signal > 0)
		json_int(j, -p->exit_signal);
	else
		number(j, p->exit_code);
}

static int64_t flags_of(const struct process *p, bool cut)
{
	return (p->running > 0 ? FLAG_RUNNING : 0) | (p->peak_rss_exact > 0 ? FLAG_PEAK_EXACT : 0) |
	       (p->core_dumped > 0 ? FLAG_CORE_DUMPED : 0) |
	       (p->oom_killed > 0 ? FLAG_OOM_KILLED : 0) |
	       (cut || p->argv_truncated > 0 ? FLAG_ARGUMENTS_CUT : 0) |
	       (int64_t)p->notes << FLAG_NOTES_SHIFT;
}

static void write_row(struct json *j, const struct process *p, int64_t name, int64_t arguments,
		      bool cut)
{
	json_array(j);
	json_int(j, p->pid);
	number(j, p->ppid);
	json_int(j, name);
	number(j, arguments);
	time_us(j, p->started_ns);
	time_us(j, p->ended_ns);
	status(j, p);
	json_int(j, flags_of(p, cut));
	number(j, p->peak_rss_bytes);
	json_int(j, p->peak_source);
	number(j, p->peak_error_bytes);
	span_us(j, p->cpu_ns);
	span_us(j, p->cpu_user_ns);
	number(j, p->threads);
	number(j, p->execs);
	number(j, p->minor_faults);
	number(j, p->major_faults);
	number(j, p->voluntary_switches);
	number(j, p->involuntary_switches);
	number(j, p->inherited_rss_bytes);
	number(j, p->peak_vm_bytes);
	number(j, p->io.read_bytes);
	number(j, p->io.write_bytes);
	json_array_end(j);
}

static void write_words(struct json *j)
{
	json_key(j, "columns");
	json_array(j);
	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
		json_cstring(j, columns[i]);
	json_array_end(j);
	json_key(j, "sources");
	json_array(j);
	for (int i = PEAK_NONE; i <= PEAK_MARKS; i++)
		json_cstring(j, peak_source_name((enum peak_source)i));
	json_array_end(j);
	json_key(j, "notes");
	json_array(j);
	for (unsigned int bit = 1; record_note_name((enum record_note)bit); bit <<= 1)
		json_cstring(j, record_note_name((enum record_note)bit));
	json_array_end(j);
}

/* What has no row of its own; its peaks are not larger than the rows'. */
static void write_others(const struct html_rows *r, size_t n_rows, struct json *j)
{
	int64_t alive = 0;

	json_key(j, "others");
	json_open(j);
	json_key(j, "processes");
	json_int(j, r->n - (int64_t)n_rows);
	json_key(j, "cpu_us");
	span_us(j, r->cpu_ns);
	json_key(j, "end_us");
	time_us(j, r->end_ns);
	json_key(j, "alive");
	json_array(j);
	for (size_t i = 0; i < HTML_BUCKETS && r->n > (int64_t)n_rows; i++) {
		alive += r->alive[i];
		json_int(j, alive);
	}
	json_array_end(j);
	json_close(j);
}

int html_rows_write(struct html_rows *r, struct json *j)
{
	struct text *names = NULL, *arguments = NULL;
	size_t n, most;
	struct process **rows = choose(r, &n);
	int err = rows ? 0 : -ENOMEM;

	if (err)
		return err;
	most = arguments_most(rows, n);
	json_key(j, "processes");
	json_open(j);
	write_words(j);
	json_key(j, "rows");
	json_array(j);
	for (size_t i = 0; !err && i < n; i++) {
		const struct process *p = rows[i];
		size_t len = arguments_len(p, most);
		int64_t name = number_of(&names, p->comm, strnlen(p->comm, sizeof(p->comm)));
		int64_t argv = p->argv_known ? number_of(&arguments, p->argv, len) : UNKNOWN;

		if (name == -ENOMEM || argv == -ENOMEM)
			err = -ENOMEM;
		else
			write_row(j, p, name, argv, len < p->argv_len);
		count_alive(r, p, -1);
		add_known(&r->cpu_ns, p->cpu_ns, -1);
	}
	json_array_end(j);
	write_names(j, names);
	write_arguments(j, arguments);
	json_close(j);
	write_others(r, n, j);
	texts_done(&names);
	texts_done(&arguments);
	free(rows);
	return err;
}
