/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tree - the processes that live now, and who made the peak
 *
 * Memory grows with the living alone.
 */
#ifndef TREE_H
#define TREE_H

#include "model/record.h"

#define AT_PEAK_MAX 256

struct live;

struct at_peak {
	int32_t pid;
	char comm[EM_COMM_LEN];
	int64_t rss_bytes; /* net of what fork shares (U-134): they add up to the peak */
};

struct tree {
	struct live *by_key;
	size_t n;
	uint64_t peak_epoch; /* of @at_peak; older parts are dropped */
	struct at_peak at_peak[AT_PEAK_MAX];
	size_t n_at_peak;
};

/* What is known of a living process's image. */
struct image {
	const char *argv; /* NULL: not known, or never execed; owned by the tree */
	size_t argv_len;
	bool argv_truncated;
	int64_t mark_bytes; /* the largest of tree_mark; 0 none */
};

/* Its high-water mark before that was set back.  Of a process that is not known nothing is kept. */
void tree_mark(struct tree *t, struct process_key key, int64_t mark_bytes);

/* Each 0 or -ENOMEM.  Records may come in any order; one of an unknown process adds it. */
int tree_fork(struct tree *t, const struct fork_record *r);
int tree_exec(struct tree *t, const struct exec_record *r);

/* Takes it out, its part in the peak noted; *@ret_image holds until tree_forget. */
struct live *tree_exit(struct tree *t, const struct exit_record *r, struct image *ret_image);
void tree_forget(struct live *l); /* NULL is fine */

/* Parts of the peak, the largest first. */
void tree_sort_peak(struct tree *t);
void tree_free(struct tree *t);

#endif /* TREE_H */
