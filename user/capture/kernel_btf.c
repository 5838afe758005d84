// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/kernel_btf.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <bpf/btf.h>

#include "capture/btf_cut.h"

#define CACHE_MAGIC   "EXMBTF3"
#define CONTENT_MAX   (64 * 1024)
#define BUILD_ID_MAX  32
#define FNV_BASIS     0xcbf29ce484222325ull
#define FNV_PRIME     0x100000001b3ull
#define NOTE_BUILD_ID 3 /* NT_GNU_BUILD_ID */

struct cache_head {
	char magic[8];
	uint64_t object_hash, content_hash;
	uint32_t size;
	char kernel[2 * BUILD_ID_MAX + 4];
};

static uint64_t fnv(const void *data, size_t len)
{
	const unsigned char *p = data;
	uint64_t h = FNV_BASIS;

	for (size_t i = 0; i < len; i++)
		h = (h ^ p[i]) * FNV_PRIME;
	return h;
}

/* --- the cache ----------------------------------------------------------------------------- */

/* The kernel's build id in hex, else a hash of its release and version. */
static void kernel_name(char *out, size_t cap)
{
	unsigned char notes[4096];
	struct utsname u;
	char text[sizeof(u.release) + sizeof(u.version)];
	ssize_t len = -1, at = 0;
	int fd = open("/sys/kernel/notes", O_RDONLY | O_CLOEXEC);

	if (fd >= 0) {
		len = read(fd, notes, sizeof(notes));
		close(fd);
	}
	while (at + (ssize_t)sizeof(Elf64_Nhdr) <= len) {
		Elf64_Nhdr n;
		ssize_t desc;

		memcpy(&n, notes + at, sizeof(n));
		desc = at + (ssize_t)sizeof(n) + ((n.n_namesz + 3) & ~3u);
		if (desc + (ssize_t)n.n_descsz > len)
			break;
		if (n.n_type == NOTE_BUILD_ID && n.n_namesz == 4 && n.n_descsz <= BUILD_ID_MAX &&
		    !memcmp(notes + at + sizeof(n), "GNU", 4)) {
			for (size_t i = 0; i < n.n_descsz; i++)
				snprintf(out + 2 * i, cap - 2 * i, "%02x",
					 notes[desc + (ssize_t)i]);
			return;
		}
		at = desc + ((n.n_descsz + 3) & ~3u);
	}
	uname(&u);
	snprintf(text, sizeof(text), "%s%s", u.release, u.version);
	snprintf(out, cap, "%016llx", (unsigned long long)fnv(text, strlen(text)));
}

/* Opens the folder, made if need be; only one that is ours and that nobody else can write. */
static int cache_folder(void)
{
	char path[4096];
	const char *base = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	const char *test = getenv("EXITMETER_TEST_CACHE"); /* tests/README.md */
	struct stat st;
	int fd;

	if (test && *test == '/')
		snprintf(path, sizeof(path), "%s", test);
	else if (geteuid() == 0)
		snprintf(path, sizeof(path), "/var/cache/exitmeter");
	else if (base && *base == '/')
		snprintf(path, sizeof(path), "%s/exitmeter", base);
	else if (home && *home == '/')
		snprintf(path, sizeof(path), "%s/.cache/exitmeter", home);
	else
		return -ENOENT;
	if (mkdir(path, 0755) && errno != EEXIST)
		return -errno;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) || st.st_uid != geteuid() || st.st_mode & 022) {
		close(fd);
		return -EPERM;
	}
	return fd;
}

static void *cache_read(int dir, const char *name, const struct cache_head *want, size_t *ret_len)
{
	struct cache_head head;
	struct stat st;
	void *data = NULL;
	int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0)
		return NULL;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_uid != geteuid() || st.st_mode & 022 ||
	    read(fd, &head, sizeof(head)) != sizeof(head) ||
	    memcmp(head.magic, want->magic, sizeof(head.magic)) != 0 ||
	    memcmp(head.kernel, want->kernel, sizeof(head.kernel)) != 0 ||
	    head.object_hash != want->object_hash || !head.size || head.size > CONTENT_MAX ||
	    st.st_size != (off_t)(sizeof(head) + head.size))
		goto out;
	data = malloc(head.size);
	if (data && (read(fd, data, head.size) != (ssize_t)head.size ||
		     fnv(data, head.size) != head.content_hash)) {
		free(data);
		data = NULL;
	}
	*ret_len = head.size;
out:
	close(fd);
	return data;
}

/* Whole or not at all: a name of its own, then renamed. */
static void cache_write(int dir, const char *name, struct cache_head *head, const void *data,
			size_t len)
{
	char temp[160];
	bool ok;
	int fd;

	head->size = (uint32_t)len;
	head->content_hash = fnv(data, len);
	snprintf(temp, sizeof(temp), ".%s.%d", name, (int)getpid());
	fd = openat(dir, temp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (fd < 0)
		return;
	fchmod(fd, 0644);
	ok = write(fd, head, sizeof(*head)) == sizeof(*head) &&
	     write(fd, data, len) == (ssize_t)len;
	ok &= close(fd) == 0;
	if (!ok || renameat(dir, temp, dir, name))
		unlinkat(dir, temp, 0);
}

static int hand_over(struct kernel_btf *k, const void *data, size_t len)
{
	if (ftruncate(k->fd, 0) || pwrite(k->fd, data, len, 0) != (ssize_t)len)
		return -EIO;
	return 0;
}

int kernel_btf_open(struct kernel_btf *ret)
{
	int fd = memfd_create("kernel-btf", MFD_CLOEXEC);

	if (fd < 0)
		return -errno;
	*ret = (struct kernel_btf){ .fd = fd };
	snprintf(ret->path, sizeof(ret->path), "/proc/self/fd/%d", fd);
	if (!access(ret->path, R_OK))
		return 0;
	close(fd); /* no /proc: libbpf, which takes a path, gets one that goes with us */
	snprintf(ret->path, sizeof(ret->path), "/tmp/exitmeter-btf-XXXXXX");
	ret->fd = mkostemp(ret->path, O_CLOEXEC);
	ret->is_file = ret->fd >= 0;
	return ret->is_file ? 0 : -errno;
}

int kernel_btf_fill(struct kernel_btf *k, const struct btf *object, bool fresh)
{
	struct cache_head head = { .magic = CACHE_MAGIC };
	char name[sizeof(head.kernel) + 8];
	struct btf *small = NULL;
	const void *raw;
	void *data = NULL;
	size_t len = 0;
	__u32 size;
	int dir, err;

	raw = btf__raw_data(object, &size);
	if (!raw)
		return -EINVAL;
	head.object_hash = fnv(raw, size);
	kernel_name(head.kernel, sizeof(head.kernel));
	snprintf(name, sizeof(name), "%s.btf", head.kernel);
	dir = cache_folder();
	if (dir >= 0 && !fresh)
		data = cache_read(dir, name, &head, &len);
	k->cached = data;
	if (data) {
		err = hand_over(k, data, len);
		goto out;
	}
	small = btf_cut(object, &err);
	if (!small)
		goto out;
	raw = btf__raw_data(small, &size);
	if (!raw || size > CONTENT_MAX) {
		err = -EINVAL;
		goto out;
	}
	err = hand_over(k, raw, size);
	if (!err && dir >= 0)
		cache_write(dir, name, &head, raw, size);
out:
	if (dir >= 0)
		close(dir);
	free(data);
	btf__free(small);
	return err;
}

void kernel_btf_close(struct kernel_btf *k)
{
	if (k->is_file)
		unlink(k->path);
	if (k->fd >= 0)
		close(k->fd);
	k->fd = -1;
	k->is_file = false;
}

bool kernel_btf_has_struct(const struct kernel_btf *k, const char *name)
{
	struct btf *btf = k->fd >= 0 ? btf__parse_raw(k->path) : NULL;
	bool has = btf && btf__find_by_name_kind(btf, name, BTF_KIND_STRUCT) > 0;

	btf__free(btf);
	return has;
}
