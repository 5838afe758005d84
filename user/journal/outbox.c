// SPDX-License-Identifier: GPL-2.0-or-later
#include "journal/outbox.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "output.h"
#include "units.h"

#define JOURNAL        ".jnl"
#define OWED           ".to"
#define URLS_BYTES_MAX (OUTBOX_URLS_MAX * 128 * 1024) /* with two statements each */

bool outbox_dir(const char *dir, char *buf, size_t cap)
{
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	int n = -1;

	if (dir)
		n = snprintf(buf, cap, "%s", dir);
	else if (state && *state == '/')
		n = snprintf(buf, cap, "%s/exitmeter", state);
	else if (home && *home == '/')
		n = snprintf(buf, cap, "%s/.local/state/exitmeter", home);
	return n > 0 && (size_t)n < cap;
}

static int make_folders(char *path)
{
	for (char *p = strchr(path + 1, '/'); p; p = strchr(p + 1, '/')) {
		*p = '\0';
		if (mkdir(path, 0700) && errno != EEXIST) {
			*p = '/';
			return -errno;
		}
		*p = '/';
	}
	return mkdir(path, 0700) && errno != EEXIST ? -errno : 0;
}

const char *outbox_error(int err)
{
	switch (err) {
	case -EPERM:
		return "others may write there, or it is another user's";
	case -EDQUOT:
		return "it is full (1 GiB): exitmeter record --replay";
	default:
		return strerror(-err);
	}
}

int outbox_open(const char *dir, int *ret_fd)
{
	char path[4096];
	struct stat st;
	int fd, err;

	if (!outbox_dir(dir, path, sizeof(path)))
		return -ENOENT;
	err = make_folders(path);
	if (err)
		return err;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) || st.st_uid != geteuid() || (st.st_mode & 022)) {
		close(fd);
		return -EPERM;
	}
	*ret_fd = fd;
	return 0;
}

static void file_name(char buf[OUTBOX_NAME_MAX + 8], const char *name, const char *suffix)
{
	snprintf(buf, OUTBOX_NAME_MAX + 8, "%s%s", name, suffix);
}

/* Whole or not at all: under another name first. */
static int write_owed(int dir, const char *name, const char *const *urls, size_t n)
{
	char to[OUTBOX_NAME_MAX + 8], fresh[OUTBOX_NAME_MAX + 8];
	int fd, err = 0;

	file_name(to, name, OWED);
	file_name(fresh, name, OWED "~");
	fd = openat(dir, fresh, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	for (size_t i = 0; !err && i < n; i++) {
		err = write_all(fd, urls[i], strlen(urls[i]));
		if (!err)
			err = write_all(fd, "\n", 1);
	}
	if (close(fd) && !err)
		err = -errno;
	if (!err && renameat(dir, fresh, dir, to))
		err = -errno;
	if (err)
		unlinkat(dir, fresh, 0);
	return err;
}

static long long bytes_held(int dir)
{
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
	long long sum = 0;
	struct dirent *e;
	struct stat st;

	if (!d) {
		if (fd >= 0)
			close(fd);
		return 0;
	}
	while ((e = readdir(d)))
		if (!fstatat(dir, e->d_name, &st, AT_SYMLINK_NOFOLLOW) && S_ISREG(st.st_mode))
			sum += st.st_size;
	closedir(d);
	return sum;
}

int outbox_new(int dir, const char *const *urls, size_t n, char name[OUTBOX_NAME_MAX], int *ret_fd)
{
	char path[OUTBOX_NAME_MAX + 8];
	int fd, err;

	if (n > OUTBOX_URLS_MAX)
		return -E2BIG;
	if (bytes_held(dir) >= OUTBOX_BYTES_MAX)
		return -EDQUOT;
	snprintf(name, OUTBOX_NAME_MAX, "%020lld-%d", (long long)clock_ns(CLOCK_REALTIME),
		 (int)getpid());
	file_name(path, name, JOURNAL);
	fd = openat(dir, path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	err = flock(fd, LOCK_EX) ? -errno : write_owed(dir, name, urls, n);
	if (err) {
		unlinkat(dir, path, 0);
		close(fd);
		return err;
	}
	*ret_fd = fd;
	return 0;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int add_name(char ***list, size_t *n, const char *name, size_t len)
{
	char **more = realloc(*list, (*n + 1) * sizeof(**list));

	if (!more)
		return -ENOMEM;
	*list = more;
	more[*n] = strndup(name, len);
	if (!more[*n])
		return -ENOMEM;
	++*n;
	return 0;
}

/* What is left where an entry went and we ended before its list did. */
static void sweep(int dir, const char *file, size_t len)
{
	char journal[OUTBOX_NAME_MAX + 8];

	if (len >= OUTBOX_NAME_MAX)
		return;
	snprintf(journal, sizeof(journal), "%.*s" JOURNAL, (int)len, file);
	if (faccessat(dir, journal, F_OK, AT_SYMLINK_NOFOLLOW) && errno == ENOENT)
		unlinkat(dir, file, 0);
}

static bool ends_with(const char *text, size_t len, const char *suffix, size_t *ret_stem)
{
	size_t n = strlen(suffix);

	if (len <= n || strcmp(text + len - n, suffix) != 0)
		return false;
	*ret_stem = len - n;
	return true;
}

int outbox_list(int dir, char ***ret, size_t *ret_n)
{
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
	char **list = NULL;
	size_t n = 0, stem;
	struct dirent *e;
	int err = 0;

	if (!d) {
		err = -errno;
		if (fd >= 0)
			close(fd);
		return err;
	}
	while (!err && (e = readdir(d))) {
		size_t len = strlen(e->d_name);

		if (ends_with(e->d_name, len, JOURNAL, &stem) && stem < OUTBOX_NAME_MAX)
			err = add_name(&list, &n, e->d_name, stem);
		else if (ends_with(e->d_name, len, OWED, &stem))
			sweep(dir, e->d_name, stem);
	}
	closedir(d);
	if (err) {
		while (n)
			free(list[--n]);
		free(list);
		return err;
	}
	if (n)
		qsort(list, n, sizeof(*list), by_name);
	*ret = list;
	*ret_n = n;
	return 0;
}

static int read_owed(struct outbox_entry *e)
{
	char path[OUTBOX_NAME_MAX + 8], *text, *rest, *url;
	ssize_t len;
	int fd, err = 0;

	file_name(path, e->name, OWED);
	fd = openat(e->dir, path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
	text = calloc(1, URLS_BYTES_MAX + 1);
	len = text ? read(fd, text, URLS_BYTES_MAX) : 0;
	if (!text || len < 0)
		err = text ? -errno : -ENOMEM;
	for (rest = text; !err && e->n_urls < OUTBOX_URLS_MAX && (url = strsep(&rest, "\n"));) {
		if (!*url)
			continue;
		e->urls[e->n_urls] = strdup(url);
		if (!e->urls[e->n_urls])
			err = -ENOMEM;
		else
			e->n_urls++;
	}
	free(text);
	close(fd);
	return err;
}

/* The file that was locked is the one that has the name: it was not recorded and gone meanwhile. */
static bool is_still_there(int dir, const char *path, int fd)
{
	struct stat named, held;

	return !fstatat(dir, path, &named, AT_SYMLINK_NOFOLLOW) && !fstat(fd, &held) &&
	       named.st_ino == held.st_ino && named.st_dev == held.st_dev;
}

static int open_journal(int dir, const char *name, char path[OUTBOX_NAME_MAX + 8],
			struct outbox_entry *ret)
{
	*ret = (struct outbox_entry){ .dir = dir };
	if (strlen(name) >= OUTBOX_NAME_MAX || strchr(name, '/'))
		return -ENOENT;
	snprintf(ret->name, sizeof(ret->name), "%s", name);
	file_name(path, name, JOURNAL);
	ret->fd = openat(dir, path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	return ret->fd < 0 ? -errno : 0;
}

int outbox_look(int dir, const char *name, struct outbox_entry *ret)
{
	char path[OUTBOX_NAME_MAX + 8];
	int err = open_journal(dir, name, path, ret);

	if (err)
		return err;
	err = read_owed(ret);
	if (err)
		outbox_close(ret);
	return err;
}

int outbox_take(int dir, const char *name, bool wait, struct outbox_entry *ret)
{
	char path[OUTBOX_NAME_MAX + 8];
	int err = open_journal(dir, name, path, ret);

	if (err)
		return err;
	while (flock(ret->fd, LOCK_EX | (wait ? 0 : LOCK_NB))) {
		if (errno == EINTR)
			continue;
		err = -errno;
		break;
	}
	if (!err && !is_still_there(dir, path, ret->fd))
		err = -ENOENT;
	if (!err)
		err = read_owed(ret);
	if (err)
		outbox_close(ret);
	return err;
}

int outbox_drop(struct outbox_entry *e)
{
	char path[OUTBOX_NAME_MAX + 8];

	file_name(path, e->name, JOURNAL);
	if (unlinkat(e->dir, path, 0))
		return -errno;
	file_name(path, e->name, OWED);
	unlinkat(e->dir, path, 0);
	return 0;
}

int outbox_reject(struct outbox_entry *e)
{
	char path[OUTBOX_NAME_MAX + 8], bad[OUTBOX_NAME_MAX + 8];

	file_name(path, e->name, JOURNAL);
	file_name(bad, e->name, ".bad");
	if (renameat(e->dir, path, e->dir, bad))
		return -errno;
	file_name(path, e->name, OWED);
	unlinkat(e->dir, path, 0);
	return 0;
}

int outbox_paid(struct outbox_entry *e, const char *url)
{
	size_t left = 0;

	for (size_t i = 0; i < e->n_urls; i++) {
		if (strcmp(e->urls[i], url) != 0)
			e->urls[left++] = e->urls[i];
		else
			free(e->urls[i]);
	}
	e->n_urls = left;
	return left ? write_owed(e->dir, e->name, (const char *const *)e->urls, left)
		    : outbox_drop(e);
}

void outbox_sync(struct outbox_entry *e)
{
	fsync(e->fd);
	fsync(e->dir);
}

void outbox_close(struct outbox_entry *e)
{
	if (e->fd >= 0)
		close(e->fd);
	for (size_t i = 0; i < e->n_urls; i++)
		free(e->urls[i]);
	e->fd = -1;
	e->n_urls = 0;
}
