// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What Linux never counts (%D %K %W %X %k %p %r %s %t) is 0 as in GNU time, so that what reads its
 * reports goes on working.
 */
#include "report/timeformat.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cursor.h"
#include "report/gather.h"
#include "report/lookup.h"
#include "report/text.h"
#include "units.h"

#define NS_PER_CS      (NS_PER_S / 100)
#define BLOCK_BYTES    512 /* ru_inblock counts these */
#define NEVER_COUNTED  "DKWXkprst"
#define FIELD_NAME_MAX 256

const char timeformat_verbose[] = "\tCommand being timed: \"%C\"\n"
				  "\tUser time (seconds): %U\n"
				  "\tSystem time (seconds): %S\n"
				  "\tPercent of CPU this job got: %P\n"
				  "\tElapsed (wall clock) time (h:mm:ss or m:ss): %E\n"
				  "\tAverage shared text size (kbytes): %X\n"
				  "\tAverage unshared data size (kbytes): %D\n"
				  "\tAverage stack size (kbytes): %p\n"
				  "\tAverage total size (kbytes): %K\n"
				  "\tMaximum resident set size (kbytes): %M\n"
				  "\tAverage resident set size (kbytes): %t\n"
				  "\tMajor (requiring I/O) page faults: %F\n"
				  "\tMinor (reclaiming a frame) page faults: %R\n"
				  "\tVoluntary context switches: %w\n"
				  "\tInvoluntary context switches: %c\n"
				  "\tSwaps: %W\n"
				  "\tFile system inputs: %I\n"
				  "\tFile system outputs: %O\n"
				  "\tSocket messages sent: %s\n"
				  "\tSocket messages received: %r\n"
				  "\tSignals delivered: %k\n"
				  "\tPage size (bytes): %Z\n"
				  "\tExit status: %x";

const char timeformat_posix[] = "real %e\nuser %U\nsys %S";

static void put_harmless(FILE *out, const char *text, size_t len)
{
	size_t cap = 4 * len + 1;
	char *safe = malloc(cap);

	if (!safe)
		return;
	harmless_text(text, len, safe, cap);
	fputs(safe, out);
	free(safe);
}

static void put_command(FILE *out, const struct run_facts *f)
{
	if (!f->command) { /* --no-argv */
		const char *path = f->exe_path ? f->exe_path : "?";

		put_harmless(out, path, strlen(path));
		return;
	}
	for (char **arg = f->command; *arg; arg++) {
		if (arg != f->command)
			putc(' ', out);
		put_harmless(out, *arg, strlen(*arg));
	}
}

static void put_count(FILE *out, int64_t v)
{
	if (v < 0)
		putc('?', out);
	else
		fprintf(out, "%lld", (long long)v);
}

/* Cut, not rounded, as GNU time does. */
static void put_seconds(FILE *out, int64_t ns)
{
	if (ns < 0)
		putc('?', out);
	else
		fprintf(out, "%lld.%02d", (long long)(ns / NS_PER_S),
			(int)(ns % NS_PER_S / NS_PER_CS));
}

static void put_elapsed(FILE *out, int64_t ns)
{
	int64_t s = ns / NS_PER_S;

	if (ns < 0)
		putc('?', out);
	else if (s >= 3600)
		fprintf(out, "%lld:%02d:%02d", (long long)(s / 3600), (int)(s % 3600 / 60),
			(int)(s % 60));
	else
		fprintf(out, "%d:%02d.%02d", (int)(s / 60), (int)(s % 60),
			(int)(ns % NS_PER_S / NS_PER_CS));
}

/* In whole milliseconds; of what was shorter in microseconds. */
static void put_percent(FILE *out, const struct summary *s)
{
	const struct usage *u = &s->usage;
	int64_t unit = s->run.wall_ns >= NS_PER_MS ? NS_PER_MS : NS_PER_US;

	if (s->run.wall_ns < NS_PER_US || u->cpu_user_ns < 0 || u->cpu_system_ns < 0)
		fputs("?%", out);
	else
		fprintf(out, "%lld%%",
			(long long)((u->cpu_user_ns / unit + u->cpu_system_ns / unit) * 100 /
				    (s->run.wall_ns / unit)));
}

static void put_status(FILE *out, const struct run_facts *f)
{
	put_count(out, f->exit_signal > 0 ? 128 + f->exit_signal : f->exit_code);
}

/* Not what wait4 says where nobody saw it: that may be of the image before the exec, ours. */
static int64_t largest_kib(const struct summary *s)
{
	int64_t bytes = s->usage.peak_process_bytes;

	return bytes < 0 ? UNKNOWN : bytes / 1024;
}

/* False: no such specifier. */
static bool put_one(FILE *out, const struct summary *s, char c)
{
	const struct usage *u = &s->usage;
	int64_t unknown = UNKNOWN;

	switch (c) {
	case '%':
		return putc('%', out), true;
	case 'C':
		return put_command(out, &s->run), true;
	case 'E':
		return put_elapsed(out, s->run.wall_ns), true;
	case 'F':
		return put_count(out, u->major_faults), true;
	case 'I':
		return put_count(out,
				 u->io.read_bytes < 0 ? unknown : u->io.read_bytes / BLOCK_BYTES),
		       true;
	case 'M':
		return put_count(out, largest_kib(s)), true;
	case 'O':
		return put_count(out,
				 u->io.write_bytes < 0 ? unknown : u->io.write_bytes / BLOCK_BYTES),
		       true;
	case 'P':
		return put_percent(out, s), true;
	case 'R':
		return put_count(out, u->minor_faults), true;
	case 'S':
		return put_seconds(out, u->cpu_system_ns), true;
	case 'U':
		return put_seconds(out, u->cpu_user_ns), true;
	case 'Z':
		return put_count(out, s->env.page_size), true;
	case 'c':
		return put_count(out, u->involuntary_switches), true;
	case 'e':
		return put_seconds(out, s->run.wall_ns), true;
	case 'w':
		return put_count(out, u->voluntary_switches), true;
	case 'x':
		return put_status(out, &s->run), true;
	default:
		return c && strchr(NEVER_COUNTED, c) && (putc('0', out), true);
	}
}

/* A value of JSON, a text without its quotes. */
static void put_value(FILE *out, const char *json, size_t len)
{
	struct em_cursor c = { json, json + len };
	const char *text;
	char *bytes;
	size_t n;

	if (len == 4 && !memcmp(json, "null", 4)) {
		putc('?', out);
	} else if (!em_take_string(&c, &text, &n)) {
		put_harmless(out, json, len);
	} else {
		bytes = malloc(n + 1);
		if (!bytes)
			return;
		n = em_unescape(text, n, bytes, n);
		put_harmless(out, bytes, n);
		free(bytes);
	}
}

/* "{name}" at @at; how much of it was taken, 0: there is no such field. */
static size_t put_field(FILE *out, struct lookup *l, const char *at)
{
	const char *end = strchr(at, '}'), *value;
	size_t len;

	if (!end || !lookup_find(l, at + 1, (size_t)(end - at - 1), &value, &len))
		return 0;
	put_value(out, value, len);
	return (size_t)(end - at) + 1;
}

static const char *put_specifier(FILE *out, struct lookup *l, const char *at)
{
	size_t taken = *at == '{' ? put_field(out, l, at) : put_one(out, l->of, *at);

	if (taken)
		return at + taken;
	putc('?', out);
	if (*at)
		putc(*at++, out);
	return at;
}

static const char *put_escape(FILE *out, const char *at)
{
	switch (*at) {
	case 't':
		putc('\t', out);
		break;
	case 'n':
		putc('\n', out);
		break;
	case '\\':
		putc('\\', out);
		break;
	default:
		fputs("?\\", out);
		if (!*at)
			return at;
		putc(*at, out);
	}
	return at + 1;
}

int document_time(const struct summary *s, const char *format, bool own,
		  const struct document_sink *to)
{
	struct lookup l = lookup_of(s);
	struct gathered g;
	int err = gather_open(&g);

	if (err)
		return err;
	/* POSIX has three lines, whatever happened. */
	if (format != timeformat_posix)
		text_failure(g.f, "", s);
	while (*format)
		if (*format == '%')
			format = put_specifier(g.f, &l, format + 1);
		else if (*format == '\\')
			format = put_escape(g.f, format + 1);
		else
			putc(*format++, g.f);
	putc('\n', g.f);
	if (own) {
		text_warnings(g.f, s);
		text_lines(g.f, s);
	}
	lookup_free(&l);
	return gather_close(&g, 0, to);
}
