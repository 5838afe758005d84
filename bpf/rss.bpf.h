/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * rss - resident memory of an address space, as exactly as the kernel keeps it
 */
#ifndef RSS_BPF_H
#define RSS_BPF_H

#include "tree.bpf.h"

#define SAMPLE_TRY  0 /* busy: leave it, it is read again before anything depends on it */
#define SAMPLE_FOLD 2 /* as SAMPLE_MUST, but it need not run on this CPU */
#define SAMPLE_MUST 1 /* busy for long: counted, the upper bound is void */

#define CPU_ANY (~0u)

struct rss_parts {
	s64 pages[RSS_KINDS];
	u64 counters[RSS_KINDS];
};

#ifndef NO_FETCH
static long rss_add_cpu(u32 cpu, struct rss_parts *parts)
{
	s32 part[RSS_KINDS] = {};
	u64 offset;

	if (cpu >= EVENT_CPUS_MAX)
		return 1;
	offset = cpu_offsets[cpu];
	/* One allocation for all four (6.6 on). */
	if (parts->counters[1] == parts->counters[0] + sizeof(s32) &&
	    parts->counters[3] == parts->counters[0] + 3 * sizeof(s32)) {
		bpf_probe_read_kernel(part, sizeof(part), (void *)(parts->counters[0] + offset));
	} else {
		for (int i = 0; i < RSS_KINDS; i++)
			bpf_probe_read_kernel(&part[i], sizeof(part[i]),
					      (void *)(parts->counters[i] + offset));
	}
	for (int i = 0; i < RSS_KINDS; i++)
		parts->pages[i] += part[i];
	return 0;
}

/* 6.2 on: per-CPU counters. */
static __always_inline void rss_add_cpus(struct mm_struct *mm, struct rss_parts *parts)
{
	const u32 size = bpf_core_type_size(struct percpu_counter);
	const u32 at_count = bpf_core_field_offset(struct percpu_counter, count);
	const u32 at_counters = bpf_core_field_offset(struct percpu_counter, counters);
	const void *stat = (void *)mm + bpf_core_field_offset(struct mm_struct, rss_stat);
	char raw[80];

	/* Two with one reading; lock debugging makes them larger. */
#pragma unroll
	for (int i = 0; i < RSS_KINDS; i += 2) {
		if (2 * size > sizeof(raw)) {
			bpf_probe_read_kernel(&parts->pages[i], sizeof(s64),
					      stat + i * size + at_count);
			bpf_probe_read_kernel(&parts->counters[i], sizeof(u64),
					      stat + i * size + at_counters);
			bpf_probe_read_kernel(&parts->pages[i + 1], sizeof(s64),
					      stat + (i + 1) * size + at_count);
			bpf_probe_read_kernel(&parts->counters[i + 1], sizeof(u64),
					      stat + (i + 1) * size + at_counters);
			continue;
		}
		if (bpf_probe_read_kernel(raw, 2 * size, stat + i * size))
			return;
		parts->pages[i] = *(s64 *)(raw + at_count);
		parts->counters[i] = *(u64 *)(raw + at_counters);
		parts->pages[i + 1] = *(s64 *)(raw + size + at_count);
		parts->counters[i + 1] = *(u64 *)(raw + size + at_counters);
	}
	bpf_loop(nr_cpus, rss_add_cpu, parts, 0);
}
#else
/* Those kernels have none: see prepare. */
static __always_inline void rss_add_cpus(struct mm_struct *mm, struct rss_parts *parts)
{
}
#endif

/* Up to 6.1: what the current thread has not yet handed over (SPLIT_RSS_COUNTING). */
static __always_inline void rss_add_thread(struct mm_struct *mm, struct rss_parts *parts)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	struct task_struct___v6_1 *old = (void *)task;
	int count = 0;

	if (!bpf_core_field_exists(old->rss_stat) || BPF_CORE_READ(task, mm) != mm)
		return;
	for (int i = 0; i < RSS_KINDS; i++) {
		bpf_core_read(&count, sizeof(count), &old->rss_stat.count[i]);
		parts->pages[i] += count;
	}
}

/*
 * Pages of the @kinds (bits of RSS_*) in @mm_addr: the global part and every CPU's, read without a
 * lock; each kind counts as 0 when below it, as in /proc.
 */
__noinline u64 rss_pages(u64 mm_addr, u32 kinds)
{
	struct mm_struct *mm = (void *)mm_addr;
	struct mm_struct___v4_5 *old = (void *)mm_addr;
	struct rss_parts parts = {};
	u64 sum = 0;

	if (bpf_core_field_exists(struct mm_rss_stat, count)) {
		for (int i = 0; i < RSS_KINDS; i++)
			bpf_core_read(&parts.pages[i], sizeof(u64), &old->rss_stat.count[i]);
		rss_add_thread(mm, &parts);
	} else {
		rss_add_cpus(mm, &parts);
	}
	for (int i = 0; i < RSS_KINDS; i++)
		if (kinds & 1u << i && parts.pages[i] > 0)
			sum += parts.pages[i];
	return sum;
}

static __always_inline u64 bits(u64 v)
{
	v -= v >> 1 & 0x5555555555555555ull;
	v = (v & 0x3333333333333333ull) + (v >> 2 & 0x3333333333333333ull);
	v = (v + (v >> 4)) & 0x0f0f0f0f0f0f0f0full;
	return v * 0x0101010101010101ull >> 56;
}

/* How far the kernel's approximate mark may be from the true peak (SPEC U-131). */
static __always_inline u64 hiwater_error(const struct mm_entry *e)
{
	return hiwater_slack_pages * (!e || e->cpus >> 63 ? nr_cpus : bits(e->cpus));
}

/* The kernel's mark; 0 while it is from before we attached. */
static __always_inline u64 mark_of(const struct mm_entry *e, struct mm_struct *mm)
{
	u64 mark = BPF_CORE_READ(mm, hiwater_rss);

	return e && mark <= e->mark_before ? 0 : mark;
}

#endif /* RSS_BPF_H */
