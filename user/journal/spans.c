// SPDX-License-Identifier: GPL-2.0-or-later
#include "journal/spans.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "log.h"

#define FAULTS_MAX 20   /* that are told */
#define WRITER_MS  2000 /* for somebody to write into a fifo */

/* The next line, cut at SPAN_LINE_MAX + 1; -1 at the end. */
static ssize_t next_line(FILE *in, char buf[SPAN_LINE_MAX + 1])
{
	size_t n = 0;
	int c;

	while ((c = getc_unlocked(in)) != EOF && c != '\n')
		if (n <= SPAN_LINE_MAX)
			buf[n++] = (char)c;
	return c == EOF && !n ? -1 : (ssize_t)n;
}

static int read_all(FILE *in, const char *path, int64_t started_at_ns, bool tell,
		    struct stretches *all)
{
	unsigned long long line = 0, faults = 0;
	char buf[SPAN_LINE_MAX + 1];
	ssize_t len;

	while ((len = next_line(in, buf)) >= 0) {
		const char *why = len > SPAN_LINE_MAX
					  ? "the line is too long"
					  : span_parse(buf, (size_t)len, started_at_ns, all);

		line++;
		if (why && faults++ < FAULTS_MAX && tell)
			log_line("%s:%llu: %s", path, line, why);
	}
	if (faults > FAULTS_MAX && tell)
		log_line("%s: and %llu more malformed lines", path, faults - FAULTS_MAX);
	if (ferror(in))
		return errno ? -errno : -EIO;
	return faults ? -EBADMSG : 0;
}

/* A fifo that nobody writes into is not waited for for ever. */
static int await_writer(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	int flags = fcntl(fd, F_GETFL);
	struct stat st;

	if (fstat(fd, &st))
		return -errno;
	if (S_ISFIFO(st.st_mode) && poll(&p, 1, WRITER_MS) <= 0)
		return -EAGAIN;
	return fcntl(fd, F_SETFL, flags & ~O_NONBLOCK) ? -errno : 0;
}

int spans_read(const char *path, int64_t started_at_ns, bool tell, struct stretches *all)
{
	FILE *in;
	int err, fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	err = await_writer(fd);
	in = err ? NULL : fdopen(fd, "r");
	if (!in) {
		err = err ? err : -errno;
		close(fd);
		return err;
	}
	err = read_all(in, path, started_at_ns, tell, all);
	fclose(in);
	return err;
}

static bool has(const struct stretches *all, const struct stretch *s)
{
	for (const struct stretch *a = all->first; a; a = a->next)
		if (a->started_ns == s->started_ns && !strcmp(a->name, s->name))
			return true;
	return false;
}

/* Those that were followed while the run went on. */
static void leave_out_known(struct stretches *all, const struct stretches *known)
{
	for (struct stretch *s = all->first, *next; s; s = next) {
		next = s->next;
		if (has(known, s))
			stretch_remove(all, s);
	}
}

int spans_add(const char *path, struct summary *s)
{
	struct stretches all = { 0 };
	int err = spans_read(path, s->run.started_at_ns, true, &all), shared;

	leave_out_known(&all, &s->attempts);
	if (err && err != -EBADMSG)
		log_line("cannot read '%s': %s", path, strerror(-err));
	shared = spans_attribute(s, &all, &s->attempts);
	if (shared) {
		log_line("'%s': %s", path, strerror(-shared));
		err = shared;
	}
	stretches_free(&all);
	return err;
}
