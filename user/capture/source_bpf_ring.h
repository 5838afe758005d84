/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * source_bpf_ring - a BPF ring buffer that somebody else made, read without any bpf() call
 */
#ifndef SOURCE_BPF_RING_H
#define SOURCE_BPF_RING_H

#include <stddef.h>
#include <stdint.h>

struct lent_ring {
	unsigned long *consumer;       /* ours to write */
	const unsigned long *producer; /* the kernel's, the records behind it */
	size_t bytes;
};

/* @fd: the map, of @bytes.  0 or -errno. */
int lent_ring_map(struct lent_ring *r, int fd, uint32_t bytes);
void lent_ring_unmap(struct lent_ring *r);
/* As libbpf's ring_buffer__consume: how many records, or what @take did not like. */
int lent_ring_consume(struct lent_ring *r, int (*take)(void *ctx, void *data, size_t size),
		      void *ctx);

#endif /* SOURCE_BPF_RING_H */
