// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ioread MIB [FILE WRITTEN] - MIB through rchar by reads of 1 MiB from /dev/zero, then, if asked,
 * WRITTEN MiB into FILE with fsync
 *
 * Prints the kernel's own /proc/self/io, taken at the end, in its own words with "=" for ": ".
 */
#include "work.h"

static char buf[MIB];

static void read_zero(unsigned long mib)
{
	int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		die("/dev/zero");
	for (; mib; mib--)
		if (read(fd, buf, sizeof(buf)) != (ssize_t)sizeof(buf))
			die("read");
	close(fd);
}

static void write_file(const char *path, unsigned long mib)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	if (fd < 0)
		die(path);
	for (; mib; mib--)
		if (write(fd, buf, sizeof(buf)) != (ssize_t)sizeof(buf))
			die("write");
	if (fsync(fd))
		die("fsync");
	close(fd);
}

int main(int argc, char **argv)
{
	ssize_t n;
	int fd;

	if (argc != 2 && argc != 4)
		usage("MIB [FILE WRITTEN]");
	read_zero(number(argv[1]));
	if (argc == 4)
		write_file(argv[2], number(argv[3]));
	fd = open("/proc/self/io", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		end_now(0); /* a kernel without it: no word to compare with */
	n = read(fd, buf, sizeof(buf) - 1);
	if (n < 0)
		die("io");
	buf[n] = '\0';
	for (char *p = buf; (p = strstr(p, ": ")); p++) {
		p[0] = '=';
		memmove(p + 1, p + 2, strlen(p + 2) + 1);
	}
	dprintf(1, "%s", buf);
	end_now(0);
}
