// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/channel_open.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "log.h"

#define BACKLOG 64

void channel_socket_close(struct channel_socket *s)
{
	if (s->fd >= 0)
		close(s->fd);
	if (s->path)
		unlink(s->path);
	if (s->folder)
		rmdir(s->folder);
	free(s->path);
	free(s->folder);
	*s = (struct channel_socket){ .fd = -1 };
}

/* @name: a path, or '@' and an abstract name. */
static int address_of(const char *name, struct sockaddr_un *ret, socklen_t *ret_len)
{
	size_t len = strlen(name);

	if (!len || len >= sizeof(ret->sun_path))
		return -ENAMETOOLONG;
	*ret = (struct sockaddr_un){ .sun_family = AF_UNIX };
	memcpy(ret->sun_path, name, len);
	if (*name == '@')
		ret->sun_path[0] = '\0';
	*ret_len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len + (*name != '@'));
	return 0;
}

/* A socket at @name, nobody else's to write to.  The descriptor or -errno. */
static int listen_at(const char *name)
{
	struct sockaddr_un address;
	mode_t before;
	socklen_t len;
	int err = address_of(name, &address, &len), fd;

	if (err)
		return err;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	before = umask(0177);
	if (bind(fd, (struct sockaddr *)&address, len))
		err = -errno;
	umask(before);
	if (!err && listen(fd, BACKLOG))
		err = -errno;
	if (err)
		close(fd);
	return err ? err : fd;
}

/* --- the private one ----------------------------------------------------------------------- */

/* A folder in @base that only @as may look into, and a socket there; not in another's folder. */
static int private_in(const char *base, const struct identity *as, struct channel_socket *ret)
{
	struct channel_socket s = { .fd = -1 };
	struct stat st;
	int err = 0;

	if (!base || *base != '/')
		return -ENOENT;
	if (stat(base, &st) || (st.st_uid != geteuid() && st.st_uid))
		return -EPERM;
	if (asprintf(&s.folder, "%s/exitmeter-XXXXXX", base) < 0)
		return -ENOMEM;
	if (!mkdtemp(s.folder)) {
		err = -errno;
		free(s.folder);
		return err;
	}
	if (asprintf(&s.path, "%s/control", s.folder) < 0) {
		s.path = NULL;
		err = -ENOMEM;
	}
	if (!err) {
		s.fd = listen_at(s.path);
		err = s.fd < 0 ? s.fd : 0;
	}
	if (!err && as && (lchown(s.path, as->uid, as->gid) || lchown(s.folder, as->uid, as->gid)))
		err = -errno;
	if (err)
		channel_socket_close(&s);
	else
		*ret = s;
	return err;
}

static int abstract(struct channel_socket *ret, char *name, size_t cap)
{
	unsigned int random = 0;
	int fd;

	fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		if (read(fd, &random, sizeof(random)) < 0)
			random = 0;
		close(fd);
	}
	snprintf(name, cap, "@exitmeter-%d-%08x", (int)getpid(), random);
	fd = listen_at(name);
	if (fd < 0)
		return fd;
	*ret = (struct channel_socket){ .fd = fd };
	return 0;
}

int channel_open_private(struct channel *c, const struct identity *as)
{
	/* Ours may be out of another user's reach. */
	const char *const bases[] = { as ? NULL : getenv("XDG_RUNTIME_DIR"),
				      as ? NULL : getenv("TMPDIR"), "/tmp" };
	struct channel_socket s = { .fd = -1 };
	char name[64], value[PATH_MAX];
	int err = -ENOENT;

	c->uid = as ? as->uid : getuid();
	unsetenv(CHANNEL_VARIABLE);
	for (size_t i = 0; err && i < sizeof(bases) / sizeof(bases[0]); i++)
		err = private_in(bases[i], as, &s);
	if (err)
		err = abstract(&s, name, sizeof(name));
	if (err)
		return err;
	snprintf(value, sizeof(value), "unix:%s", s.path ? s.path : name);
	err = channel_listen(c, &s);
	if (!err && setenv(CHANNEL_VARIABLE, value, 1))
		return -errno;
	if (err)
		channel_socket_close(&s);
	return err;
}

/* --- --control ----------------------------------------------------------------------------- */

static bool is_dead_socket(const char *path)
{
	struct sockaddr_un address;
	struct stat st;
	socklen_t len;
	bool dead;
	int fd;

	if (lstat(path, &st) || !S_ISSOCK(st.st_mode) || address_of(path, &address, &len))
		return false;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	dead = fd >= 0 && connect(fd, (struct sockaddr *)&address, len) && errno == ECONNREFUSED;
	if (fd >= 0)
		close(fd);
	return dead;
}

static int open_socket(struct channel *c, const char *name, const struct identity *as)
{
	struct channel_socket s = { .fd = listen_at(name) };
	int err;

	/* One that another exitmeter left behind. */
	if (s.fd == -EADDRINUSE && is_dead_socket(name) && !unlink(name))
		s.fd = listen_at(name);
	if (s.fd < 0)
		return s.fd;
	if (*name != '@') {
		s.path = strdup(name);
		if (!s.path || (as && lchown(name, as->uid, as->gid))) {
			err = s.path ? -errno : -ENOMEM;
			channel_socket_close(&s);
			return err;
		}
	}
	err = channel_listen(c, &s);
	if (err)
		channel_socket_close(&s);
	return err;
}

/*
 * "N[,M]": copies that the command does not get, nor the originals.  The standard streams are the
 * command's, and whoever shares them would find them not to wait any more.
 */
static int take_descriptor(long fd, int access)
{
	int copy, flags;

	if (fd <= STDERR_FILENO || fd > INT_MAX)
		return -EBADF;
	copy = fcntl((int)fd, F_DUPFD_CLOEXEC, 3);
	if (copy < 0)
		return -errno;
	flags = fcntl(copy, F_GETFL);
	if ((flags & O_ACCMODE) != O_RDWR && (flags & O_ACCMODE) != access) {
		close(copy);
		return -EBADF;
	}
	/* Whoever has the other end may see it: a pipe of its own for a control channel. */
	fcntl(copy, F_SETFL, flags | O_NONBLOCK);
	fcntl((int)fd, F_SETFD, FD_CLOEXEC);
	return copy;
}

static int add_pair(struct channel *c, int in, int out)
{
	int err = in < 0 ? in : out < -1 ? out : channel_add(c, in, out);

	if (err && in >= 0)
		close(in);
	if (err && out >= 0)
		close(out);
	return err;
}

static int open_descriptors(struct channel *c, const char *numbers)
{
	char *end;
	long in, out = -1;
	int in_fd, out_fd = -1;

	errno = 0;
	in = strtol(numbers, &end, 10);
	if (end == numbers || errno || (*end && *end != ','))
		return -EINVAL;
	if (*end) {
		numbers = end + 1;
		out = strtol(numbers, &end, 10);
		if (end == numbers || errno || *end || out < 0)
			return -EINVAL;
	}
	in_fd = take_descriptor(in, O_RDONLY);
	if (in_fd >= 0 && out >= 0) {
		out_fd = take_descriptor(out, O_WRONLY);
		if (out_fd < 0) {
			close(in_fd);
			return out_fd;
		}
	}
	return add_pair(c, in_fd, out_fd);
}

/* Open for both, so that it neither waits for the other end nor sees it go. */
static int open_fifo(const char *path)
{
	int fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC), high;
	struct stat st;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) || !S_ISFIFO(st.st_mode)) {
		close(fd);
		return -ENOTSUP;
	}
	if (fd > STDERR_FILENO)
		return fd;
	high = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	close(fd);
	return high < 0 ? -errno : high;
}

static int open_fifos(struct channel *c, const char *paths)
{
	const char *comma = strchr(paths, ',');
	char *first = comma ? strndup(paths, (size_t)(comma - paths)) : strdup(paths);
	int in, out = -1;

	if (!first)
		return -ENOMEM;
	in = open_fifo(first);
	free(first);
	if (in >= 0 && comma) {
		out = open_fifo(comma + 1);
		if (out < 0) {
			close(in);
			return out;
		}
	}
	return add_pair(c, in, out);
}

int channel_open(struct channel *c, const char *name, const struct identity *as)
{
	int err = -EINVAL;

	c->uid = as ? as->uid : getuid();
	if (!strncmp(name, "unix:", 5))
		err = open_socket(c, name + 5, as);
	else if (!strncmp(name, "fd:", 3))
		err = open_descriptors(c, name + 3);
	else if (!strncmp(name, "fifo:", 5))
		err = open_fifos(c, name + 5);
	if (err == -EINVAL)
		log_line("control '%s': fd:N[,M], unix:PATH or fifo:PATH[,PATH]", name);
	else if (err == -ENOTSUP)
		log_line("control '%s': not a fifo", name);
	else if (err == -EBADF)
		log_line("control '%s': no open descriptor beyond the standard streams", name);
	else if (err == -EPERM)
		log_line("control '%s': no pipe, socket or terminal", name);
	else if (err)
		log_line("control '%s': %s", name, strerror(-err));
	return err;
}
