/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * once - what only one does of several threads that come at the same time
 *
 * By what an atomic operation took out.  Without such operations all add first and look then, so
 * that several may find that they are the last; who puts a claim into a map is the one.
 */
#ifndef ONCE_BPF_H
#define ONCE_BPF_H

#include "tree.bpf.h"

#ifndef NO_FETCH

static __always_inline void flag_set(struct process *p, u32 flag)
{
	__sync_fetch_and_or(&p->event.flags, flag);
}

/* True for the first to see the exec coming. */
static __always_inline bool exec_once(struct process *p)
{
	return !(__sync_fetch_and_or(&p->event.flags, EVENT_IN_EXEC) & EVENT_IN_EXEC);
}

/* True for the first that finds nobody alive; the second copy may come after it, too. */
static __always_inline bool exit_once(struct process *p)
{
	return !(__sync_fetch_and_or(&p->event.flags, EVENT_EXITED) & EVENT_EXITED);
}

/* True for the first that finds no thread left of @p, which was that of @signal. */
static __always_inline bool finish_once(struct process *p, u64 signal)
{
	return !(__sync_fetch_and_or(&p->event.flags, EVENT_FINISHED) & EVENT_FINISHED);
}

/* One less; whether none is left. */
static __always_inline bool count_down(u32 *n)
{
	return __sync_fetch_and_add(n, -1) == 1;
}

/* One of its threads, all of which are known, is off the CPU for good; true for the last. */
static __always_inline bool dead_is_last(struct process *p, u64 signal)
{
	return __sync_fetch_and_add(&p->dead, 1) + 1 == p->event.threads;
}

static __always_inline void claims_drop(u64 signal, bool many)
{
}

#else

#define EEXIST 17

/* Whoever comes second finds it there. */
static __always_inline bool claim(u64 signal, u32 flag)
{
	struct claim key = { .signal = signal, .flag = flag };
	u32 none = 0;
	int err = bpf_map_update_elem(&claims, &key, &none,
				      BPF_NOEXIST); /* its upper half is not set */

	if (err && err != -EEXIST)
		__sync_fetch_and_add(&drops.claims, 1);
	return err != -EEXIST;
}

static __always_inline void claim_drop(u64 signal, u32 flag)
{
	struct claim key = { .signal = signal, .flag = flag };

	bpf_map_delete_elem(&claims, &key);
}

/* A process that never had a second thread needs no claims. */
static __always_inline bool has_many(const struct process *p)
{
	return p->event.threads != 1 || p->event.flags & EVENT_TAKEN_IN;
}

/* By addition, which is atomic; no two set the same flag at the same time. */
static __always_inline void flag_set(struct process *p, u32 flag)
{
	if (!(p->event.flags & flag))
		__sync_fetch_and_add(&p->event.flags, flag);
}

static __always_inline bool exec_once(struct process *p)
{
	if (p->event.flags & EVENT_IN_EXEC)
		return false;
	flag_set(p, EVENT_IN_EXEC);
	return true;
}

static __always_inline bool exit_once(struct process *p)
{
	if (p->event.flags & EVENT_EXITED || (has_many(p) && !claim(p->signal, EVENT_EXITED)))
		return false;
	flag_set(p, EVENT_EXITED);
	return true;
}

/*
 * The one before may be through already, its claim withdrawn and the entry another's.  The address
 * @signal is not: each thread holds it until it is off the CPU.
 */
static __always_inline bool finish_once(struct process *p, u64 signal)
{
	if (!claim(signal, EVENT_FINISHED))
		return false;
	if (process_find(signal) == p)
		return true;
	claim_drop(signal, EVENT_FINISHED);
	return false;
}

static __always_inline bool count_down(u32 *n)
{
	__sync_fetch_and_add(n, -1);
	return !*(volatile u32 *)n;
}

static __always_inline bool dead_is_last(struct process *p, u64 signal)
{
	bool many = has_many(p); /* asked while this thread still keeps the entry */

	__sync_fetch_and_add(&p->dead, 1);
	if (*(volatile u32 *)&p->dead != *(volatile u32 *)&p->event.threads)
		return false;
	return !many || finish_once(p, signal);
}

/* Once its entry is gone. */
static __always_inline void claims_drop(u64 signal, bool many)
{
	if (!many)
		return;
	claim_drop(signal, EVENT_EXITED);
	claim_drop(signal, EVENT_FINISHED);
}

#endif

#endif /* ONCE_BPF_H */
