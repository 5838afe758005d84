// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_procfs - the /proc parsers on fixed text (SPEC 3.6, CASES 27)
 */
#include "procfs/parse.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include "tap.h"

#define COUNT(a)   (sizeof(a) / sizeof((a)[0]))
#define BYTES(lit) (lit), sizeof(lit) - 1
#define UNTOUCHED  0xa5

/* A copy of exactly @len bytes, so that AddressSanitizer sees a read past the end. */
static char *exact(const char *text, size_t len)
{
	char *copy = malloc(len ? len : 1);

	if (!copy)
		exit(99);
	memcpy(copy, text, len);
	return copy;
}

static bool untouched(const void *ret, size_t size)
{
	const unsigned char *p = ret;

	for (size_t i = 0; i < size; i++) {
		if (p[i] != UNTOUCHED)
			return false;
	}
	return true;
}

/* Calls @parse on an exact copy; true when it succeeded and the fields can be compared. */
#define PARSED(parse, row, got)                                                      \
	({                                                                           \
		char *copy_ = exact((row)->text, (row)->len);                        \
		int err_;                                                            \
                                                                                     \
		memset(&(got), UNTOUCHED, sizeof(got));                              \
		err_ = parse(copy_, (row)->len, &(got));                             \
		free(copy_);                                                         \
		EQ_I(err_, (row)->err, #parse ": %s: result", (row)->label);         \
		if (err_)                                                            \
			OK(untouched(&(got), sizeof(got)), #parse ": %s: untouched", \
			   (row)->label);                                            \
		!err_;                                                               \
	})

/* Fields 4 to 22 and on; 14 to 17 are 7 8 9 10, 20 is 3, 22 is 5000. */
#define TAIL       " 1 2 2 0 -1 4194304 100 0 0 0 7 8 9 10 20 0 3 0 5000 8192000 400\n"
#define NAME_63    "123456789012345678901234567890123456789012345678901234567890123"
#define FIELDS(st) st, 1, 7, 8, 9, 10, 3, 5000

static const struct stat_row {
	const char *label, *text;
	size_t len;
	int err;
	int32_t pid;
	const char *comm;
	char state;
	int32_t ppid;
	uint64_t utime, stime;
	int64_t cutime, cstime, threads;
	uint64_t start;
} stats[] = {
	{ "plain", BYTES("12 (sh) S" TAIL), 0, 12, "sh", FIELDS('S') },
	{ "3.6 brackets and spaces", BYTES("12 ((my (odd) name)) S" TAIL), 0, 12, "(my (odd) name)",
	  FIELDS('S') },
	{ "CASES 27 fields in the name", BYTES("12 (a) R 1 () Z" TAIL), 0, 12, "a) R 1 (",
	  FIELDS('Z') },
	{ "a whole line in the name", BYTES("12 (x) S 1 2 3) T" TAIL), 0, 12, "x) S 1 2 3",
	  FIELDS('T') },
	{ "CASES 27 newline in the name", BYTES("12 (a\nb) I" TAIL), 0, 12, "a\nb", FIELDS('I') },
	{ "CASES 27 quote, backslash, 0xff, escape", BYTES("12 (\"\\\xff\x1b[m) t" TAIL), 0, 12,
	  "\"\\\xff\x1b[m", FIELDS('t') },
	{ "empty name", BYTES("12 () S" TAIL), 0, 12, "", FIELDS('S') },
	{ "name of 63", BYTES("12 (" NAME_63 ") S" TAIL), 0, 12, NAME_63, FIELDS('S') },
	{ "name of 64 is cut", BYTES("12 (" NAME_63 "4) S" TAIL), 0, 12, NAME_63, FIELDS('S') },
	{ "limits",
	  BYTES("2147483647 (sh) S 2147483647 0 0 0 0 0 0 0 0 0 18446744073709551615 "
		"18446744073709551615 -9223372036854775808 9223372036854775807 0 0 -1 0 "
		"18446744073709551615\n"),
	  0, 2147483647, "sh", 'S', 2147483647, UINT64_MAX, UINT64_MAX, INT64_MIN, INT64_MAX, -1,
	  UINT64_MAX },
	{ .label = "empty", BYTES(""), .err = -EBADMSG },
	{ .label = "pid only", BYTES("12"), .err = -EBADMSG },
	{ .label = "no name", BYTES("12 sh S" TAIL), .err = -EBADMSG },
	{ .label = "name not closed", BYTES("12 (sh S" TAIL), .err = -EBADMSG },
	{ .label = "closed before it opens", BYTES("12 )( S" TAIL), .err = -EBADMSG },
	{ .label = "cut behind the name", BYTES("12 (sh)"), .err = -EBADMSG },
	{ .label = "cut behind the state", BYTES("12 (sh) S"), .err = -EBADMSG },
	{ .label = "cut off in field 15",
	  BYTES("12 (sh) S 1 1 1 0 -1 0 0 0 0 0 7"),
	  .err = -EBADMSG },
	{ .label = "cut off before field 22",
	  BYTES("12 (sh) S 1 1 1 0 -1 0 0 0 0 0 7 8 9 10 20 0 3 0 "),
	  .err = -EBADMSG },
	{ .label = "cut off inside field 22",
	  BYTES("12 (sh) S 1 1 1 0 -1 0 0 0 0 0 7 8 9 10 20 0 3 0 50"),
	  .err = -EBADMSG },
	{ .label = "no state", BYTES("12 (sh) 1" TAIL), .err = -EBADMSG },
	{ .label = "state of two letters", BYTES("12 (sh) SS" TAIL), .err = -EBADMSG },
	{ .label = "two spaces", BYTES("12 (sh)  S" TAIL), .err = -EBADMSG },
	{ .label = "empty field",
	  BYTES("12 (sh) S 1  2 0 -1 0 0 0 0 0 7 8 9 10 20 0 3 0 5000 1\n"),
	  .err = -EBADMSG },
	{ .label = "pid past 2^31", BYTES("2147483648 (sh) S" TAIL), .err = -EBADMSG },
	{ .label = "negative pid", BYTES("-12 (sh) S" TAIL), .err = -EBADMSG },
	{ .label = "space before", BYTES(" 12 (sh) S" TAIL), .err = -EBADMSG },
	{ .label = "utime past 2^64",
	  BYTES("12 (sh) S 1 1 1 0 -1 0 0 0 0 0 18446744073709551616 8 9 10 20 0 3 0 5000 1\n"),
	  .err = -EBADMSG },
	{ .label = "utime far past 2^64",
	  BYTES("12 (sh) S 1 1 1 0 -1 0 0 0 0 0 99999999999999999999 8 9 10 20 0 3 0 5000 1\n"),
	  .err = -EBADMSG },
	{ .label = "utime negative",
	  BYTES("12 (sh) S 1 1 1 0 -1 0 0 0 0 0 -7 8 9 10 20 0 3 0 5000 1\n"),
	  .err = -EBADMSG },
	{ .label = "cutime past 2^63",
	  BYTES("12 (sh) S 1 1 1 0 -1 0 0 0 0 0 7 8 9223372036854775808 10 20 0 3 0 5000 1\n"),
	  .err = -EBADMSG },
	{ .label = "cutime past -2^63",
	  BYTES("12 (sh) S 1 1 1 0 -1 0 0 0 0 0 7 8 -9223372036854775809 10 20 0 3 0 5000 1\n"),
	  .err = -EBADMSG },
	{ .label = "cutime a bare minus",
	  BYTES("12 (sh) S 1 1 1 0 -1 0 0 0 0 0 7 8 - 10 20 0 3 0 5000 1\n"),
	  .err = -EBADMSG },
	{ .label = "letters in a number",
	  BYTES("12 (sh) S 1 1 1 0 -1 0 0 0 0 0 7x 8 9 10 20 0 3 0 5000 1\n"),
	  .err = -EBADMSG },
};

static void stat_cases(void)
{
	for (const struct stat_row *r = stats; r < stats + COUNT(stats); r++) {
		struct proc_stat got;

		if (!PARSED(proc_stat_parse, r, got))
			continue;
		EQ_I(got.pid, r->pid, "stat: %s: pid", r->label);
		EQ_S(got.comm, r->comm, "stat: %s: comm", r->label);
		EQ_I(got.state, r->state, "stat: %s: state", r->label);
		EQ_I(got.ppid, r->ppid, "stat: %s: ppid", r->label);
		EQ_I(got.utime_ticks, r->utime, "stat: %s: utime", r->label);
		EQ_I(got.stime_ticks, r->stime, "stat: %s: stime", r->label);
		EQ_I(got.cutime_ticks, r->cutime, "stat: %s: cutime", r->label);
		EQ_I(got.cstime_ticks, r->cstime, "stat: %s: cstime", r->label);
		EQ_I(got.threads, r->threads, "stat: %s: threads", r->label);
		EQ_I(got.start_ticks, r->start, "stat: %s: start", r->label);
	}
}

/* statm and schedstat: three numbers. */
static const struct numbers_row {
	const char *label, *text;
	size_t len;
	int err;
	uint64_t v[3];
} numbers[] = {
	{ "statm", BYTES("2000 400 300 5 0 90 0\n"), 0, { 2000, 400, 300 } },
	{ "schedstat", BYTES("3724965 643878 3\n"), 0, { 3724965, 643878, 3 } },
	{ "zeros", BYTES("0 0 0 0 0 0 0\n"), 0, { 0, 0, 0 } },
	{ "limits",
	  BYTES("18446744073709551615 4294967296 0\n"),
	  0,
	  { UINT64_MAX, 1ULL << 32, 0 } },
	{ .label = "empty", BYTES(""), .err = -EBADMSG },
	{ .label = "newline only", BYTES("\n"), .err = -EBADMSG },
	{ .label = "two numbers", BYTES("1 2\n"), .err = -EBADMSG },
	{ .label = "cut off inside the third", BYTES("1 2 3"), .err = -EBADMSG },
	{ .label = "past 2^64", BYTES("18446744073709551616 2 3\n"), .err = -EBADMSG },
	{ .label = "negative", BYTES("1 -2 3\n"), .err = -EBADMSG },
	{ .label = "letters", BYTES("1 2 3x\n"), .err = -EBADMSG },
	{ .label = "two spaces", BYTES("1  2 3\n"), .err = -EBADMSG },
};

static void number_cases(void)
{
	for (const struct numbers_row *r = numbers; r < numbers + COUNT(numbers); r++) {
		struct proc_statm statm;
		struct proc_schedstat sched;

		if (PARSED(proc_statm_parse, r, statm)) {
			EQ_I(statm.size_pages, r->v[0], "statm: %s: size", r->label);
			EQ_I(statm.resident_pages, r->v[1], "statm: %s: resident", r->label);
			EQ_I(statm.shared_pages, r->v[2], "statm: %s: shared", r->label);
		}
		if (PARSED(proc_schedstat_parse, r, sched)) {
			EQ_I(sched.cpu_ns, r->v[0], "schedstat: %s: cpu", r->label);
			EQ_I(sched.wait_ns, r->v[1], "schedstat: %s: wait", r->label);
			EQ_I(sched.slices, r->v[2], "schedstat: %s: slices", r->label);
		}
	}
}

#define SWITCHES "voluntary_ctxt_switches:\t12\nnonvoluntary_ctxt_switches:\t34\n"
#define KIB(n)   ((n)*1024LL)
#define NO_VM    -1, -1, -1, -1, -1, -1, -1, -1

static const struct status_row {
	const char *label, *text;
	size_t len;
	int err;
	struct proc_status want;
} statuses[] = {
	{ "live",
	  BYTES("Name:\tcat\nUmask:\t0022\nState:\tR (running)\nTgid:\t9\nVmPeak:\t    3060 kB\n"
		"VmSize:\t    3000 kB\nVmLck:\t       0 kB\nVmHWM:\t    1784 kB\nVmRSS:\t    1700 "
		"kB\n"
		"RssAnon:\t     112 kB\nRssFile:\t    1588 kB\nRssShmem:\t       0 kB\n"
		"VmData:\t     360 kB\nVmSwap:\t       8 kB\nHugetlbPages:\t    2048 kB\n"
		"CoreDumping:\t0\nThreads:\t4\nSigQ:\t0/96364\n" SWITCHES),
	  0,
	  { KIB(3060), KIB(1784), KIB(1700), KIB(112), KIB(1588), 0, KIB(8), KIB(2048), 4, 12, 34,
	    'R' } },
	{ "0.3 zombie: no Vm lines",
	  BYTES("Name:\tsleep\nState:\tZ (zombie)\nTgid:\t9\nThreads:\t1\n" SWITCHES),
	  0,
	  { NO_VM, 1, 12, 34, 'Z' } },
	{ "0.3 state only", BYTES("State:\tX (dead)\n"), 0, { NO_VM, -1, -1, -1, 'X' } },
	{ "keys inside a name are no lines",
	  BYTES("Name:\tVmRSS:\t 7 kB State:\tZ\nState:\tS (sleeping)\n"),
	  0,
	  { NO_VM, -1, -1, -1, 'S' } },
	{ "largest size",
	  BYTES("State:\tS (sleeping)\nVmPeak:\t9007199254740991 kB\n"),
	  0,
	  { KIB(9007199254740991), -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 'S' } },
	{ .label = "empty", BYTES(""), .err = -EBADMSG },
	{ .label = "no state", BYTES("Name:\tcat\nThreads:\t1\n"), .err = -EBADMSG },
	{ .label = "state cut off", BYTES("State:\t\n"), .err = -EBADMSG },
	{ .label = "cut off inside a number",
	  BYTES("State:\tS (x)\nVmRSS:\t 17"),
	  .err = -EBADMSG },
	{ .label = "cut off inside another line",
	  BYTES("State:\tS (x)\nCpus_allowed:\tff"),
	  .err = -EBADMSG },
	{ .label = "no unit", BYTES("State:\tS (x)\nVmRSS:\t 17\n"), .err = -EBADMSG },
	{ .label = "another unit", BYTES("State:\tS (x)\nVmRSS:\t 17 MB\n"), .err = -EBADMSG },
	{ .label = "behind the unit", BYTES("State:\tS (x)\nVmRSS:\t 17 kB \n"), .err = -EBADMSG },
	{ .label = "no number", BYTES("State:\tS (x)\nVmRSS:\t kB\n"), .err = -EBADMSG },
	{ .label = "negative", BYTES("State:\tS (x)\nVmRSS:\t -1 kB\n"), .err = -EBADMSG },
	{ .label = "size past 2^63",
	  BYTES("State:\tS (x)\nVmPeak:\t9007199254740992 kB\n"),
	  .err = -EBADMSG },
	{ .label = "number past 2^64",
	  BYTES("State:\tS (x)\nVmPeak:\t18446744073709551616 kB\n"),
	  .err = -EBADMSG },
	{ .label = "letters in a number", BYTES("State:\tS (x)\nThreads:\t1x\n"), .err = -EBADMSG },
};

static void status_cases(void)
{
	for (const struct status_row *r = statuses; r < statuses + COUNT(statuses); r++) {
		const struct proc_status *want = &r->want;
		struct proc_status got;

		if (!PARSED(proc_status_parse, r, got))
			continue;
		EQ_I(got.vm_peak_bytes, want->vm_peak_bytes, "status: %s: VmPeak", r->label);
		EQ_I(got.vm_hwm_bytes, want->vm_hwm_bytes, "status: %s: VmHWM", r->label);
		EQ_I(got.vm_rss_bytes, want->vm_rss_bytes, "status: %s: VmRSS", r->label);
		EQ_I(got.rss_anon_bytes, want->rss_anon_bytes, "status: %s: RssAnon", r->label);
		EQ_I(got.rss_file_bytes, want->rss_file_bytes, "status: %s: RssFile", r->label);
		EQ_I(got.rss_shmem_bytes, want->rss_shmem_bytes, "status: %s: RssShmem", r->label);
		EQ_I(got.vm_swap_bytes, want->vm_swap_bytes, "status: %s: VmSwap", r->label);
		EQ_I(got.hugetlb_bytes, want->hugetlb_bytes, "status: %s: HugetlbPages", r->label);
		EQ_I(got.threads, want->threads, "status: %s: Threads", r->label);
		EQ_I(got.voluntary_switches, want->voluntary_switches, "status: %s: voluntary",
		     r->label);
		EQ_I(got.involuntary_switches, want->involuntary_switches,
		     "status: %s: nonvoluntary", r->label);
		EQ_I(got.state, want->state, "status: %s: state", r->label);
	}
}

static const struct kin_row {
	const char *label, *text;
	size_t len;
	int err;
	struct proc_kin want;
} kins[] = {
	{ "a thread that is traced",
	  BYTES("Name:\ta\nState:\tt (tracing stop)\nTgid:\t7\nNgid:\t0\nPid:\t9\nPPid:\t4\n"
		"TracerPid:\t12\nUid:\t0\t0\t0\t0\n"),
	  0,
	  { 7, 4, 12 } },
	{ "keys inside a name are no lines",
	  BYTES("Name:\tTgid:\t1\nTgid:\t7\nPPid:\t0\nTracerPid:\t0\n"),
	  0,
	  { 7, 0, 0 } },
	{ .label = "empty", BYTES(""), .err = -EBADMSG },
	{ .label = "one is missing", BYTES("Tgid:\t7\nPPid:\t0\n"), .err = -EBADMSG },
	{ .label = "cut off", BYTES("Tgid:\t7\nPPid:\t0\nTracerPid:\t1"), .err = -EBADMSG },
	{ .label = "no number", BYTES("Tgid:\tx\nPPid:\t0\nTracerPid:\t1\n"), .err = -EBADMSG },
};

static const struct rollup_row {
	const char *label, *text;
	size_t len;
	int err;
	int64_t rss, pss;
} rollups[] = {
	{ "a kernel's",
	  BYTES("00400000-7ffe p 00000000 00:00 0    [rollup]\nRss:      1796 kB\nPss:   239 kB\n"
		"Pss_Dirty:   94 kB\nPss_Anon:   90 kB\nShared_Clean:  1500 kB\nSwapPss:  7 kB\n"),
	  0, KIB(1796), KIB(239) },
	{ "nothing resident", BYTES("Rss:  0 kB\nPss:  0 kB\n"), 0, 0, 0 },
	{ "CASES 2 no share told", BYTES("Rss:  5 kB\n"), 0, KIB(5), -1 },
	{ .label = "a share that is no number", BYTES("Rss:  5 kB\nPss: x kB\n"), .err = -EBADMSG },
	{ .label = "a share that was cut off", BYTES("Rss:  5 kB\nPss:  2"), .err = -EBADMSG },
	{ .label = "empty", BYTES(""), .err = -EBADMSG },
	{ .label = "no such line", BYTES("Pss:  7 kB\n"), .err = -EBADMSG },
	{ .label = "cut off", BYTES("Rss:  17"), .err = -EBADMSG },
	{ .label = "no unit", BYTES("Rss:  17\n"), .err = -EBADMSG },
};

static void kin_and_rollup_cases(void)
{
	for (const struct kin_row *r = kins; r < kins + COUNT(kins); r++) {
		struct proc_kin got;

		if (!PARSED(proc_kin_parse, r, got))
			continue;
		EQ_I(got.tgid, r->want.tgid, "kin: %s: tgid", r->label);
		EQ_I(got.ppid, r->want.ppid, "kin: %s: ppid", r->label);
		EQ_I(got.tracer_pid, r->want.tracer_pid, "kin: %s: tracer", r->label);
	}
	for (const struct rollup_row *r = rollups; r < rollups + COUNT(rollups); r++) {
		struct proc_rollup got;

		if (!PARSED(proc_rollup_parse, r, got))
			continue;
		EQ_I(got.rss_bytes, r->rss, "rollup: %s: rss", r->label);
		EQ_I(got.pss_bytes, r->pss, "rollup: %s: pss", r->label);
	}
}

static const struct io_row {
	const char *label, *text;
	size_t len;
	int err;
	struct proc_io want;
} ios[] = {
	{ "all",
	  BYTES("rchar: 8379\nwchar: 1403\nsyscr: 12\nsyscw: 1\nread_bytes: 4096\nwrite_bytes: 0\n"
		"cancelled_write_bytes: 512\n"),
	  0,
	  { 8379, 1403, 12, 1, 4096, 0, 512 } },
	{ "rchar above 2^32",
	  BYTES("rchar: 4294967297\nwchar: 9223372036854775807\nsyscr: 1\nsyscw: 1\n"),
	  0,
	  { 4294967297, INT64_MAX, 1, 1, -1, -1, -1 } },
	{ "0.3 one line only", BYTES("write_bytes: 7\n"), 0, { -1, -1, -1, -1, -1, 7, -1 } },
	{ "a line of a later kernel",
	  BYTES("rchar: 1\nnew_bytes: x\n"),
	  0,
	  { 1, -1, -1, -1, -1, -1, -1 } },
	{ .label = "empty", BYTES(""), .err = -EBADMSG },
	{ .label = "no known line", BYTES("new: 1\n"), .err = -EBADMSG },
	{ .label = "cut off inside a number", BYTES("rchar: 8379\nwchar: 14"), .err = -EBADMSG },
	{ .label = "cut off inside a key", BYTES("rchar: 8379\nwch"), .err = -EBADMSG },
	{ .label = "past 2^63", BYTES("rchar: 9223372036854775808\n"), .err = -EBADMSG },
	{ .label = "past 2^64", BYTES("rchar: 18446744073709551617\n"), .err = -EBADMSG },
	{ .label = "no number", BYTES("rchar: \n"), .err = -EBADMSG },
	{ .label = "a unit", BYTES("rchar: 1 kB\n"), .err = -EBADMSG },
};

static void io_cases(void)
{
	for (const struct io_row *r = ios; r < ios + COUNT(ios); r++) {
		const struct proc_io *want = &r->want;
		struct proc_io got;

		if (!PARSED(proc_io_parse, r, got))
			continue;
		EQ_I(got.rchar, want->rchar, "io: %s: rchar", r->label);
		EQ_I(got.wchar, want->wchar, "io: %s: wchar", r->label);
		EQ_I(got.syscr, want->syscr, "io: %s: syscr", r->label);
		EQ_I(got.syscw, want->syscw, "io: %s: syscw", r->label);
		EQ_I(got.read_bytes, want->read_bytes, "io: %s: read_bytes", r->label);
		EQ_I(got.write_bytes, want->write_bytes, "io: %s: write_bytes", r->label);
		EQ_I(got.cancelled_write_bytes, want->cancelled_write_bytes, "io: %s: cancelled",
		     r->label);
	}
}

static const struct vmstat_row {
	const char *label, *text;
	size_t len;
	int err;
	uint64_t stolen, swapped;
} vmstats[] = {
	{ "by kind and by reclaimer are not added, and by kind wins",
	  BYTES("nr_free_pages 906347\npswpin 1\npswpout 22\npgsteal_kswapd 100\npgsteal_direct "
		"20\n"
		"pgsteal_khugepaged 3\npgscan_kswapd 999\npgsteal_anon 50\npgsteal_file 90\n"),
	  0, 140, 22 },
	{ "before 5.8: by reclaimer", BYTES("pswpout 22\npgsteal_kswapd 100\npgsteal_direct 20\n"),
	  0, 120, 22 },
	{ "before 4.8: by zone",
	  BYTES("pswpout 0\npgsteal_kswapd_dma 1\npgsteal_kswapd_normal 2\npgsteal_direct_dma 4\n"),
	  0, 7, 0 },
	{ "measured zeros", BYTES("pswpout 0\npgsteal_anon 0\npgsteal_file 0\n"), 0, 0, 0 },
	{ "above 2^32", BYTES("pswpout 4294967297\npgsteal_anon 8589934592\n"), 0, 8589934592,
	  4294967297 },
	{ .label = "empty", BYTES(""), .err = -EBADMSG },
	{ .label = "no pswpout", BYTES("pgsteal_kswapd 100\n"), .err = -EBADMSG },
	{ .label = "no pgsteal", BYTES("pswpout 22\npswpin 3\n"), .err = -EBADMSG },
	{ .label = "cut off inside a number",
	  BYTES("pswpout 22\npgsteal_anon 5\npgsteal_file 9"),
	  .err = -EBADMSG },
	{ .label = "cut off inside a key",
	  BYTES("pswpout 22\npgsteal_kswapd 5\npgst"),
	  .err = -EBADMSG },
	{ .label = "no number", BYTES("pswpout 22\npgsteal_anon\n"), .err = -EBADMSG },
	{ .label = "no swap number", BYTES("pswpout \npgsteal_anon 5\n"), .err = -EBADMSG },
	{ .label = "letters", BYTES("pswpout 2x\npgsteal_anon 5\n"), .err = -EBADMSG },
	{ .label = "letters behind a sum", BYTES("pswpout 2\npgsteal_anon 5x\n"), .err = -EBADMSG },
	{ .label = "past 2^64",
	  BYTES("pswpout 2\npgsteal_anon 18446744073709551616\n"),
	  .err = -EBADMSG },
	{ .label = "sum past 2^64",
	  BYTES("pswpout 2\npgsteal_anon 18446744073709551615\npgsteal_file 1\n"),
	  .err = -EBADMSG },
};

static void vmstat_cases(void)
{
	for (const struct vmstat_row *r = vmstats; r < vmstats + COUNT(vmstats); r++) {
		struct proc_vmstat got;

		if (!PARSED(proc_vmstat_parse, r, got))
			continue;
		EQ_I(got.stolen_pages, r->stolen, "vmstat: %s: stolen", r->label);
		EQ_I(got.swapped_out_pages, r->swapped, "vmstat: %s: swapped out", r->label);
	}
}

/* Every prefix of a line is refused until the delimiter behind the last field that is read. */
static void every_cut(void)
{
	static const char line[] = "12 (a) R 1 () Z" TAIL;
	const char *last = strstr(line, " 5000 ");
	size_t need = last ? (size_t)(last - line) + strlen(" 5000 ") : 0, bad = 0;

	for (size_t len = 0; len < sizeof(line); len++) {
		char *copy = exact(line, len);
		struct proc_stat got;
		int err;

		memset(&got, UNTOUCHED, sizeof(got));
		err = proc_stat_parse(copy, len, &got);
		bad += err != (len < need ? -EBADMSG : 0);
		bad += err && !untouched(&got, sizeof(got));
		free(copy);
	}
	EQ_I(bad, 0, "stat: every cut before byte %zu is refused", need);
}

int main(void)
{
	stat_cases();
	number_cases();
	status_cases();
	kin_and_rollup_cases();
	io_cases();
	vmstat_cases();
	every_cut();
	return tap_done();
}
