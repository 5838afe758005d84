// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/btf_cut.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include <bpf/btf.h>

#include "capture/kernel_btf.h"

#define IDS          "kernel_ids"
#define STRUCT_DEPTH 8
#define MEMBERS_MAX  64
#define NAMED_MAX    64

static const struct {
	const char *name;
	__u32 kind;
} ids[KERNEL_IDS] = {
	[KERNEL_ID_CAST] = { "bpf_rdonly_cast", BTF_KIND_FUNC },
	[KERNEL_ID_TASK] = { "task_struct", BTF_KIND_STRUCT },
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

struct place {
	__u32 type, bits;
	__u32 width; /* of a bit field; 0: it is none */
};

/* The member @name of struct @id, those of anonymous members included. */
static bool find_member(const struct btf *btf, __u32 id, const char *name, __u32 base_bits,
			struct place *ret, int depth)
{
	const struct btf_type *t = btf__type_by_id(btf, id);
	const struct btf_member *m = btf_members(t);

	for (__u16 i = 0; i < btf_vlen(t); i++) {
		const char *member = btf__name_by_offset(btf, m[i].name_off);
		__u32 bits = base_bits + btf_member_bit_offset(t, i);
		__u32 inner;

		if (!strcmp(member, name)) {
			*ret = (struct place){ .type = m[i].type,
					       .bits = bits,
					       .width = btf_member_bitfield_size(t, i) };
			return true;
		}
		inner = resolve(btf, m[i].type);
		if (!*member && depth && btf_is_composite(btf__type_by_id(btf, inner)) &&
		    find_member(btf, inner, name, bits, ret, depth - 1))
			return true;
	}
	return false;
}

static int copy_type(struct builder *b, __u32 kernel_id, __u32 object_id, int depth);

struct field {
	const char *name;
	int type;
	struct place at;
};

/* Adds to @fields the members that the object's struct @object_id names. */
static int collect(struct builder *b, __u32 kernel_id, __u32 object_id, struct field *fields,
		   size_t *n, int depth)
{
	const struct btf_type *t = btf__type_by_id(b->object, object_id);
	const struct btf_member *m = btf_members(t);

	for (__u16 i = 0; i < btf_vlen(t); i++) {
		const char *name = btf__name_by_offset(b->object, m[i].name_off);
		struct place at;
		bool known = false;
		int id;

		for (size_t k = 0; k < *n; k++)
			known |= !strcmp(fields[k].name, name);
		if (known || !find_member(b->kernel, kernel_id, name, 0, &at, STRUCT_DEPTH))
			continue;
		if (*n == MEMBERS_MAX)
			return -E2BIG;
		id = copy_type(b, at.type, m[i].type, depth - 1);
		if (id < 0)
			return id;
		fields[(*n)++] = (struct field){ .name = name, .type = id, .at = at };
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
		err = btf__add_field(b->out, fields[i].name, fields[i].type, fields[i].at.bits,
				     fields[i].at.width);
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

struct btf *btf_cut(const struct btf *object, int *ret_err)
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
