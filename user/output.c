// SPDX-License-Identifier: GPL-2.0-or-later
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "log.h"

static int descriptor_of(const char *name)
{
	char *end;
	long fd;

	if (!strcmp(name, "-"))
		return STDOUT_FILENO;
	if (strncmp(name, "fd:", 3) != 0)
		return -1;
	errno = 0;
	fd = strtol(name + 3, &end, 10);
	return errno || end == name + 3 || *end || fd < 0 || fd > INT_MAX ? -2 : (int)fd;
}

/* A folder where others make names too, as /tmp. */
static bool is_shared(const char *name)
{
	char *copy = strdup(name);
	struct stat st;
	bool shared = copy && !stat(dirname(copy), &st) && st.st_mode & S_IWOTH;

	free(copy);
	return shared;
}

/*
 * Where others make names too, one of theirs is not written: neither through a link nor as a file
 * that they made first and read; and what is made there is nobody else's to read.
 */
static int open_path(const char *name, int flags)
{
	bool shared = is_shared(name);
	struct stat st;
	int fd;

	fd = open(name, O_WRONLY | O_CREAT | O_CLOEXEC | flags | (shared ? O_NOFOLLOW : 0),
		  shared ? 0600 : 0666);
	if (fd < 0 || !shared)
		return fd;
	if (fstat(fd, &st) ||
	    (S_ISREG(st.st_mode) && st.st_uid != geteuid() && st.st_uid)) { /* root may */
		close(fd);
		errno = EACCES;
		return -1;
	}
	return fd;
}

int output_open(const char *name, bool append, struct output *ret)
{
	struct output o = { .name = name, .fd = -1 };
	struct stat st;
	int fd, flags;

	*ret = o;
	if (!name)
		return 0;
	fd = descriptor_of(name);
	if (fd >= 0) {
		/* A copy, so that the number given can be kept from the command. */
		o.fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
		if (o.fd >= 0) {
			flags = fcntl(o.fd, F_GETFL);
			if ((flags & O_ACCMODE) == O_RDONLY) {
				close(o.fd);
				o.fd = -1;
				errno = EBADF;
			} else if (fd > STDERR_FILENO) {
				fcntl(fd, F_SETFD, FD_CLOEXEC);
			}
		}
	} else if (fd == -1) {
		o.fd = open_path(name, append ? O_APPEND : 0);
		if (o.fd >= 0 && o.fd <= STDERR_FILENO) { /* the command had it closed */
			int high = fcntl(o.fd, F_DUPFD_CLOEXEC, 3);

			close(o.fd);
			o.fd = high;
		}
		o.replaces = o.fd >= 0 && !append && !fstat(o.fd, &st) && S_ISREG(st.st_mode);
	} else {
		errno = EINVAL;
	}
	if (o.fd < 0) {
		int err = errno;

		log_line("cannot write '%s': %s", name, strerror(err));
		return -err;
	}
	*ret = o;
	return 0;
}

/* As open would have made it. */
static int give_rights(int fd)
{
	mode_t mask = umask(0);

	umask(mask);
	return fchmod(fd, 0666 & ~mask);
}

int output_open_whole(const char *name, struct output *ret)
{
	struct output o = { .name = name, .fd = -1 };
	struct stat st;
	int err = 0;

	*ret = o;
	if (!output_is_path(name) || (!stat(name, &st) && !S_ISREG(st.st_mode)))
		return output_open(name, false, ret);
	/* A link stays one, but for one that others may have made. */
	o.whole = is_shared(name) ? NULL : realpath(name, NULL);
	if (!o.whole)
		o.whole = strdup(name);
	if (!o.whole || asprintf(&o.temporary, "%s.XXXXXX", o.whole) < 0) {
		free(o.whole);
		return -ENOMEM;
	}
	o.fd = mkostemp(o.temporary, O_CLOEXEC);
	if (o.fd < 0 || (!is_shared(o.whole) && give_rights(o.fd)))
		err = -errno;
	if (!err) {
		*ret = o;
		return 0;
	}
	log_line("cannot write '%s': %s", name, strerror(-err));
	if (o.fd >= 0) {
		unlink(o.temporary);
		close(o.fd);
	}
	free(o.temporary);
	free(o.whole);
	return err;
}

bool output_is_path(const char *name)
{
	return name && descriptor_of(name) == -1;
}

/* What is no file, as /dev/null, takes any number. */
static bool same_file(const char *a, const char *b)
{
	struct stat st, other;

	if (!output_is_path(a) || !output_is_path(b))
		return false;
	if (stat(a, &st) || stat(b, &other))
		return !strcmp(a, b);
	return S_ISREG(st.st_mode) && st.st_dev == other.st_dev && st.st_ino == other.st_ino;
}

bool outputs_differ(const char *const names[], size_t n)
{
	int to_stdout = 0;

	for (size_t i = 0; i < n; i++) {
		to_stdout += names[i] && descriptor_of(names[i]) == STDOUT_FILENO;
		for (size_t k = 0; k < i; k++)
			if (same_file(names[i], names[k])) {
				log_line("only one output can go to '%s'", names[i]);
				return false;
			}
	}
	if (to_stdout > 1)
		log_line("only one output can go to stdout");
	return to_stdout <= 1;
}

int output_may_replace(const char *name)
{
	char *copy = strdup(name);
	struct stat st;
	int err = 0;

	if (!copy)
		return -ENOMEM;
	if (!*name || access(dirname(copy), W_OK | X_OK))
		err = *name ? -errno : -ENOENT;
	else if (!stat(name, &st) && S_ISDIR(st.st_mode))
		err = -EISDIR;
	free(copy);
	if (err)
		log_line("cannot write '%s': %s", name, strerror(-err));
	return err;
}

void output_stderr(struct output *ret)
{
	*ret = (struct output){ .fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3) };
}

int output_begin(struct output *o)
{
	if (o->replaces && ftruncate(o->fd, 0))
		return -errno;
	o->replaces = false;
	return 0;
}

int output_put(void *output, const char *data, size_t len)
{
	struct output *o = output;
	int err = output_begin(o);

	return err ? err : write_all(o->fd, data, len);
}

/* It gets its name, or goes. */
static int end_whole(struct output *o, int err)
{
	if (!o->whole)
		return err;
	if (!err && rename(o->temporary, o->whole))
		err = -errno;
	if (err)
		unlink(o->temporary);
	free(o->whole);
	free(o->temporary);
	o->whole = o->temporary = NULL;
	return err;
}

int output_close(struct output *o, int err)
{
	if (o->fd >= 0 && close(o->fd) && !err)
		err = -errno;
	o->fd = -1;
	err = end_whole(o, err);
	if (err && o->name)
		log_line("cannot write '%s': %s", o->name, strerror(-err));
	return err;
}

void output_drop(struct output *o)
{
	o->name = NULL;
	output_close(o, -ECANCELED);
}

int write_all(int fd, const char *data, size_t len)
{
	while (len) {
		ssize_t n = write(fd, data, len);

		if (n < 0 && errno == EAGAIN) {
			struct pollfd p = { .fd = fd, .events = POLLOUT };

			poll(&p, 1, -1);
			continue;
		}
		if (n < 0 && errno != EINTR)
			return -errno;
		if (n > 0) {
			data += n;
			len -= (size_t)n;
		}
	}
	return 0;
}

int temporary_open(FILE **ret)
{
	const char *dir = getenv("TMPDIR");
	char path[PATH_MAX];
	int fd, err;

	if (snprintf(path, sizeof(path), "%s/exitmeter.XXXXXX", dir && *dir ? dir : "/tmp") >=
	    (int)sizeof(path))
		return -ENAMETOOLONG;
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		return -errno;
	unlink(path);
	*ret = fdopen(fd, "w+");
	if (*ret)
		return 0;
	err = -errno;
	close(fd);
	return err;
}
