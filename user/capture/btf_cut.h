/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * btf_cut - the running kernel's types, cut down to those that an object names
 */
#ifndef BTF_CUT_H
#define BTF_CUT_H

struct btf;

/*
 * The structs that @object's types name, with the members they name, as the kernel has them, and
 * the numbers of enum kernel_id.  Owned by the caller (btf__free); NULL and -errno in *@ret_err.
 */
struct btf *btf_cut(const struct btf *object, int *ret_err);

#endif /* BTF_CUT_H */
