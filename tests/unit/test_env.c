// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_env - the parsers behind the environment record, on fixed text (SPEC 3.4, 3.6)
 */
#include <errno.h>
#include <stdlib.h>

#include "procfs/cgroup.h"
#include "procfs/mountinfo.h"
#include "procfs/system.h"
#include "tap.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* A copy of exactly its bytes, so that AddressSanitizer sees a read past the end. */
static char *exact(const char *text, size_t *ret_len)
{
	char *copy;

	*ret_len = strlen(text);
	copy = malloc(*ret_len ? *ret_len : 1);
	if (!copy)
		exit(99);
	memcpy(copy, text, *ret_len);
	return copy;
}

static void free_all(char *a, char *b)
{
	free(a);
	free(b);
}

/* --- mounts -------------------------------------------------------------------------------- */

#define ROOT "20 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n"

static const struct mount_row {
	const char *label, *text, *path, *type;
} mounts[] = {
	{ "R-34 the root", ROOT, "/home", "ext4" },
	{ "R-34 the longest", ROOT "21 20 0:30 / /tmp rw - tmpfs tmpfs rw\n", "/tmp/x/y", "tmpfs" },
	{ "R-34 in any order", "21 20 0:30 / /tmp rw - tmpfs tmpfs rw\n" ROOT, "/tmp/x", "tmpfs" },
	{ "the mount point itself", ROOT "21 20 0:30 / /tmp rw - tmpfs tmpfs rw\n", "/tmp",
	  "tmpfs" },
	{ "/a is no prefix of /ab", ROOT "21 20 0:30 / /a rw - tmpfs tmpfs rw\n", "/ab", "ext4" },
	{ "nor /ab of /a", ROOT "21 20 0:30 / /ab rw - tmpfs tmpfs rw\n", "/a", "ext4" },
	{ "nested",
	  ROOT "21 20 0:30 / /a rw - tmpfs t rw\n22 21 0:31 / /a/b rw - xfs x rw\n"
	       "23 22 0:32 / /a/b/c rw - btrfs b rw\n",
	  "/a/b/d", "xfs" },
	{ "R-34 an escaped space", ROOT "21 20 0:30 / /my\\040work rw - xfs /dev/sdb rw\n",
	  "/my work/x", "xfs" },
	{ "a space is no end", ROOT "21 20 0:30 / /my\\040work rw - xfs /dev/sdb rw\n", "/my",
	  "ext4" },
	{ "tab, newline, backslash, hash",
	  ROOT "21 20 0:30 / /\\011\\012\\134\\043 rw - xfs /dev/sdb rw\n", "/\t\n\\#/x", "xfs" },
	{ "escaped backslash and digits", ROOT "21 20 0:30 / /a\\134040 rw - xfs /dev/sdb rw\n",
	  "/a\\040", "xfs" },
	{ "bytes of any kind", ROOT "21 20 0:30 / /\xff\xc3 rw - xfs x rw\n", "/\xff\xc3/y",
	  "xfs" },
	{ "mounted over: the last",
	  ROOT "21 20 0:30 / /a rw - tmpfs t rw\n22 21 0:31 / /a rw - xfs x rw\n", "/a/b", "xfs" },
	{ "the same in the other order",
	  "22 21 0:31 / /a rw - xfs x rw\n21 20 0:30 / /a rw - tmpfs t rw\n" ROOT, "/a/b", "xfs" },
	{ "longest, but hidden by a mount above it",
	  ROOT "21 20 0:30 / /a/b rw - tmpfs t rw\n22 20 0:31 / /a rw - xfs x rw\n", "/a/b/c",
	  "xfs" },
	{ "root mounted over the first root",
	  "1 1 0:1 / / rw - rootfs rootfs rw\n20 1 8:1 / / rw - ext4 /dev/sda1 rw\n", "/x",
	  "ext4" },
	{ "a subtree of a file system as the root",
	  "50 49 8:1 /jail / rw - ext4 /dev/sda1 rw\n51 50 0:4 / /proc rw - proc proc rw\n",
	  "/proc/1", "proc" },
	{ "no root in sight", "51 50 0:4 / /proc rw - proc proc rw\n", "/home", NULL },
	{ "no root, but the mount", "51 50 0:4 / /proc rw - proc proc rw\n", "/proc/1", "proc" },
	{ "optional fields: none, several",
	  "20 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
	  "21 20 0:30 / /a rw shared:1 master:2 propagate_from:3 unbindable - xfs x rw\n",
	  "/a", "xfs" },
	{ "fuse", ROOT "21 20 0:30 / /a rw - fuse.sshfs h:/x rw\n", "/a", "fuse.sshfs" },
	{ "no source", ROOT "21 20 0:30 / /a rw - tmpfs  rw\n", "/a", "tmpfs" },
	{ "a line without an end is none", ROOT "21 20 0:30 / /a rw - tmpfs t rw", "/a", "ext4" },
	{ "a malformed line is passed over", "x\n21 20\n20 1 8:1 / /\n" ROOT, "/a", "ext4" },
	{ "a circle ends",
	  "1 2 0:1 / / rw - a a rw\n2 1 0:1 / / rw - b b rw\n3 9 0:1 / / rw - c c rw\n", "/", "c" },
	{ "a relative path", ROOT, "home", NULL },
	{ "an unreachable one", ROOT, "(unreachable)/home", NULL },
	{ "an empty one", ROOT, "", NULL },
	{ "nothing mounted", "", "/", NULL },
};

static void test_mounts(void)
{
	for (size_t i = 0; i < COUNT(mounts); i++) {
		size_t len;
		char *text = exact(mounts[i].text, &len), *type = NULL;
		struct mount m;

		if (mountinfo_find(text, len, mounts[i].path, &m))
			type = mountinfo_plain(m.type);
		EQ_S(type, mounts[i].type, "mount: %s", mounts[i].label);
		free_all(text, type);
	}
}

static void test_below(void)
{
	static const struct {
		const char *path, *top, *want;
	} rows[] = {
		{ "/a/b", "/a", "/b" }, { "/a", "/a", "" },
		{ "/ab", "/a", NULL },  { "/a", "/ab", NULL },
		{ "/a", "/", "/a" },    { "/", "/", "/" },
		{ "/", "/a", NULL },    { "/a b/c", "/a\\040b", "/c" },
		{ "", "/a", NULL },
	};

	for (size_t i = 0; i < COUNT(rows); i++)
		EQ_S(mountinfo_below(rows[i].path,
				     (struct escaped){ rows[i].top, strlen(rows[i].top) }),
		     rows[i].want, "below: %s of %s", rows[i].path, rows[i].top);
}

static void test_of_type(void)
{
	static const char text[] =
		ROOT "30 20 0:28 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
		     "31 20 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n"
		     "32 20 0:30 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";
	struct mount m = { 0 };

	OK(mountinfo_of_type(text, sizeof(text) - 1, "cgroup", "cpu", &m), "an option");
	EQ_I(m.id, 31, "of this mount");
	OK(!mountinfo_of_type(text, sizeof(text) - 1, "cgroup", "cpua", &m),
	   "not by a part of one");
	OK(mountinfo_of_type(text, sizeof(text) - 1, "cgroup2", "", &m), "any option");
	EQ_I(m.id, 32, "of the type asked for, not of one that begins so");
	OK(!mountinfo_of_type(text, sizeof(text) - 1, "ext", "", &m), "not by a part of the type");
}

/* --- the machine --------------------------------------------------------------------------- */

static void test_load(void)
{
	static const struct {
		const char *text;
		int err;
		double want[3];
	} rows[] = {
		{ "3.51 3.29 12.05 5/127 24723\n", 0, { 3.51, 3.29, 12.05 } },
		{ "0.00 0.07 1234.50 1/2 3\n", 0, { 0, 0.07, 1234.5 } },
		{ "3.51 3.29 12.05", -EBADMSG, { 0 } },
		{ "3.5 3.29 12.05 1/2 3\n", -EBADMSG, { 0 } },
		{ "3,51 3,29 12,05 1/2 3\n", -EBADMSG, { 0 } },
		{ "-1.00 3.29 12.05 1/2 3\n", -EBADMSG, { 0 } },
		{ "99999999999999999999.00 0.00 0.00 1/2 3\n", -EBADMSG, { 0 } },
		{ "", -EBADMSG, { 0 } },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		double got[3] = { -7, -7, -7 };
		size_t len;
		char *text = exact(rows[i].text, &len);

		EQ_I(loadavg_parse(text, len, got), rows[i].err, "load %zu: result", i);
		for (int k = 0; k < 3; k++)
			OK(got[k] == (rows[i].err ? -7 : rows[i].want[k]), "load %zu: %d", i, k);
		free(text);
	}
}

static void test_ticks(void)
{
	static const struct {
		const char *label, *text;
		int err;
		int64_t busy, steal;
	} rows[] = {
		{ "H-2 a machine's",
		  "cpu  2273195 31475 924154 2122061 7129 0 21913 3087 0 0\ncpu0 1\n", 0,
		  2273195 + 31475 + 924154 + 0 + 21913, 3087 },
		{ "H-2 each field", "cpu  1 20 300 4000 50000 600000 7000000 80000000 0 0\n", 0,
		  7600321, 80000000 },
		{ "H-2 guests are in user and nice", "cpu  10 20 3 4 5 6 7 0 9 19\n", 0, 46, 0 },
		{ "no guests", "cpu  1 2 3 4 5 6 7 8\n", 0, 19, 8 },
		{ "measured zeros", "cpu  0 0 0 0 0 0 0 0 0 0\n", 0, 0, 0 },
		{ "no steal", "cpu  1 2 3 4 5 6 7\n", -EBADMSG, -7, -7 },
		{ "cut off", "cpu  1 2 3 4 5 6 7 8", -EBADMSG, -7, -7 },
		{ "one processor's", "cpu0 1 2 3 4 5 6 7 8\n", -EBADMSG, -7, -7 },
		{ "a word", "cpu  1 2 x 4 5 6 7 8\n", -EBADMSG, -7, -7 },
		{ "below 0", "cpu  1 2 3 4 5 6 -7 8\n", -EBADMSG, -7, -7 },
		{ "too large", "cpu  1 2 3 4 5 6 7 99999999999999999999\n", -EBADMSG, -7, -7 },
		{ "a sum that is too large", "cpu  9223372036854775807 1 0 0 0 0 0 0\n", -EBADMSG,
		  -7, -7 },
		{ "nothing", "", -EBADMSG, -7, -7 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct cpu_ticks got = { -7, -7 };
		size_t len;
		char *text = exact(rows[i].text, &len);

		EQ_I(cpu_ticks_parse(text, len, &got), rows[i].err, "%s: result", rows[i].label);
		EQ_I(got.busy, rows[i].busy, "%s: busy", rows[i].label);
		EQ_I(got.steal, rows[i].steal, "%s: steal", rows[i].label);
		free(text);
	}
}

static void test_memory(void)
{
	int64_t got = -7;

	EQ_I(memtotal_parse("MemTotal:       24684096 kB\nMemFree: 1 k", 41, &got), 0,
	     "a cut file");
	EQ_I(got, 24684096ll * 1024, "MemTotal");
	got = -7;
	EQ_I(memtotal_parse("MemTotal: 24684096 kB", 21, &got), -EBADMSG, "a cut line");
	EQ_I(memtotal_parse("MemTotal: 9223372036854775807 kB\n", 33, &got), -EBADMSG, "too much");
	EQ_I(memtotal_parse("MemFree: 24684096 kB\n", 21, &got), -EBADMSG, "another line");
	EQ_I(got, -7, "untouched");
}

static void test_words(void)
{
	static const struct {
		char *(*parse)(const char *text, size_t len);
		const char *text, *want;
	} rows[] = {
		{ cpu_model_parse,
		  "processor\t: 0\nvendor_id\t: X\nmodel\t\t: 1\nmodel name\t: AMD EPYC \nmodel "
		  "name\t: B\n",
		  "AMD EPYC" },
		{ cpu_model_parse, "processor\t: 0\ncpu\t\t: POWER9, altivec supported\n",
		  "POWER9, altivec supported" },
		{ cpu_model_parse, "cpu family\t: 25\ncpu MHz\t\t: 1\nmodel name\t: C\n", "C" },
		{ cpu_model_parse, "processor\t: 0\nBogoMIPS\t: 50.00\n", NULL },
		{ cpu_model_parse, "model name\t: \n", NULL },
		{ cpu_model_parse, "model name\t: cut", NULL },
		{ cpu_model_parse, "", NULL },
		{ choice_parse, "always [madvise] never\n", "madvise" },
		{ choice_parse, "[always] madvise never\n", "always" },
		{ choice_parse, "always madvise never\n", NULL },
		{ choice_parse, "always [madvise", NULL },
		{ choice_parse, "[]\n", NULL },
		{ choice_parse, "] [\n", NULL },
		{ word_parse, "performance\n", "performance" },
		{ word_parse, "systemd-nspawn", "systemd-nspawn" },
		{ word_parse, "a\x1b[31m", "a" },
		{ word_parse, "\n", NULL },
		{ word_parse, "", NULL },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		size_t len;
		char *text = exact(rows[i].text, &len), *got = rows[i].parse(text, len);

		EQ_S(got, rows[i].want, "word %zu", i);
		free_all(text, got);
	}
}

static void test_pressure(void)
{
	static const struct {
		const char *text;
		int err;
		int64_t some, full;
	} rows[] = {
		{ "some avg10=0.00 avg60=0.10 avg300=0.00 total=146991\n"
		  "full avg10=0.00 avg60=0.00 avg300=0.00 total=103975\n",
		  0, 146991000, 103975000 },
		{ "some avg10=0.00 avg60=0.00 avg300=0.00 total=0\n", 0, 0, -1 },
		{ "some avg10=0.00\n", -EBADMSG, -7, -7 },
		{ "some total=1 x\n", -EBADMSG, -7, -7 },
		{ "some avg10=0.00 total=9223372036854775807\n", -EBADMSG, -7, -7 },
		{ "some avg10=0.00 total=1", -EBADMSG, -7, -7 },
		{ "", -EBADMSG, -7, -7 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		int64_t some = -7, full = -7;
		size_t len;
		char *text = exact(rows[i].text, &len);

		EQ_I(pressure_parse(text, len, &some, &full), rows[i].err, "pressure %zu: result",
		     i);
		EQ_I(some, rows[i].some, "pressure %zu: some", i);
		EQ_I(full, rows[i].full, "pressure %zu: full", i);
		free(text);
	}
}

/* --- cgroups ------------------------------------------------------------------------------- */

static void test_cgroup_path(void)
{
#define V1 "8:pids:/p\n4:memory:/user.slice/a b\n2:cpu,cpuacct:/c:d\n1:name=systemd:/s\n0::/u\n"
	static const struct {
		const char *text, *controller, *want;
	} rows[] = {
		{ V1, "memory", "/user.slice/a b" },
		{ V1, "cpu", "/c:d" },
		{ V1, "cpuacct", "/c:d" },
		{ V1, "cp", NULL },
		{ V1, "", "/u" },
		{ "0::/\n", "memory", NULL },
		{ "0::/\n", "", "/" },
		{ "0::/../x\n", "", NULL },
		{ "0::/..\n", "", NULL },
		{ "0::/..x\n", "", "/..x" },
		{ "0::\n", "", NULL },
		{ "0::/a", "", NULL },
		{ "0:/a\n\n0::/b\n", "", "/b" },
		{ "", "", NULL },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		size_t len;
		char *text = exact(rows[i].text, &len);
		char *got = cgroup_path(text, len, rows[i].controller);

		EQ_S(got, rows[i].want, "cgroup path %zu", i);
		free_all(text, got);
	}
}

static void test_container(void)
{
	static const struct {
		const char *text, *want;
	} rows[] = {
		{ "0::/system.slice/docker-0123.scope\n", "docker" },
		{ "4:memory:/docker/0123\n", "docker" },
		{ "0::/machine.slice/libpod-0123.scope/container\n", "podman" },
		{ "0::/kubepods.slice/x\n", "kubernetes" },
		{ "0::/lxc.payload.web\n", "lxc" },
		{ "0::/user.slice/user-1000.slice/session-1.scope\n", NULL },
		{ "", NULL },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		size_t len;
		char *text = exact(rows[i].text, &len);

		EQ_S(cgroup_container(text, len), rows[i].want, "container %zu", i);
		free(text);
	}
}

#define TEXT(lit) (lit), sizeof(lit) - 1

static int64_t number_of(const char *text, size_t len)
{
	int64_t v = -1;

	OK(!number_parse(text, len, &v) || v == -1, "a refused number leaves all as it is");
	return v;
}

static void test_limits(void)
{
	EQ_D(cgroup_cpu_max(TEXT("50000 100000\n")), 0.5, 0, "cpu.max");
	EQ_D(cgroup_cpu_max(TEXT("max 100000\n")), -1, 0, "cpu.max without a limit");
	EQ_D(cgroup_cpu_max(TEXT("50000\n")), -1, 0, "cpu.max cut");
	EQ_D(cgroup_cpu_max(TEXT("50000 0\n")), -1, 0, "cpu.max of no period");
	EQ_D(cgroup_cpu_quota(TEXT("150000\n"), TEXT("100000\n")), 1.5, 0, "quota");
	EQ_D(cgroup_cpu_quota(TEXT("-1\n"), TEXT("100000\n")), -1, 0, "no quota");
	EQ_D(cgroup_cpu_quota(TEXT("150000\n"), TEXT("")), -1, 0, "no period");
	EQ_I(number_of(TEXT("63971328\n")), 63971328, "memory.peak");
	EQ_I(number_of(TEXT("0\n")), 0, "memory.peak of 0");
	EQ_I(number_of(TEXT("63971328")), -1, "memory.peak cut");
	EQ_I(number_of(TEXT("-5\n")), -1, "no size");
	EQ_I(number_of(TEXT("")), -1, "an empty file");
	EQ_I(number_of(TEXT("5\n6\n")), -1, "two numbers");
	EQ_I(number_of(TEXT("9223372036854775807\n")), INT64_MAX, "the largest");
	EQ_I(number_of(TEXT("9223372036854775808\n")), -1, "too large");
	EQ_I(cgroup_count(TEXT("low 0\nhigh 3\nmax 9\noom 2\noom_kill 1\noom_group_kill 7\n"),
			  "oom_kill"),
	     1, "memory.events");
	EQ_I(cgroup_count(TEXT("oom_kill_disable 1\nunder_oom 0\noom_kill 0\n"), "oom_kill"), 0,
	     "memory.oom_control");
	EQ_I(cgroup_count(TEXT("oom_kill_disable 1\nunder_oom 0\n"), "oom_kill"), -1,
	     "before Linux 4.13");
	EQ_I(cgroup_count(TEXT("oom_kill 12"), "oom_kill"), -1, "memory.events cut");
	EQ_I(cgroup_count(TEXT("oom_kill x\n"), "oom_kill"), -1, "no count");
	OK(cgroup_has_word(TEXT("cpuset cpu io memory pids\n"), "memory"), "a controller");
	OK(cgroup_has_word(TEXT("memory\n"), "memory"), "the only one");
	OK(cgroup_has_word(TEXT("memory"), "memory"), "without a newline");
	OK(!cgroup_has_word(TEXT("memory_recursiveprot cpu\n"), "memory"),
	   "another of its beginning");
	OK(!cgroup_has_word(TEXT("\n"), "memory"), "none");
	OK(!cgroup_has_word(TEXT(""), "memory"), "an empty list");
	EQ_I(cgroup_memory_max(TEXT("1073741824\n")), 1073741824, "memory.max");
	EQ_I(cgroup_memory_max(TEXT("0\n")), 0, "memory.max of 0 is one");
	EQ_I(cgroup_memory_max(TEXT("max\n")), -1, "memory.max without a limit");
	EQ_I(cgroup_memory_max(TEXT("9223372036854771712\n")), -1, "version 1 without a limit");
	EQ_I(cgroup_memory_max(TEXT("1073741824")), -1, "cut");
	EQ_I(cgroup_memory_max(TEXT("")), -1, "empty");
}

int main(void)
{
	test_mounts();
	test_below();
	test_of_type();
	test_load();
	test_ticks();
	test_memory();
	test_words();
	test_pressure();
	test_cgroup_path();
	test_container();
	test_limits();
	return tap_done();
}
