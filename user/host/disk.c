// SPDX-License-Identifier: GPL-2.0-or-later
#include "host/disk.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "host/inodes.h"
#include "procfs/reading.h"

#define BLOCK_BYTES 512
#define BUF_SIZE    4096
#define LEVELS_MAX  4096
#define OPEN_MAX    32 /* levels that keep their descriptor; those above are opened again */
#define LOOK_EVERY  1024

/* As getdents64(2) writes it. */
struct entry {
	uint64_t ino;
	int64_t next; /* where to go on behind it */
	uint16_t len;
	uint8_t type;
	char name[];
};

/* A folder whose entries are being gone through. */
struct level {
	int fd; /* -1: closed for now */
	struct inode self;
	int64_t next; /* where its entries go on */
	size_t at, len;
	char buf[BUF_SIZE] __attribute__((aligned(8)));
};

struct walk {
	struct level **levels;
	size_t n;
	uint64_t dev;
	struct inodes seen;
	int64_t apparent_bytes, allocated_bytes;
	int64_t unread; /* parts that could not be looked at */
	int err;        /* why, of the first */
	bool too_deep, stopped;
	unsigned int since_look;
};

static void could_not(struct walk *w, int err)
{
	if (!w->unread++)
		w->err = err;
}

/* --- one file ------------------------------------------------------------------------------ */

struct found {
	struct inode of;
	int64_t size, blocks;
	uint32_t links;
	bool folder, link, elsewhere; /* elsewhere: another file system is mounted there */
};

static void from_stat(const struct stat *st, uint64_t dev, struct found *ret)
{
	*ret = (struct found){ .of = { st->st_dev, st->st_ino },
			       .size = st->st_size,
			       .blocks = st->st_blocks,
			       .links = (uint32_t)st->st_nlink,
			       .folder = S_ISDIR(st->st_mode),
			       .elsewhere = st->st_dev != dev };
}

/* statx tells of a mount point where the device is the same, as with a bind mount. */
static int look(int fd, const char *name, uint64_t dev, struct found *ret)
{
	const int flags = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | (*name ? 0 : AT_EMPTY_PATH);
	struct statx x;
	struct stat st;

	*ret = (struct found){ 0 };
	if (!statx(fd, name, flags, STATX_BASIC_STATS, &x)) {
		bool known = x.stx_attributes_mask & STATX_ATTR_MOUNT_ROOT;
		uint64_t its = makedev(x.stx_dev_major, x.stx_dev_minor);

		*ret = (struct found){ .of = { its, x.stx_ino },
				       .size = (int64_t)x.stx_size,
				       .blocks = (int64_t)x.stx_blocks,
				       .links = x.stx_nlink,
				       .folder = S_ISDIR(x.stx_mode) };
		/* Files of an overlay have their own file systems' devices. */
		ret->elsewhere = (known && x.stx_attributes & STATX_ATTR_MOUNT_ROOT) ||
				 ((!known || ret->folder) && its != dev);
		return 0;
	}
	/* An old sandbox that does not know it. */
	if ((errno != EPERM && errno != ENOSYS) || fstatat(fd, name, &st, flags))
		return -errno;
	from_stat(&st, dev, ret);
	return 0;
}

static void add(struct walk *w, const struct found *f)
{
	int64_t allocated;

	if (!f->folder && f->links > 1 && inodes_seen(&w->seen, f->of.dev, f->of.ino))
		return;
	if (__builtin_mul_overflow(f->blocks, BLOCK_BYTES, &allocated) ||
	    __builtin_add_overflow(w->allocated_bytes, allocated, &w->allocated_bytes))
		w->allocated_bytes = INT64_MAX;
	/* A file full of holes may say any size. */
	if (__builtin_add_overflow(w->apparent_bytes, f->size, &w->apparent_bytes))
		w->apparent_bytes = INT64_MAX;
}

/* --- folders ------------------------------------------------------------------------------- */

/* Goes into a folder, whose descriptor is the walk's then. */
static void enter(struct walk *w, int fd, struct inode self)
{
	struct level *l = w->n < LEVELS_MAX ? malloc(sizeof(*l)) : NULL;

	if (!l) {
		close(fd);
		could_not(w, w->n < LEVELS_MAX ? ENOMEM : ENAMETOOLONG);
		w->too_deep |= w->n == LEVELS_MAX;
		return;
	}
	l->fd = fd;
	l->self = self;
	l->next = 0;
	l->at = l->len = 0;
	if (w->n >= OPEN_MAX && w->levels[w->n - OPEN_MAX]->fd >= 0) {
		close(w->levels[w->n - OPEN_MAX]->fd);
		w->levels[w->n - OPEN_MAX]->fd = -1;
	}
	w->levels[w->n++] = l;
}

static bool same(const struct found *f, struct inode of)
{
	return f->of.dev == of.dev && f->of.ino == of.ino;
}

/* Its descriptor again, from the folder below; another folder is there where that was moved. */
static int reopen(struct walk *w, struct level *l, int below)
{
	struct found f;
	int fd = openat(below, "..", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	if (look(fd, "", w->dev, &f) || !same(&f, l->self) || lseek(fd, l->next, SEEK_SET) < 0) {
		close(fd);
		return -ESTALE;
	}
	l->fd = fd;
	l->at = l->len; /* read again from there */
	return 0;
}

static void leave(struct walk *w)
{
	struct level *l = w->levels[--w->n], *above = w->n ? w->levels[w->n - 1] : NULL;
	int err = above && above->fd < 0 ? reopen(w, above, l->fd) : 0;

	if (l->fd >= 0)
		close(l->fd);
	free(l);
	if (!err)
		return;
	/* What is left of those above cannot be reached. */
	could_not(w, -err);
	while (w->n) {
		l = w->levels[--w->n];
		if (l->fd >= 0)
			close(l->fd);
		free(l);
	}
}

static void take_folder(struct walk *w, int parent, const char *name, const struct found *f)
{
	struct found now;
	int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0) {
		if (errno != ENOENT)
			could_not(w, errno);
		return;
	}
	/* Between the two it may have become another one. */
	if (look(fd, "", w->dev, &now) || !same(&now, f->of)) {
		close(fd);
		could_not(w, ESTALE);
		return;
	}
	enter(w, fd, f->of);
}

static void take(struct walk *w, int parent, const char *name)
{
	struct found f;
	int err = look(parent, name, w->dev, &f);

	if (err == -ENOENT) /* it has gone meanwhile */
		return;
	if (err) {
		could_not(w, -err);
		return;
	}
	if (f.elsewhere)
		return;
	add(w, &f);
	if (f.folder)
		take_folder(w, parent, name, &f);
}

static bool is_dots(const char *name)
{
	return !strcmp(name, ".") || !strcmp(name, "..");
}

/* The next entry; NULL at the end of the folder. */
static const struct entry *next_entry(struct walk *w, struct level *l)
{
	const struct entry *e;

	if (l->at >= l->len) {
		long n = syscall(SYS_getdents64, l->fd, l->buf, sizeof(l->buf));

		if (n < 0 && errno != ENOENT) /* ENOENT: the folder itself has been removed */
			could_not(w, errno);
		if (n <= 0)
			return NULL;
		l->at = 0;
		l->len = (size_t)n;
	}
	e = (const struct entry *)(l->buf + l->at);
	l->at += e->len;
	l->next = e->next;
	return e;
}

static bool waits(const sigset_t *waiting, int signo)
{
	struct sigaction as;

	return sigismember(waiting, signo) == 1 && !sigaction(signo, NULL, &as) &&
	       as.sa_handler != SIG_IGN;
}

/* Told to end: exitmeter's signals are blocked and wait for whoever reads them. */
static bool told_to_stop(struct walk *w)
{
	sigset_t waiting;

	if (++w->since_look % LOOK_EVERY || sigpending(&waiting))
		return false;
	return waits(&waiting, SIGTERM) || waits(&waiting, SIGHUP) || waits(&waiting, SIGINT);
}

static void walk_all(struct walk *w)
{
	while (w->n) {
		struct level *l = w->levels[w->n - 1];
		const struct entry *e = w->stopped ? NULL : next_entry(w, l);

		if (!e)
			leave(w);
		else if (!is_dots(e->name))
			take(w, l->fd, e->name);
		w->stopped = w->stopped || told_to_stop(w);
	}
}

/* --- the folder asked for ------------------------------------------------------------------ */

static void say(const struct walk *w, const char *path, struct texts *notes)
{
	if (w->unread)
		texts_add(notes, "disk: %lld part%s of %s could not be read: %s%s",
			  (long long)w->unread, w->unread == 1 ? "" : "s", path, strerror(w->err),
			  w->too_deep ? " (folders too deep)" : "");
	if (w->stopped)
		texts_add(notes, "disk: looking through %s was stopped by a signal", path);
	if (w->seen.full)
		texts_add(notes,
			  "disk: %s has too many files of several names: some may count twice",
			  path);
}

static int begin(struct walk *w, const char *path)
{
	struct found f;
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_CLOEXEC), err;

	if (fd < 0)
		return -errno;
	err = look(fd, "", 0, &f);
	w->levels = err ? NULL : calloc(LEVELS_MAX, sizeof(struct level *));
	if (!err && !w->levels)
		err = -ENOMEM;
	if (err) {
		close(fd);
		return err;
	}
	w->dev = f.of.dev;
	add(w, &f);
	enter(w, fd, f.of);
	return 0;
}

void disk_measure(struct disk *d, struct texts *notes)
{
	struct walk w = { 0 };
	int err = begin(&w, d->path);

	d->apparent_bytes = d->allocated_bytes = UNKNOWN;
	if (err) {
		texts_add(notes, "disk: %s: %s", d->path, strerror(-err));
		return;
	}
	walk_all(&w);
	/* Half a walk is no size. */
	d->apparent_bytes = w.stopped ? UNKNOWN : w.apparent_bytes;
	d->allocated_bytes = w.stopped ? UNKNOWN : w.allocated_bytes;
	say(&w, d->path, notes);
	inodes_free(&w.seen);
	free(w.levels);
}
