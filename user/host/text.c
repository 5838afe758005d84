// SPDX-License-Identifier: GPL-2.0-or-later
#include "host/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#define CHUNK    ((size_t)16 * 1024)
#define TEXT_MAX ((size_t)16 << 20)

/* As much of @fd as @cap takes. */
static ssize_t fill(int fd, char *buf, size_t cap)
{
	size_t len = 0;
	ssize_t n;

	while (len < cap) {
		n = read(fd, buf + len, cap - len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			break;
		len += (size_t)n;
	}
	return (ssize_t)len;
}

ssize_t text_read(const char *path, char *buf, size_t cap)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = fill(fd, buf, cap);
	close(fd);
	return n;
}

char *text_read_all(const char *path, size_t *ret_len)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char *text = NULL, *more;
	size_t len = 0, cap = 0;
	ssize_t n = 0;

	if (fd < 0)
		return NULL;
	while (len == cap && cap < TEXT_MAX) {
		more = realloc(text, cap + CHUNK);
		n = more ? fill(fd, more + len, CHUNK) : -ENOMEM;
		text = more ? more : text;
		if (n < 0)
			break;
		cap += CHUNK;
		len += (size_t)n;
	}
	close(fd);
	if (n < 0) {
		free(text);
		return NULL;
	}
	*ret_len = len;
	return text;
}
