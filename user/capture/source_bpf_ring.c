// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/source_bpf_ring.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include <linux/bpf.h>

/* KERNEL: kernel/bpf/ringbuf.c: a page of ours, a page of its own, the records twice. */
static size_t page(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

int lent_ring_map(struct lent_ring *r, int fd, uint32_t bytes)
{
	void *at;

	*r = (struct lent_ring){ .bytes = bytes };
	if (bytes < page() || bytes & (bytes - 1))
		return -EPROTO;
	at = mmap(NULL, page(), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (at == MAP_FAILED)
		return -errno;
	r->consumer = at;
	at = mmap(NULL, page() + 2 * r->bytes, PROT_READ, MAP_SHARED, fd, (off_t)page());
	if (at == MAP_FAILED) {
		munmap(r->consumer, page());
		r->consumer = NULL;
		return -errno;
	}
	r->producer = at;
	return 0;
}

void lent_ring_unmap(struct lent_ring *r)
{
	if (!r->consumer)
		return;
	munmap(r->consumer, page());
	munmap((void *)r->producer, page() + 2 * r->bytes);
	r->consumer = NULL;
}

int lent_ring_consume(struct lent_ring *r, int (*take)(void *ctx, void *data, size_t size),
		      void *ctx)
{
	const char *records = (const char *)r->producer + page();
	unsigned long at = *r->consumer;
	int n = 0, err = 0;

	while (!err && at < __atomic_load_n(r->producer, __ATOMIC_ACQUIRE)) {
		const char *record = records + (at & (r->bytes - 1));
		uint32_t head = __atomic_load_n((const uint32_t *)record, __ATOMIC_ACQUIRE);
		uint32_t len = head & ~(BPF_RINGBUF_BUSY_BIT | BPF_RINGBUF_DISCARD_BIT);

		if (head & BPF_RINGBUF_BUSY_BIT)
			break;
		if (!(head & BPF_RINGBUF_DISCARD_BIT)) {
			err = take(ctx, (void *)(record + BPF_RINGBUF_HDR_SZ), len);
			n++;
		}
		at += (len + BPF_RINGBUF_HDR_SZ + 7) & ~7ul;
		__atomic_store_n(r->consumer, at, __ATOMIC_RELEASE);
	}
	return err ? err : n;
}
