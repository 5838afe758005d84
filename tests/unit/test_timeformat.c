// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_timeformat - GNU time's formats and the status format (SPEC 5.2, 5.5)
 */
#include <stdlib.h>
#include <string.h>

#include "report/status.h"
#include "report/timeformat.h"
#include "tap.h"
#include "units.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static char text[16384];
static size_t len, pieces;

static int put(void *ctx, const char *data, size_t n)
{
	(void)ctx;
	if (n > sizeof(text) - 1 - len)
		return -1;
	memcpy(text + len, data, n);
	text[len += n] = '\0';
	pieces++;
	return 0;
}

static const struct document_sink to = { put, NULL };

static const char *timed(const struct summary *s, const char *format, bool own)
{
	len = pieces = 0;
	*text = '\0';
	return document_time(s, format, own, &to) ? NULL : text;
}

static char **words(size_t n, const char *const *from)
{
	char **to_words = calloc(n + 1, sizeof(char *));

	for (size_t i = 0; to_words && i < n; i++)
		to_words[i] = strdup(from[i]);
	return to_words;
}

static struct summary *known(void)
{
	static const char *const command[] = { "ls", "-l", "a b\n\\" };
	struct summary *s = summary_new();

	if (!s)
		abort();
	s->run.command = words(COUNT(command), command);
	s->run.id = strdup("7\x1b[m");
	s->run.exit_code = 0;
	s->run.pid = 10;
	s->run.wall_ns = 3 * NS_PER_S + 459999999;
	s->run.started_at_ns = 1360617474 * NS_PER_S + 900 * NS_PER_MS;
	s->run.labels = calloc(1, sizeof(*s->run.labels));
	s->run.n_labels = 1;
	s->run.labels[0] = (struct label){ strdup("a.b"), strdup("c\td") };
	s->usage.cpu_user_ns = 2 * NS_PER_S + 9999999;
	s->usage.cpu_system_ns = 1 * NS_PER_S + 999999999;
	s->usage.peak_process_bytes = 1023 * 1024 + 1023;
	s->usage.peak_lower_bytes = 5;
	s->usage.major_faults = 6;
	s->usage.minor_faults = 7;
	s->usage.voluntary_switches = 8;
	s->usage.involuntary_switches = 9;
	s->usage.io.read_bytes = 1023;
	s->usage.io.write_bytes = 1024;
	s->env.page_size = 16384;
	s->completeness.exact = 1;
	return s;
}

static const struct {
	const char *label, *format, *want;
} formats[] = {
	{ "L-40 all specifiers, the first half", "%% %C|%D %E %F %I %K %M %O %P %R %S",
	  "% ls -l a b\\x0a\\|0 0:03.45 6 1 0 1023 2 115% 7 1.99\n" },
	{ "L-40 all specifiers, the second half", "%U %W %X %Z %c %e %k %p %r %s %t %w %x",
	  "2.00 0 0 16384 9 3.45 0 0 0 0 0 8 0\n" },
	{ "escapes", "a\\tb\\nc\\\\d", "a\tb\nc\\d\n" },
	{ "an unknown escape", "\\q\\", "?\\q?\\\n" },
	{ "an unknown specifier", "%q%y", "?q?y\n" },
	{ "a % at the end", "100%", "100?\n" },
	{ "nothing", "", "\n" },
	{ "bytes that are no specifier stay", "\x1b\xff", "\x1b\xff\n" },
	{ "a field of usage", "%{peak_rss_bytes}", "5\n" },
	{ "a path", "%{usage.io.read_bytes}/%{run.pid}", "1023/10\n" },
	{ "a text, made safe", "%{id}", "7\\x1b[m\n" },
	{ "a label with a dot", "%{run.labels.a.b}", "c\\x09d\n" },
	{ "an element", "%{run.command.1}%{run.command.0}", "-lls\n" },
	{ "no such element", "%{run.command.3}", "?{run.command.3}\n" },
	{ "an array", "%{run.command}", "[\"ls\",\"-l\",\"a b\\n\\\\\"]\n" },
	{ "a flag", "%{exact}", "true\n" },
	{ "not known", "%{peak_pss_bytes}%{cwd}", "??\n" },
	{ "no such field", "%{peak}", "?{peak}\n" },
	{ "no name", "%{}", "?{}\n" },
	{ "not closed", "%{pid", "?{pid\n" },
	{ "no element of what is none", "%{run.pid.0}", "?{run.pid.0}\n" },
};

static const struct {
	const char *label;
	int64_t wall_ns;
	const char *want;
} times[] = {
	{ "less than a minute", 59 * NS_PER_S + 999999999, "0:59.99 59.99" },
	{ "an hour less a bit", 3600 * NS_PER_S - 1, "59:59.99 3599.99" },
	{ "an hour", 3600 * NS_PER_S, "1:00:00 3600.00" },
	{ "more than a day", 90061 * NS_PER_S + 5, "25:01:01 90061.00" },
	{ "0", 0, "0:00.00 0.00" },
	{ "not known", UNKNOWN, "? ?" },
};

static const struct {
	const char *label;
	int64_t wall_ns, user_ns, system_ns;
	const char *want;
} percents[] = {
	{ "cut", NS_PER_S, 999 * NS_PER_MS, 0, "99%" },
	{ "each cut to ms", 1999 * NS_PER_US, 1999 * NS_PER_US, 999 * NS_PER_US, "100%" },
	{ "shorter than a ms: us", 500 * NS_PER_US, 400 * NS_PER_US, 300 * NS_PER_US, "140%" },
	{ "no time at all", 999, 5, 5, "?%" },
	{ "wall not known", UNKNOWN, 5, 5, "?%" },
	{ "CPU not known", NS_PER_S, UNKNOWN, UNKNOWN, "?%" },
	{ "years of 100 processors", 3600 * 24 * 3650 * NS_PER_S, INT64_MAX / 2, INT64_MAX / 2,
	  "2924%" },
};

static const struct {
	const char *label;
	int64_t code, signal;
	const char *want;
} ends[] = {
	{ "success", 0, UNKNOWN, "0\n" },
	{ "a code", 3, UNKNOWN, "Command exited with non-zero status 3\n3\n" },
	{ "a signal: 128 + n", UNKNOWN, 9, "Command terminated by signal 9\n137\n" },
	{ "not known", UNKNOWN, UNKNOWN, "?\n" },
};

static void gnu_time(void)
{
	struct summary *s = known(), *blank = summary_new();
	char want[64];

	for (size_t i = 0; i < COUNT(formats); i++)
		EQ_S(timed(s, formats[i].format, false), formats[i].want, "format: %s",
		     formats[i].label);
	for (size_t i = 0; i < COUNT(times); i++) {
		s->run.wall_ns = times[i].wall_ns;
		snprintf(want, sizeof(want), "%s\n", times[i].want);
		EQ_S(timed(s, "%E %e", false), want, "elapsed: %s", times[i].label);
	}
	for (size_t i = 0; i < COUNT(percents); i++) {
		s->run.wall_ns = percents[i].wall_ns;
		s->usage.cpu_user_ns = percents[i].user_ns;
		s->usage.cpu_system_ns = percents[i].system_ns;
		snprintf(want, sizeof(want), "%s\n", percents[i].want);
		EQ_S(timed(s, "%P", false), want, "percent: %s", percents[i].label);
	}
	for (size_t i = 0; i < COUNT(ends); i++) {
		s->run.exit_code = ends[i].code;
		s->run.exit_signal = ends[i].signal;
		EQ_S(timed(s, "%x", false), ends[i].want, "end: %s", ends[i].label);
	}
	EQ_S(timed(blank, "%C %E %F %I %M %O %P %R %S %U %Z %c %e %w %x", false),
	     "? ? ? ? ? ? ?% ? ? ? ? ? ? ? ?\n", "0.3 what is not known is never 0");
	blank->rusage.maxrss_bytes = 4096;
	EQ_S(timed(blank, "%M", false), "?\n", "U-44 never of an image from outside");
	blank->run.exe_path = strdup("/bin/ls");
	EQ_S(timed(blank, "%C", false), "/bin/ls\n", "--no-argv: the program alone");
	OK(strstr(timed(s, timeformat_verbose, true), "\n\tExit status: ?\nexitmeter: ") != NULL,
	   "-v: own lines behind the block");
	EQ_I(pieces, 1, "-v: in one piece");
	summary_free(s);
	summary_free(blank);
}

static struct process *row(int pid, int64_t ended_ns, const char *argv, size_t argv_len)
{
	struct process *p = process_blank(argv_len);

	if (!p)
		abort();
	p->pid = pid;
	p->started_ns = 0;
	p->ended_ns = ended_ns;
	p->peak_vm_bytes = 5004 * 1024;
	p->final_peak_bytes = 1284 * 1024;
	memcpy(p->comm, "x", 2);
	p->argv_known = argv != NULL;
	p->argv_len = argv_len;
	if (argv)
		memcpy(p->argv, argv, argv_len);
	return p;
}

struct list {
	struct process **at;
	size_t n;
};

static struct process *next(void *ctx)
{
	struct list *l = ctx;

	return l->n ? l->n--, process_ref(*l->at++) : NULL;
}

#define ROOT                               \
	"Date: Mon Feb 11 21:17:55 2013\n" \
	"Cmd:  ls -l a b\\x0a\\\n"         \
	"VmPeak:\t    5004 kB\n"           \
	"VmHWM:\t    1284 kB\n\n"

static const char *status(const struct summary *s, const struct document_rows *all)
{
	len = pieces = 0;
	*text = '\0';
	return document_status(s, all, &to) ? NULL : text;
}

static void status_format(void)
{
	struct summary *s = known();
	struct process *rows[] = { row(11, 200 * NS_PER_MS, "find\0-name\0*txt\0", 16),
				   row(12, TIME_NONE, NULL, 0), NULL };
	struct list l = { rows, 3 };
	const struct document_rows all = { next, &l };

	setenv("TZ", "UTC", 1);
	s->root = row(10, 500 * NS_PER_MS, "other", 6);
	rows[2] = s->root;
	s->aged_at_ns = s->run.started_at_ns + 10 * NS_PER_S;
	EQ_S(status(s, NULL), ROOT, "L-10 to L-13: the record of the root");
	rows[1]->peak_vm_bytes = UNKNOWN;
	EQ_S(status(s, &all),
	     "Date: Mon Feb 11 21:17:55 2013\nCmd:  find -name *txt\n"
	     "VmPeak:\t    5004 kB\nVmHWM:\t    1284 kB\n\n"
	     "Date: Mon Feb 11 21:18:04 2013\nCmd:  x\nVmHWM:\t    1284 kB\n\n" ROOT,
	     "L-16 all, the root last; 0.3 what is not known is left out");
	EQ_I(pieces, 1, "L-17 in one piece");
	s->root->peak_vm_bytes = 123456789ll * 1024;
	OK(strstr(status(s, NULL), "VmPeak:\t123456789 kB\n") != NULL, "a number too wide");
	process_unref(s->root);
	s->root = NULL;
	s->run.wall_ns = 500 * NS_PER_MS;
	EQ_S(status(s, NULL), "Date: Mon Feb 11 21:17:55 2013\nCmd:  ls -l a b\\x0a\\\n\n",
	     "the root's record was lost");
	process_unref(rows[0]);
	process_unref(rows[1]);
	summary_free(s);
}

int main(void)
{
	gnu_time();
	status_format();
	return tap_done();
}
