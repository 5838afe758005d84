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

#define LINKS_MAX 40 /* as the kernel follows */

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

/* Where others make names too: a file that one of them, but root, made first and may read. */
static bool is_others(const struct stat *st)
{
	return S_ISREG(st->st_mode) && st->st_uid != geteuid() && st->st_uid;
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
	if (fstat(fd, &st) || is_others(&st)) {
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

/* Of the folder that @name is in; -errno. */
static int folder_stat(const char *name, struct stat *ret)
{
	char *copy = strdup(name);
	int err = !copy ? -ENOMEM : !*name ? -ENOENT : stat(dirname(copy), ret) ? -errno : 0;

	free(copy);
	return err;
}

static int folder_access(const char *name)
{
	char *copy = strdup(name);
	int err = !copy ? -ENOMEM : access(dirname(copy), W_OK | X_OK) ? -errno : 0;

	free(copy);
	return err;
}

/* What stands there for a descriptor may be a file; it is another one in another process. */
static bool is_device_name(const char *name)
{
	static const char shm[] = "/dev/shm/";

	return (!strncmp(name, "/dev/", 5) && strncmp(name, shm, sizeof(shm) - 1) != 0) ||
	       !strncmp(name, "/proc/", 6);
}

static int may_replace(const char *name)
{
	struct stat folder, st;
	int err = folder_stat(name, &folder);

	if (err)
		return err;
	if (is_device_name(name))
		return 0;
	if (folder.st_mode & S_IWOTH && !lstat(name, &st) && S_ISLNK(st.st_mode))
		return -ELOOP;
	err = folder_access(name);
	if (stat(name, &st))
		return err ? err : 1;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	if (folder.st_mode & S_IWOTH && is_others(&st))
		return -EACCES;
	if (S_ISREG(st.st_mode) && !err)
		return 1;
	return access(name, W_OK) ? -errno : 0;
}

int output_may_replace(const char *name)
{
	int err = may_replace(name);

	if (err < 0)
		log_line("cannot write '%s': %s", name, strerror(-err));
	return err;
}

/* As what it replaces, or else as open would have made it. */
static int give_rights(int fd, const char *name)
{
	mode_t mask = umask(0);
	struct stat st;

	umask(mask);
	if (!stat(name, &st))
		return fchmod(fd, st.st_mode & 07777);
	return is_shared(name) ? 0 : fchmod(fd, 0666 & ~mask);
}

/* The place a link names is the one to be written; a new file has none yet. */
static int open_temporary(struct output *o)
{
	int err = 0;

	o->whole = realpath(o->name, NULL);
	if (!o->whole)
		o->whole = strdup(o->name);
	if (!o->whole || asprintf(&o->temporary, "%s.XXXXXX", o->whole) < 0) {
		o->temporary = NULL;
		return -ENOMEM;
	}
	o->fd = mkostemp(o->temporary, O_CLOEXEC);
	if (o->fd < 0 || give_rights(o->fd, o->whole))
		err = -errno;
	if (err && o->fd >= 0) {
		unlink(o->temporary);
		close(o->fd);
	}
	return err;
}

int output_open_whole(const char *name, struct output *ret)
{
	struct output o = { .name = name, .fd = -1 };
	int err;

	*ret = o;
	if (!output_is_path(name))
		return output_open(name, false, ret);
	err = may_replace(name);
	if (!err)
		return output_open(name, false, ret);
	err = err < 0 ? err : open_temporary(&o);
	if (!err) {
		*ret = o;
		return 0;
	}
	log_line("cannot write '%s': %s", name, strerror(-err));
	free(o.temporary);
	free(o.whole);
	return err;
}

bool output_is_path(const char *name)
{
	return name && descriptor_of(name) == -1;
}

/* What a link names, also where there is nothing yet. */
static void follow_links(const char *name, char path[PATH_MAX])
{
	char target[PATH_MAX], folder[PATH_MAX];

	snprintf(path, PATH_MAX, "%s", name);
	for (int i = 0; i < LINKS_MAX; i++) {
		ssize_t n = readlink(path, target, sizeof(target) - 1);

		if (n < 0)
			return;
		target[n] = '\0';
		memcpy(folder, path, sizeof(folder));
		if (*target == '/')
			memcpy(path, target, sizeof(target));
		else if (snprintf(path, PATH_MAX, "%s/%s", dirname(folder), target) >= PATH_MAX)
			return;
	}
}

/* Of two that are not there yet: the same name in the same folder. */
static bool same_new_file(const char *a, const char *b)
{
	char paths[2][PATH_MAX], copy[PATH_MAX];
	struct stat folders[2];

	follow_links(a, paths[0]);
	follow_links(b, paths[1]);
	for (int i = 0; i < 2; i++)
		if (folder_stat(paths[i], &folders[i]))
			return !strcmp(a, b);
	memcpy(copy, paths[0], sizeof(copy));
	return folders[0].st_dev == folders[1].st_dev && folders[0].st_ino == folders[1].st_ino &&
	       !strcmp(basename(copy), basename(paths[1]));
}

/* What is no file, as /dev/null, takes any number. */
static bool same_file(const char *a, const char *b)
{
	struct stat st, other;
	bool there, other_there;

	if (!output_is_path(a) || !output_is_path(b))
		return false;
	there = !stat(a, &st);
	other_there = !stat(b, &other);
	if (!there && !other_there)
		return same_new_file(a, b);
	return there && other_there && S_ISREG(st.st_mode) && st.st_dev == other.st_dev &&
	       st.st_ino == other.st_ino;
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

/* A file that is a mount of its own, as containers are given them, takes no other's place. */
static int copy_over(const char *from, const char *to)
{
	char chunk[65536];
	int in = open(from, O_RDONLY | O_CLOEXEC);
	int out = in < 0 ? -1 : open(to, O_WRONLY | O_TRUNC | O_CLOEXEC);
	int err = out < 0 ? -errno : 0;
	ssize_t n = 0;

	while (!err && (n = read(in, chunk, sizeof(chunk))) > 0)
		err = write_all(out, chunk, (size_t)n);
	if (!err && n < 0)
		err = -errno;
	if (out >= 0 && close(out) && !err)
		err = -errno;
	if (in >= 0)
		close(in);
	if (!err)
		unlink(from);
	return err;
}

/* It gets its name, or goes. */
static int end_whole(struct output *o, int err)
{
	if (!o->whole)
		return err;
	if (!err && rename(o->temporary, o->whole))
		err = errno == EBUSY ? copy_over(o->temporary, o->whole) : -errno;
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
