// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/growing.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "units.h"

#define LOOK_MS 1000 /* where the file system does not tell of what is written */

struct growing {
	int fd, notify_fd, lifeline_fd;
	bool over;
};

/* What is written there has no meaning; its end has. */
static void drain(int fd, bool *ret_end)
{
	char bytes[4096];
	ssize_t n;

	while ((n = read(fd, bytes, sizeof(bytes))) > 0)
		;
	*ret_end = n == 0;
}

/* Until the file was written to, it is over, or @until_ns.  False: an error. */
static bool wait_until(struct growing *f, int64_t until_ns, bool for_writes)
{
	struct pollfd p[] = { { .fd = f->lifeline_fd, .events = POLLIN },
			      { .fd = for_writes ? f->notify_fd : -1, .events = POLLIN } };
	int64_t left_ns = until_ns - clock_ns(CLOCK_MONOTONIC);
	int ready = poll(p, 2, left_ns > 0 ? (int)(left_ns / NS_PER_MS) + 1 : 0);
	bool end;

	if (ready < 0)
		return errno == EINTR;
	if (p[0].revents & POLLIN)
		drain(f->lifeline_fd, &f->over);
	else if (p[0].revents)
		f->over = true;
	if (p[1].revents & POLLIN)
		drain(f->notify_fd, &end);
	return true;
}

bool growing_wait(void *growing, int ms)
{
	struct growing *f = growing;
	int64_t until_ns = clock_ns(CLOCK_MONOTONIC) + ms * NS_PER_MS;

	while (!f->over && clock_ns(CLOCK_MONOTONIC) < until_ns)
		if (!wait_until(f, until_ns, false))
			return false;
	return !f->over;
}

static ssize_t growing_read(void *cookie, char *buf, size_t size)
{
	struct growing *f = cookie;

	for (;;) {
		bool over = f->over; /* and then it was read to its end */
		ssize_t n = read(f->fd, buf, size);

		if (n > 0 || (n == 0 && over))
			return n;
		if (n < 0 && errno != EINTR)
			return -1;
		if (!over && !wait_until(f, clock_ns(CLOCK_MONOTONIC) + LOOK_MS * NS_PER_MS, true))
			return -1;
	}
}

static int growing_close(void *cookie)
{
	struct growing *f = cookie;

	close(f->fd);
	f->fd = -1;
	return 0;
}

void growing_free(struct growing *f)
{
	if (!f)
		return;
	if (f->fd >= 0)
		close(f->fd);
	if (f->notify_fd >= 0)
		close(f->notify_fd);
	free(f);
}

int growing_open(int fd, const char *path, int lifeline_fd, struct growing **ret, FILE **ret_file)
{
	const cookie_io_functions_t io = { .read = growing_read, .close = growing_close };
	struct growing *f = fd >= 0 ? calloc(1, sizeof(*f)) : NULL;
	int flags = fcntl(lifeline_fd, F_GETFL);

	if (fd < 0)
		return -EBADF;
	if (!f) {
		close(fd);
		return -ENOMEM;
	}
	*f = (struct growing){ .fd = fd, .lifeline_fd = lifeline_fd };
	/* Several may wait at it. */
	if (flags >= 0)
		fcntl(lifeline_fd, F_SETFL, flags | O_NONBLOCK);
	f->notify_fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (f->notify_fd >= 0)
		inotify_add_watch(f->notify_fd, path, IN_MODIFY);
	*ret_file = fopencookie(f, "r", io);
	if (!*ret_file) {
		growing_free(f);
		return -ENOMEM;
	}
	*ret = f;
	return 0;
}
