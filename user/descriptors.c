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
