// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/progress.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "lib/exitmeter.h"
#include "output.h"
#include "units.h"

#define FIRST_NS    NS_PER_S /* what takes less shows nothing */
#define ROW_NS      (250 * NS_PER_MS)
#define LINES_SHARE 10 /* a line each tenth of the time so far */
#define ROWS_MIN    3
#define COLUMNS_MIN 20
#define TEXT_MAX    256

/* Save and restore the cursor with its attributes; xterm's control sequences (DEC's of the VT100).
 */
#define SAVE    "\0337"
#define RESTORE "\0338"
#define DOWN_UP "\033D\033[A" /* a row more below, if need be by scrolling; the column stays */

void progress_open(struct progress *p, const struct config *c)
{
	bool able = terminal_able(STDERR_FILENO);
	const char *term = getenv("TERM");
	bool dumb = !term || !*term || !strcmp(term, "dumb");

	*p = (struct progress){ .fd = -1, .next_ns = FIRST_NS, .rss_bytes = UNKNOWN };
	if (c->progress == WHEN_NEVER || (c->progress == WHEN_AUTO && (!able || c->quiet)))
		return;
	p->fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	if (p->fd >= 0)
		p->kind = isatty(p->fd) && !dumb ? PROGRESS_ROW : PROGRESS_LINES;
}

void progress_repeat(struct progress *p, long repeat, long repeats)
{
	p->repeat = repeat;
	p->repeats = repeats;
}

void progress_newest(struct progress *p, const char comm[EM_COMM_LEN])
{
	memcpy(p->newest, comm, sizeof(p->newest));
}

void progress_on_sample(struct progress *p, const struct tree_sample *s)
{
	p->rss_bytes = s->totals.lower_bytes;
	if (p->rss_bytes < 0 && s->scanned && s->scan.complete)
		p->rss_bytes = s->scan.net_rss_bytes;
}

int64_t progress_next_ns(const struct progress *p)
{
	return p->kind == PROGRESS_NONE ? INT64_MAX : p->next_ns;
}

/* --- the text ------------------------------------------------------------------------------- */

__attribute__((format(printf, 3, 4))) static void add(char *buf, size_t cap, const char *format,
						      ...)
{
	size_t len = strlen(buf);
	va_list args;

	va_start(args, format);
	vsnprintf(buf + len, cap - len, format, args);
	va_end(args);
}

static void add_elapsed(char *buf, size_t cap, int64_t ns)
{
	long long s = ns / NS_PER_S;

	if (s >= 3600)
		add(buf, cap, "%lld:%02lld:%02lld", s / 3600, s / 60 % 60, s % 60);
	else
		add(buf, cap, "%lld:%02lld", s / 60, s % 60);
}

void progress_text(const struct progress *p, const struct progress_facts *f, char *buf, size_t cap)
{
	char now[32], peak[32], name[4 * EM_COMM_LEN + 1];

	snprintf(buf, cap, "exitmeter: ");
	if (p->repeats)
		add(buf, cap, "run %ld of %ld, ", p->repeat, p->repeats);
	add_elapsed(buf, cap, f->elapsed_ns);
	em_bytes_text(f->rss_bytes, now, sizeof(now));
	em_bytes_text(f->peak_bytes, peak, sizeof(peak));
	if (*now)
		add(buf, cap, ", %s now", now);
	if (*peak)
		add(buf, cap, ", peak %s", peak);
	if (f->cpus >= 0)
		add(buf, cap, ", %.1f cores", f->cpus);
	if (f->processes >= 0)
		add(buf, cap, ", %lld process%s", (long long)f->processes,
		    f->processes == 1 ? "" : "es");
	plain_text(p->newest, strnlen(p->newest, sizeof(p->newest)), name, sizeof(name));
	if (*name)
		add(buf, cap, ", newest %s", name);
}

/* --- the row -------------------------------------------------------------------------------- */

/* May anything be written there now? */
static bool is_ours(const struct progress *p)
{
	return tcgetpgrp(p->fd) == getpgrp();
}

/* Somebody reads its keys one by one, and has the screen for himself. */
static bool is_taken(const struct progress *p)
{
	struct termios t;

	return tcgetattr(p->fd, &t) || !(t.c_lflag & ICANON);
}

static void put(const struct progress *p, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void put(const struct progress *p, const char *format, ...)
{
	char text[2 * TEXT_MAX];
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	/* In one piece.  Whether it can be is not worth a word. */
	if (n > 0 && n < (int)sizeof(text) && write(p->fd, text, (size_t)n) < 0)
		return;
}

static void give_back(struct progress *p)
{
	put(p, SAVE "\033[r\033[%d;1H\033[2K" RESTORE, p->rows);
	p->shown = false;
}

static void tell_row(struct progress *p, const struct progress_facts *f)
{
	struct winsize size;
	char text[TEXT_MAX];
	size_t width;

	if (!is_ours(p) || is_taken(p) || ioctl(p->fd, TIOCGWINSZ, &size))
		return;
	if (p->shown && size.ws_row != p->rows)
		give_back(p);
	if (size.ws_row < ROWS_MIN || size.ws_col < COLUMNS_MIN)
		return;
	width = size.ws_col < TEXT_MAX ? size.ws_col : TEXT_MAX;
	progress_text(p, f, text, width); /* one less: the last column would wrap */
	if (!p->shown)
		put(p, DOWN_UP);
	p->rows = size.ws_row;
	p->shown = true;
	/* The rows that scroll are set each time: a program may have changed them. */
	put(p, SAVE "\033[1;%dr\033[%d;1H\033[0m\033[2K%s" RESTORE, p->rows - 1, p->rows, text);
}

/* --- either --------------------------------------------------------------------------------- */

static void tell_line(const struct progress *p, const struct progress_facts *f)
{
	char text[TEXT_MAX];
	size_t len;

	progress_text(p, f, text, sizeof(text) - 1);
	len = strlen(text);
	text[len++] = '\n';
	write_all(p->fd, text, len);
}

void progress_tell(struct progress *p, const struct progress_facts *f)
{
	int64_t step = ROW_NS;

	if (p->kind == PROGRESS_ROW) {
		tell_row(p, f);
	} else if (p->kind == PROGRESS_LINES) {
		tell_line(p, f);
		step = f->elapsed_ns / LINES_SHARE;
		step = step < NS_PER_S ? NS_PER_S : step;
	}
	p->next_ns = f->elapsed_ns + step;
}

void progress_hide(struct progress *p)
{
	if (p->shown && is_ours(p))
		give_back(p);
}

void progress_close(struct progress *p)
{
	if (p->fd < 0)
		return;
	progress_hide(p);
	close(p->fd);
	*p = (struct progress){ .fd = -1 };
}
