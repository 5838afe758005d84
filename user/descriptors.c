// SPDX-License-Identifier: GPL-2.0-or-later
#include "descriptors.h"

#include <fcntl.h>
#include <unistd.h>

/* Can neither be read nor written, needs no file system of its own, and exec closes it. */
static int open_nothing(void)
{
	return open("/", O_PATH | O_CLOEXEC);
}

void descriptors_reserve(void)
{
	int fd;

	do
		fd = open_nothing();
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

void descriptors_release(void)
{
	int nothing = open_nothing();

	if (nothing < 0)
		return;
	dup3(nothing, STDIN_FILENO, O_CLOEXEC);
	dup3(nothing, STDOUT_FILENO, O_CLOEXEC);
	close(nothing);
}

/* Of standard input and output. */
static struct {
	int fd, flags;
} kept[2] = { { -1, 0 }, { -1, 0 } };

void descriptors_keep(void)
{
	for (int i = 0; i < 2; i++) {
		kept[i].flags = fcntl(i, F_GETFD);
		kept[i].fd = fcntl(i, F_DUPFD_CLOEXEC, 3);
	}
}

void descriptors_restore(bool last)
{
	for (int i = 0; i < 2; i++)
		if (kept[i].fd >= 0)
			dup3(kept[i].fd, i, kept[i].flags & FD_CLOEXEC ? O_CLOEXEC : 0);
	if (last)
		descriptors_forget();
}

void descriptors_forget(void)
{
	for (int i = 0; i < 2; i++) {
		if (kept[i].fd >= 0)
			close(kept[i].fd);
		kept[i].fd = -1;
	}
}
