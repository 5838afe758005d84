// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "hash.h"

struct live {
	struct process_key key;
	UT_hash_handle hh;
	int32_t pid;
	char comm[EM_COMM_LEN];
	char *argv;
	size_t argv_len;
	bool argv_truncated;
	int64_t mark_bytes;
};

static struct live *find(const struct tree *t, struct process_key key)
{
	struct process_key k;
	struct live *l;

	memset(&k, 0, sizeof(k)); /* padding is hashed */
	k.start_ns = key.start_ns;
	k.tgid = key.tgid;
	HASH_FIND(hh, t->by_key, &k, sizeof(k), l);
	return l;
}

static struct live *add(struct tree *t, struct process_key key, int32_t pid)
{
	struct live *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	l->key.start_ns = key.start_ns;
	l->key.tgid = key.tgid;
	l->pid = pid;
	HASH_ADD(hh, t->by_key, key, sizeof(l->key), l);
	if (!hash_is_in(l)) {
		free(l);
		return NULL;
	}
	t->n++;
	return l;
}

int tree_fork(struct tree *t, const struct fork_record *r)
{
	struct live *l = find(t, r->key);

	if (l)
		return 0;
	l = add(t, r->key, r->pid);
	return l ? 0 : -ENOMEM;
}

static void peak_part(struct tree *t, uint64_t epoch, int64_t bytes, int32_t pid, const char *comm)
{
	size_t at = t->n_at_peak, least = 0;

	if (bytes <= 0 || epoch < t->peak_epoch)
		return;
	if (epoch > t->peak_epoch) {
		t->peak_epoch = epoch;
		t->n_at_peak = at = 0;
	}
	if (at == AT_PEAK_MAX) {
		for (size_t i = 1; i < at; i++)
			if (t->at_peak[i].rss_bytes < t->at_peak[least].rss_bytes)
				least = i;
		if (t->at_peak[least].rss_bytes >= bytes)
			return;
		at = least;
	} else {
		t->n_at_peak++;
	}
	t->at_peak[at] = (struct at_peak){ .pid = pid, .rss_bytes = bytes };
	memcpy(t->at_peak[at].comm, comm, EM_COMM_LEN);
}

int tree_exec(struct tree *t, const struct exec_record *r)
{
	struct live *l = find(t, r->key);
	char *argv = NULL;

	if (!l)
		l = add(t, r->key, (int32_t)r->key.tgid);
	if (!l)
		return -ENOMEM;
	/* The old image's part carries the name that process had. */
	if (r->at_peak_bytes > 0) {
		const char *comm = *l->comm ? l->comm : r->comm;

		peak_part(t, r->at_peak_epoch, r->at_peak_bytes, l->pid, comm);
	}
	memcpy(l->comm, r->comm, sizeof(l->comm));
	if (r->argv_known) {
		argv = malloc(r->argv_len ? r->argv_len : 1);
		if (!argv)
			return -ENOMEM;
		memcpy(argv, r->argv, r->argv_len);
	}
	free(l->argv);
	l->argv = argv;
	l->argv_len = r->argv_len;
	l->argv_truncated = r->argv_truncated;
	return 0;
}

void tree_mark(struct tree *t, struct process_key key, int64_t mark_bytes)
{
	struct live *l = find(t, key);

	if (l && mark_bytes > l->mark_bytes)
		l->mark_bytes = mark_bytes;
}

struct live *tree_exit(struct tree *t, const struct exit_record *r, struct image *ret_image)
{
	struct live *l = find(t, r->key);

	*ret_image = (struct image){ 0 };
	peak_part(t, r->at_peak_epoch, r->at_peak_bytes, r->pid, r->comm);
	if (!l)
		return NULL;
	*ret_image = (struct image){ .argv = l->argv,
				     .argv_len = l->argv_len,
				     .argv_truncated = l->argv_truncated,
				     .mark_bytes = l->mark_bytes };
	HASH_DEL(t->by_key, l);
	t->n--;
	return l;
}

void tree_forget(struct live *l)
{
	if (l)
		free(l->argv);
	free(l);
}

static int larger(const void *a, const void *b)
{
	const struct at_peak *x = a, *y = b;

	if (x->rss_bytes != y->rss_bytes)
		return x->rss_bytes > y->rss_bytes ? -1 : 1;
	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

void tree_sort_peak(struct tree *t)
{
	qsort(t->at_peak, t->n_at_peak, sizeof(t->at_peak[0]), larger);
}

void tree_free(struct tree *t)
{
	struct live *l, *next;

	HASH_ITER (hh, t->by_key, l, next) {
		HASH_DEL(t->by_key, l);
		tree_forget(l);
	}
}
