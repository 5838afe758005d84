// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The BPF object against the types of kernels that do not run (tests/kernels): what it reads must
 * be there, and what is not must be what was not there when the kernel was added.  Without root:
 * the object's CO-RE relocations (.BTF.ext) are resolved by name, as libbpf does.
 *
 *   test_kernels          speaks TAP; run where tests/kernels is
 *   test_kernels FILE     lists what the object names and the types in FILE do not have
 */
#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <linux/bpf.h>

#include "tap.h"

#define KERNELS     "tests/kernels"
#define OBJECT      "../bpf/exitmeter.bpf.o" /* from the folder of this program */
#define PATH_LEN    256
#define MISSING_MAX 128
#define DEPTH       8
#define FILE_MAX    4096 /* bytes that a kernel's types may take */

/* Of .BTF.ext, up to what is read (KERNEL: Documentation/bpf/btf.rst). */
struct ext_header {
	uint16_t magic;
	uint8_t version, flags;
	uint32_t header_len, func_off, func_len, line_off, line_len, relo_off, relo_len;
};

struct section {
	uint32_t name_off, n;
};

struct missing {
	char name[PATH_LEN];
};

static char object_path[4096];

struct kernel {
	const struct btf *object, *types;
	struct missing missing[MISSING_MAX];
	size_t n;
};

static const struct btf_type *skip_mods(const struct btf *btf, uint32_t id)
{
	const struct btf_type *t = btf__type_by_id(btf, id);

	while (t && (btf_is_mod(t) || btf_is_typedef(t)))
		t = btf__type_by_id(btf, t->type);
	return t;
}

/* The type that libbpf would take for the object's @name, flavour left off; NULL for none. */
static const struct btf_type *find_type(const struct btf *types, const char *name, uint32_t kind)
{
	char essential[PATH_LEN];
	char *flavour;
	int id;

	snprintf(essential, sizeof(essential), "%s", name);
	flavour = strstr(essential, "___");
	if (flavour)
		*flavour = '\0';
	id = btf__find_by_name_kind(types, essential, kind);
	return id > 0 ? btf__type_by_id(types, (uint32_t)id) : NULL;
}

/* The type of the member @name, those of anonymous members included; NULL for none. */
static const struct btf_type *find_member(const struct btf *btf, const struct btf_type *t,
					  const char *name, int depth)
{
	const struct btf_member *m = btf_members(t);

	for (int i = 0; btf_is_composite(t) && i < btf_vlen(t); i++) {
		const struct btf_type *type = skip_mods(btf, m[i].type);
		const char *own = btf__name_by_offset(btf, m[i].name_off);

		if (!strcmp(own, name))
			return type;
		if (!*own && depth && type && (type = find_member(btf, type, name, depth - 1)))
			return type;
	}
	return NULL;
}

static void add_missing(struct kernel *k, const char *name)
{
	for (size_t i = 0; i < k->n; i++)
		if (!strcmp(k->missing[i].name, name))
			return;
	if (k->n < MISSING_MAX)
		snprintf(k->missing[k->n++].name, PATH_LEN, "%s", name);
}

/* Walks @access ("0:3:1": first an index of the whole, then members) in both; adds what is not. */
static void check_field(struct kernel *k, const struct btf_type *local, const char *name,
			const char *access)
{
	const struct btf_type *target = find_type(k->types, name, btf_kind(local));
	char path[PATH_LEN];
	const char *member;
	char *end;
	size_t len;
	unsigned long i;

	len = (size_t)snprintf(path, sizeof(path), "%s", name);
	if (!target)
		goto out;
	strtoul(access, &end, 10);
	while (*end == ':') {
		i = strtoul(end + 1, &end, 10);
		if (btf_is_array(local)) {
			local = skip_mods(k->object, btf_array(local)->type);
			target = btf_is_array(target) ? skip_mods(k->types, btf_array(target)->type)
						      : NULL;
			if (!target)
				goto out;
			continue;
		}
		member = btf__name_by_offset(k->object, btf_members(local)[i].name_off);
		local = skip_mods(k->object, btf_members(local)[i].type);
		len += (size_t)snprintf(path + len, sizeof(path) - len, ".%s", member);
		if (*member)
			target = find_member(k->types, target, member, DEPTH);
		if (!target)
			goto out;
	}
	return;
out:
	add_missing(k, path);
}

static void check_relocation(struct kernel *k, const struct bpf_core_relo *r)
{
	const struct btf_type *local = skip_mods(k->object, r->type_id);
	const char *name = btf__name_by_offset(k->object, local->name_off);

	switch (r->kind) {
	case BPF_CORE_TYPE_ID_LOCAL:
		break;
	case BPF_CORE_TYPE_ID_TARGET:
	case BPF_CORE_TYPE_EXISTS:
	case BPF_CORE_TYPE_SIZE:
		if (!find_type(k->types, name, btf_kind(local)))
			add_missing(k, name);
		break;
	default:
		check_field(k, local, name, btf__name_by_offset(k->object, r->access_str_off));
	}
}

/* All relocations of the object.  Their number, 0 when there is no telling. */
static size_t check_object(struct kernel *k, const struct btf_ext *ext)
{
	const struct ext_header *header;
	const struct section *section;
	const struct bpf_core_relo *r;
	const char *at, *end;
	size_t count = 0;
	uint32_t size;

	header = btf_ext__get_raw_data(ext, &size);
	if (size < sizeof(*header) || header->header_len < sizeof(*header) || !header->relo_len)
		return 0;
	at = (const char *)header + header->header_len + header->relo_off;
	end = at + header->relo_len;
	at += sizeof(uint32_t); /* a record's size: what it has grown by is behind */
	while (at < end) {
		section = (const void *)at;
		r = (const void *)(section + 1);
		for (uint32_t i = 0; i < section->n; i++, count++)
			check_relocation(k, r + i);
		at = (const char *)(r + section->n);
	}
	return count;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct missing *)a)->name, ((const struct missing *)b)->name);
}

/* What @path's types lack, sorted; false when something cannot be read. */
static bool kernel_read(struct kernel *k, const char *path, struct btf **ret_types)
{
	struct btf_ext *ext = NULL;
	struct btf *object = btf__parse_elf(object_path, &ext), *types = btf__parse(path, NULL);
	bool ok = object && ext && types;

	*k = (struct kernel){ .object = object, .types = types };
	ok = ok && check_object(k, ext);
	qsort(k->missing, k->n, sizeof(k->missing[0]), by_name);
	btf_ext__free(ext);
	btf__free(object);
	*ret_types = types;
	return ok;
}

/* The lines of the file beside, "kernel.missing", that are no comment: as they must come out. */
static void compare(const struct kernel *k, const char *folder, const char *name)
{
	char path[PATH_LEN + 64], line[PATH_LEN];
	bool seen[MISSING_MAX] = { 0 };
	FILE *f;

	snprintf(path, sizeof(path), "%s/%.*s.missing", folder, (int)(strlen(name) - 4), name);
	f = fopen(path, "re");
	OK(f, "%s: there is a list of what it lacks", name);
	if (!f)
		return;
	while (fgets(line, sizeof(line), f)) {
		size_t i = 0;

		line[strcspn(line, "\n")] = '\0';
		if (*line == '#' || !*line)
			continue;
		while (i < k->n && strcmp(k->missing[i].name, line) != 0)
			i++;
		if (i < k->n)
			seen[i] = true;
		else
			OK(false, "%s has %s, which it lacked", name, line);
	}
	fclose(f);
	for (size_t i = 0; i < k->n; i++)
		if (!seen[i])
			OK(false, "%s lacks %s, which the object reads", name, k->missing[i].name);
}

static void test_kernel(const char *folder, const char *name)
{
	char path[PATH_LEN + 64];
	struct btf *types;
	struct kernel k;
	uint32_t size = 0;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	if (OK(kernel_read(&k, path, &types), "%s: the object's relocations", name)) {
		btf__raw_data(types, &size);
		OK(size <= FILE_MAX, "%s is small (%u bytes)", name, size);
		compare(&k, folder, name);
	}
	btf__free(types);
}

int main(int argc, char **argv)
{
	struct dirent **names;
	struct btf *types;
	struct kernel k;
	int n;

	libbpf_set_print(NULL);
	snprintf(object_path, sizeof(object_path), "%.*s/" OBJECT,
		 (int)(strrchr(argv[0], '/') - argv[0]), argv[0]);
	if (argc == 2) {
		if (!kernel_read(&k, argv[1], &types))
			return 1;
		btf__free(types);
		for (size_t i = 0; i < k.n; i++)
			puts(k.missing[i].name);
		return 0;
	}
	n = scandir(KERNELS, &names, NULL, alphasort);
	for (int i = 0; i < n; i++) {
		if (strlen(names[i]->d_name) > 4 &&
		    !strcmp(names[i]->d_name + strlen(names[i]->d_name) - 4, ".btf"))
			test_kernel(KERNELS, names[i]->d_name);
		free(names[i]);
	}
	if (n >= 0)
		free(names);
	return tap_done();
}
