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

#define CACHE_MAGIC   "EXMBTF2"
#define CONTENT_MAX   (64 * 1024)
#define STRUCT_DEPTH  8
#define MEMBERS_MAX   64
#define NAMED_MAX     64
#define BUILD_ID_MAX  32
#define FNV_BASIS     0xcbf29ce484222325ull
#define FNV_PRIME     0x100000001b3ull
#define NOTE_BUILD_ID 3 /* NT_GNU_BUILD_ID */

#define IDS "kernel_ids"

static const struct {
	const char *name;
	__u32 kind;
} ids[KERNEL_IDS] = {
	[KERNEL_ID_CAST] = { "bpf_rdonly_cast", BTF_KIND_FUNC },
	[KERNEL_ID_TASK] = { "task_struct", BTF_KIND_STRUCT },
};

struct cache_head {
	char magic[8];
	uint64_t object_hash, content_hash;
	uint32_t size;
	char kernel[2 * BUILD_ID_MAX + 4];
};

struct named {
	const char *name;
	int id;
};

struct builder {
	const struct btf *kernel, *object;
	struct btf *out;
	struct named done[NAMED_MAX];
	size_t n_done;
	int pointer;
};

static uint64_t fnv(const void *data, size_t len)
{
	const unsigned char *p = data;
	uint64_t h = FNV_BASIS;

	for (size_t i = 0; i < len; i++)
		h = (h ^ p[i]) * FNV_PRIME;
	return h;
}

/* --- cutting down -------------------------------------------------------------------------- */

static __u32 resolve(const struct btf *btf, __u32 id)
{
	const struct btf_type *t = btf__type_by_id(btf, id);

	while (t && (btf_is_mod(t) || btf_is_typedef(t))) {
		id = t->type;
		t = btf__type_by_id(btf, id);
	}
	return id;
}

static size_t essential_len(const char *name)
{
	const char *flavour = strstr(name, "___");

	return flavour ? (size_t)(flavour - name) : strlen(name);
}

/* The member @name of struct @id, those of anonymous members included. */
static bool find_member(const struct btf *btf, __u32 id, const char *name, __u32 base_bits,
			__u32 *ret_bits, __u32 *ret_type, int depth)
{
	const struct btf_type *t = btf__type_by_id(btf, id);
	const struct btf_member *m = btf_members(t);

	for (__u16 i = 0; i < btf_vlen(t); i++) {
		const char *member = btf__name_by_offset(btf, m[i].name_off);
		__u32 bits = base_bits + btf_member_bit_offset(t, i);
		__u32 inner;

		if (!strcmp(member, name)) {
			*ret_bits = bits;
			*ret_type = m[i].type;
			return true;
		}
		inner = resolve(btf, m[i].type);
		if (!*member && depth && btf_is_composite(btf__type_by_id(btf, inner)) &&
		    find_member(btf, inner, name, bits, ret_bits, ret_type, depth - 1))
			return true;
	}
	return false;
}

static int copy_type(struct builder *b, __u32 kernel_id, __u32 object_id, int depth);

struct field {
	const char *name;
	int type;
	__u32 bits;
};

/* Adds to @fields the members that the object's struct @object_id names. */
static int collect(struct builder *b, __u32 kernel_id, __u32 object_id, struct field *fields,
		   size_t *n, int depth)
{
	const struct btf_type *t = btf__type_by_id(b->object, object_id);
	const struct btf_member *m = btf_members(t);

	for (__u16 i = 0; i < btf_vlen(t); i++) {
		const char *name = btf__name_by_offset(b->object, m[i].name_off);
		__u32 bits, type;
		bool known = false;
		int id;

		for (size_t k = 0; k < *n; k++)
			known |= !strcmp(fields[k].name, name);
		if (known ||
		    !find_member(b->kernel, kernel_id, name, 0, &bits, &type, STRUCT_DEPTH))
			continue;
		if (*n == MEMBERS_MAX)
			return -E2BIG;
		id = copy_type(b, type, m[i].type, depth - 1);
		if (id < 0)
			return id;
		fields[(*n)++] = (struct field){ .name = name, .type = id, .bits = bits };
	}
	return 0;
}

static int copy_struct(struct builder *b, __u32 kernel_id, __u32 object_id, int depth)
{
	const struct btf_type *t = btf__type_by_id(b->kernel, kernel_id);
	const char *name = btf__name_by_offset(b->kernel, t->name_off);
	struct field fields[MEMBERS_MAX];
	size_t n = 0;
	int id, err;

	for (size_t i = 0; *name && i < b->n_done; i++)
		if (!strcmp(b->done[i].name, name))
			return b->done[i].id;
	if (!*name) {
		err = collect(b, kernel_id, object_id, fields, &n, depth);
		if (err)
			return err;
	}
	/* Every flavour of it. */
	for (__u32 i = 1; *name && i < btf__type_cnt(b->object); i++) {
		const struct btf_type *o = btf__type_by_id(b->object, i);
		const char *flavour = btf__name_by_offset(b->object, o->name_off);

		if (!btf_is_composite(o) || essential_len(flavour) != strlen(name) ||
		    strncmp(flavour, name, strlen(name)) != 0)
			continue;
		err = collect(b, kernel_id, i, fields, &n, depth);
		if (err)
			return err;
	}
	id = btf_is_union(t) ? btf__add_union(b->out, *name ? name : NULL, t->size)
			     : btf__add_struct(b->out, *name ? name : NULL, t->size);
	for (size_t i = 0; id >= 0 && i < n; i++) {
		err = btf__add_field(b->out, fields[i].name, fields[i].type, fields[i].bits, 0);
		if (err)
			return err;
	}
	if (id >= 0 && *name) {
		if (b->n_done == NAMED_MAX)
			return -E2BIG;
		b->done[b->n_done++] = (struct named){ .name = name, .id = id };
	}
	return id;
}

static int copy_type(struct builder *b, __u32 kernel_id, __u32 object_id, int depth)
{
	const struct btf_type *t, *o;
	int elem, index;

	if (depth <= 0)
		return -ELOOP;
	kernel_id = resolve(b->kernel, kernel_id);
	object_id = resolve(b->object, object_id);
	t = btf__type_by_id(b->kernel, kernel_id);
	o = btf__type_by_id(b->object, object_id);
	if (btf_is_ptr(t)) {
		if (!b->pointer)
			b->pointer = btf__add_ptr(b->out, 0);
		return b->pointer;
	}
	if (btf_is_int(t))
		return btf__add_int(b->out, btf__name_by_offset(b->kernel, t->name_off), t->size,
				    btf_int_encoding(t));
	if (btf_is_any_enum(t))
		return btf__add_int(b->out, "int", t->size, 0);
	if (btf_is_array(t)) {
		elem = copy_type(b, btf_array(t)->type,
				 btf_is_array(o) ? btf_array(o)->type : object_id, depth - 1);
		if (elem < 0)
			return elem;
		index = btf__add_int(b->out, "int", 4, BTF_INT_SIGNED);
		return index < 0 ? index
				 : btf__add_array(b->out, index, elem, btf_array(t)->nelems);
	}
	if (btf_is_composite(t))
		return copy_struct(b, kernel_id, object_id, depth);
	return -ENOTSUP;
}

/* What the programs name by the kernel's own numbers. */
static int add_ids(const struct builder *b)
{
	int id, err = btf__add_enum(b->out, IDS, 4);

	for (size_t i = 0; err >= 0 && i < KERNEL_IDS; i++) {
		id = btf__find_by_name_kind(b->kernel, ids[i].name, ids[i].kind);
		if (id > 0)
			err = btf__add_enum_value(b->out, ids[i].name, id);
	}
	return err;
}

/* The kernel's BTF cut down to the structs that @object names; NULL and -errno in *@ret_err. */
static struct btf *cut_down(const struct btf *object, int *ret_err)
{
	struct builder b = { .object = object };
	struct btf *kernel = btf__load_vmlinux_btf();
	int id = 0;

	*ret_err = -errno;
	if (!kernel)
		return NULL;
	b.kernel = kernel;
	b.out = btf__new_empty();
	for (__u32 i = 1; b.out && id >= 0 && i < btf__type_cnt(object); i++) {
		const struct btf_type *t = btf__type_by_id(object, i);
		const char *name = btf__name_by_offset(object, t->name_off);
		char essential[128];
		int kernel_id;

		if (!btf_is_composite(t) || !*name || essential_len(name) >= sizeof(essential))
			continue;
		memcpy(essential, name, essential_len(name));
		essential[essential_len(name)] = '\0';
		kernel_id = btf__find_by_name_kind(kernel, essential, btf_kind(t));
		if (kernel_id > 0)
			id = copy_struct(&b, kernel_id, i, STRUCT_DEPTH);
	}
	if (b.out && id >= 0)
		id = add_ids(&b);
	btf__free(kernel);
	if (b.out && id >= 0)
		return b.out;
	*ret_err = b.out ? id : -ENOMEM;
	btf__free(b.out);
	return NULL;
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
	if (access(ret->path, R_OK)) { /* no /proc */
		int err = -errno;

		kernel_btf_close(ret);
		return err;
	}
	return 0;
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
	small = cut_down(object, &err);
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
	if (k->fd >= 0)
		close(k->fd);
	k->fd = -1;
}

int kernel_btf_id(const struct kernel_btf *k, enum kernel_id which)
{
	struct btf *btf = k->fd >= 0 ? btf__parse_raw(k->path) : NULL;
	int id = btf ? btf__find_by_name_kind(btf, IDS, BTF_KIND_ENUM) : -1, ret = 0;
	const struct btf_type *t = id > 0 ? btf__type_by_id(btf, (__u32)id) : NULL;

	for (__u16 i = 0; t && i < btf_vlen(t); i++)
		if (!strcmp(btf__name_by_offset(btf, btf_enum(t)[i].name_off), ids[which].name))
			ret = btf_enum(t)[i].val;
	btf__free(btf);
	return ret;
}

bool kernel_btf_has_struct(const struct kernel_btf *k, const char *name)
{
	struct btf *btf = k->fd >= 0 ? btf__parse_raw(k->path) : NULL;
	bool has = btf && btf__find_by_name_kind(btf, name, BTF_KIND_STRUCT) > 0;

	btf__free(btf);
	return has;
}
