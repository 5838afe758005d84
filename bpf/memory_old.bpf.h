/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * memory_old - what was seen of each address space, where no sum can be kept
 *
 * A sum needs a lock, and a lock an exchange.  Readings only raise what is known of an address
 * space: whichever of two at the same time stays was really there.
 */
#ifndef MEMORY_OLD_BPF_H
#define MEMORY_OLD_BPF_H

#include "once.bpf.h"
#include "rss.bpf.h"

/* User space adds up. */
static __always_inline int run_move(u32 run, s64 lower, s64 upper)
{
	return 0;
}

static __always_inline int tree_settle(u32 run)
{
	return 0;
}

static __always_inline void tree_consider(u32 run)
{
}

static __always_inline void mm_raise(u64 mm, u64 high)
{
}

__noinline int mm_read(u64 mm_addr)
{
	struct mm_struct *mm = (void *)mm_addr;
	struct mm_entry *e = bpf_map_lookup_elem(&mms, &mm_addr);
	u64 rss, hiwater;

	if (!e || e->mm != mm_addr || is_in_exec((void *)bpf_get_current_task()))
		return 0;
	rss = rss_pages(mm_addr, RSS_RESIDENT);
	hiwater = mark_of(e, mm);
	maximum(&e->known, rss);
	maximum(&e->hiwater, hiwater);
	return 0;
}

/* As in memory.bpf.h; without a lock it does not matter how. */
static __always_inline int mm_sample(u64 mm_addr, u32 cpu, u32 how)
{
	/* A caller's argument that nobody reads is never set, and the verifier asks for it. */
	barrier_var(cpu);
	barrier_var(how);
	return mm_read(mm_addr);
}

__noinline int mm_enter(u64 mm, u32 run, u64 inherited, u32 cpu)
{
	struct mm_struct *space = (void *)mm;
	struct mm_entry *e = bpf_map_lookup_elem(&mms, &mm);

	if (e && e->mm == mm) /* its end was never seen */
		__sync_fetch_and_add(&drops.stale_entries, 1);
	if (bpf_map_update_elem(&mms, &mm, &blank_mm, BPF_ANY) ||
	    !(e = bpf_map_lookup_elem(&mms, &mm))) {
		__sync_fetch_and_add(&drops.mms_untracked, 1);
		return 1;
	}
	e->known = rss_pages(mm, RSS_RESIDENT);
	e->inherited = inherited;
	if (cpu == CPU_ANY)
		e->mark_before = BPF_CORE_READ(space, hiwater_rss);
	e->run = run;
	e->users = 1;
	barrier();
	e->mm = mm; /* from here on others take it for what it is */
	return 0;
}

/* One user less; the last two may both find that they are the last. */
__noinline int mm_forget(u64 mm)
{
	struct mm_entry *e = bpf_map_lookup_elem(&mms, &mm);

	if (e && e->mm == mm && count_down(&e->users))
		bpf_map_delete_elem(&mms, &mm);
	return 0;
}

static __always_inline int mm_leave(u64 mm, u64 signal, bool closing)
{
	return mm_forget(mm);
}

#endif /* MEMORY_OLD_BPF_H */
