// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/source_ptrace_share.h"

#include <sched.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#define READ_TRIES 10000

/* Before each record; records lie at multiples of 8 and in one piece. */
struct entry {
	uint32_t kind;
	uint32_t len;
};

static size_t room_of(size_t len)
{
	return sizeof(struct entry) + (len + 7) / 8 * 8;
}

struct share *share_open(size_t ring_bytes)
{
	struct share *s = mmap(NULL, sizeof(*s) + ring_bytes, PROT_READ | PROT_WRITE,
			       MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (s == MAP_FAILED)
		return NULL;
	s->size = ring_bytes;
	s->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (s->wake_fd >= 0)
		return s;
	munmap(s, sizeof(*s) + ring_bytes);
	return NULL;
}

void share_close(struct share *s)
{
	if (!s)
		return;
	close(s->wake_fd);
	munmap(s, sizeof(*s) + s->size);
}

static struct entry *at(struct share *s, uint64_t place)
{
	return (struct entry *)(s->ring + (place & (s->size - 1)));
}

void share_hurry(struct share *s)
{
	const uint64_t one = 1;

	if (write(s->wake_fd, &one, sizeof(one)) < 0)
		return; /* it is full: readable all the same */
}

static void wake(struct share *s)
{
	if (atomic_load(&s->idle) && atomic_exchange(&s->idle, 0))
		share_hurry(s);
}

bool share_put(struct share *s, enum share_kind kind, const void *head, size_t head_len,
	       const void *more, size_t more_len)
{
	uint64_t place = atomic_load_explicit(&s->head, memory_order_relaxed);
	uint64_t tail = atomic_load_explicit(&s->tail, memory_order_acquire);
	size_t len = head_len + more_len, room = room_of(len);
	size_t left = s->size - (place & (s->size - 1));
	size_t skip = room > left ? left : 0;
	unsigned char *to;

	if (room + skip > s->size - (place - tail))
		return false;
	if (skip) {
		*at(s, place) = (struct entry){ .kind = SHARE_WRAP };
		place += skip;
	}
	*at(s, place) = (struct entry){ .kind = kind, .len = (uint32_t)len };
	to = (unsigned char *)(at(s, place) + 1);
	memcpy(to, head, head_len);
	if (more_len)
		memcpy(to + head_len, more, more_len);
	atomic_store(&s->head, place + room);
	wake(s);
	return true;
}

static void skip_wrap(struct share *s, uint64_t *tail)
{
	if (at(s, *tail)->kind != SHARE_WRAP)
		return;
	*tail += s->size - (*tail & (s->size - 1));
	atomic_store_explicit(&s->tail, *tail, memory_order_release);
}

const void *share_look(struct share *s, enum share_kind *ret_kind, size_t *ret_len)
{
	uint64_t tail = atomic_load_explicit(&s->tail, memory_order_relaxed);

	if (tail == atomic_load_explicit(&s->head, memory_order_acquire))
		return NULL;
	skip_wrap(s, &tail);
	*ret_kind = (enum share_kind)at(s, tail)->kind;
	*ret_len = at(s, tail)->len;
	return at(s, tail) + 1;
}

void share_drop(struct share *s)
{
	uint64_t tail = atomic_load_explicit(&s->tail, memory_order_relaxed);

	atomic_store_explicit(&s->tail, tail + room_of(at(s, tail)->len), memory_order_release);
}

void share_tell(struct share *s, const struct share_totals *t)
{
	uint32_t version = atomic_load_explicit(&s->version, memory_order_relaxed);

	atomic_store_explicit(&s->version, version + 1, memory_order_relaxed);
	atomic_thread_fence(memory_order_release);
	s->told = *t;
	atomic_store_explicit(&s->version, version + 2, memory_order_release);
}

void share_totals_read(struct share *s, struct share_totals *ret)
{
	uint32_t before, after, tries = READ_TRIES;

	do {
		if (tries < READ_TRIES)
			sched_yield();
		before = atomic_load_explicit(&s->version, memory_order_acquire);
		*ret = s->told;
		atomic_thread_fence(memory_order_acquire);
		after = atomic_load_explicit(&s->version, memory_order_relaxed);
		/* A writer that was killed while it wrote would leave it so for ever. */
	} while ((before != after || before & 1) && --tries);
}

void share_woken(struct share *s)
{
	uint64_t count;

	if (read(s->wake_fd, &count, sizeof(count)) < 0)
		return; /* nobody had */
}

bool share_sleep(struct share *s)
{
	atomic_store(&s->idle, 1);
	if (atomic_load(&s->tail) == atomic_load(&s->head))
		return true;
	atomic_store(&s->idle, 0);
	return false;
}
