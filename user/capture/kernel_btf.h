/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kernel_btf - the types of the running kernel, cut down to those the BPF object names
 *
 * Parsing a kernel's whole BTF takes 55 ms, most of a start; the part that is needed is 2 kB.  It
 * is kept in a file named after the kernel's build id: in /var/cache/exitmeter for root, else in
 * $XDG_CACHE_HOME/exitmeter.  A file is used only when it and its folder belong to us and nobody
 * else can write them, and when its header matches kernel, object and content; anything else is
 * replaced.
 */
#ifndef KERNEL_BTF_H
#define KERNEL_BTF_H

#include <stdbool.h>
#include <stddef.h>

struct btf;

struct kernel_btf {
	int fd;        /* for the raw BTF: a memfd, without /proc a file */
	char path[32]; /* of it, for libbpf, which reads it when it loads */
	bool is_file;  /* @path is to be removed */
	bool cached;   /* it came from the cache */
};

/*
 * An empty place; libbpf wants its path before the object's own types are known.  0 or -errno:
 * then there is none and @ret->fd is -1.
 */
int kernel_btf_open(struct kernel_btf *ret);

/*
 * Puts the minimal BTF for @object's types (the object's own BTF, borrowed) there, from the cache
 * unless @fresh.  0 or -errno (-ENOENT: the kernel has no BTF).
 */
int kernel_btf_fill(struct kernel_btf *k, const struct btf *object, bool fresh);
void kernel_btf_close(struct kernel_btf *k);

/* Whether the filled types name a struct. */
bool kernel_btf_has_struct(const struct kernel_btf *k, const char *name);

enum kernel_id {
	KERNEL_ID_CAST, /* the function bpf_rdonly_cast */
	KERNEL_ID_TASK, /* struct task_struct */
	KERNEL_IDS,
};

/* The number that the kernel's own BTF gives it; 0: it has none. */
int kernel_btf_id(const struct kernel_btf *k, enum kernel_id which);

#endif /* KERNEL_BTF_H */
