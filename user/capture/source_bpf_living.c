// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/source_bpf.h"

#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>

#include "procfs/scan.h"
#include "units.h"

/* What /proc says where the programs were not asked to count. */
static void counts_from_proc(const struct proc_stat *stat, struct exit_record *r)
{
	r->minor_faults = (int64_t)stat->minor_faults;
	r->major_faults = (int64_t)stat->major_faults;
	/* Of several threads the ended ones are mixed with children that were waited for. */
	if (r->threads == 1)
		scan_thread_io(stat->pid, &r->io);
}

static void memory_from_proc(const struct source_bpf *s, const struct exit_event *e,
			     const struct proc_status *status, struct exit_record *r)
{
	/* A mark from before it was attached to is not of the time since. */
	int64_t before = e->flags & EVENT_TAKEN_IN
				 ? source_bpf_pages(s, e->mark_before_pages +
							       s->slack_pages * (uint64_t)s->n_cpus)
				 : 0;

	if (e->flags & EVENT_SHARED_MM)
		return;
	r->split = (struct rss_split){ status->rss_anon_bytes, status->rss_file_bytes,
				       status->rss_shmem_bytes, status->vm_swap_bytes,
				       status->hugetlb_bytes };
	r->peak_vm_bytes = status->vm_peak_bytes;
	r->final_peak_bytes = status->vm_hwm_bytes;
	if (status->vm_hwm_bytes > r->peak_rss_bytes && status->vm_hwm_bytes > before) {
		r->peak_rss_bytes = status->vm_hwm_bytes;
		r->peak_source = PEAK_VMHWM;
		r->notes |= NOTE_HIWATER;
	}
}

/*
 * The most that its image is known to have come to; its part in the peak goes into @e.  Of one that
 * is past the exit hook the event has both.
 */
static uint64_t image_pages(const struct source_bpf *s, const struct process *p,
			    struct exit_event *e)
{
	uint64_t epoch = s->skel->bss->tree.epoch;
	struct mm_entry mm = { 0 };
	bool shares;

	if (e->flags & EVENT_EXITED)
		return e->flags & EVENT_MEMORY ? e->peak_pages : 0;
	e->at_peak_pages = 0;
	e->at_peak_epoch = epoch;
	if (bpf_map_lookup_elem(bpf_map__fd(s->skel->maps.mms), &p->mm, &mm))
		return 0;
	/* One address space has one part, that of the process it belongs to. */
	shares = e->flags & EVENT_SHARED_MM && mm.users > 1;
	if (!shares)
		e->at_peak_pages = mm.epoch == epoch ? mm.at_peak : mm.net;
	return mm.known;
}

/* Whether the peak is the kernel's approximate mark. */
static bool is_mark(const struct exit_event *e, uint64_t image)
{
	if (e->images_peak_pages > image)
		return e->flags & EVENT_IMAGES_HIWATER;
	return e->flags & EVENT_EXITED && e->flags & EVENT_HIWATER;
}

/* One that still lives: what the maps hold, and its own high-water mark. */
int source_bpf_hand_on(struct source_bpf *s, const struct living *l)
{
	bool counted = s->counted;
	struct exit_event e = l->event;
	struct proc_status status;
	struct proc_stat stat;
	struct exit_record r;
	uint64_t image = l->image_pages;
	uint64_t known = image > e.images_peak_pages ? image : e.images_peak_pages;
	int64_t clock = counted || !e.pid ? UNKNOWN : scan_cpu_ns((pid_t)e.pid);

	if (clock > (int64_t)l->before_cpu_ns)
		e.cpu_ns = (uint64_t)clock - l->before_cpu_ns;
	source_bpf_record(s, &e, &r);
	r.running = true;
	r.ended_ns = UNKNOWN;
	r.wait_status = UNKNOWN;
	r.notes = source_bpf_notes(&e, is_mark(&e, image));
	if (!counted) {
		r.minor_faults = r.major_faults = UNKNOWN;
		r.voluntary_switches = r.involuntary_switches = UNKNOWN;
		r.io = io_unknown;
		r.cpu_user_ns = r.cpu_system_ns = UNKNOWN;
		if (clock < 0) /* not in our pid namespace, or gone by now */
			r.cpu_ns = UNKNOWN;
	}
	if (!(e.flags & EVENT_SHARED_MM) && known) {
		r.peak_rss_bytes = source_bpf_pages(s, known);
		r.peak_source = PEAK_TRACKED;
	}
	if (!scan_stat((pid_t)e.pid, &stat) && source_bpf_same(s, e.start_ns, &stat)) {
		size_t len = strnlen(stat.comm, sizeof(r.comm) - 1);

		memset(r.comm, 0, sizeof(r.comm));
		memcpy(r.comm, stat.comm, len);
		/* Of one that was there before they would be its whole life's. */
		if (!counted && !(e.flags & EVENT_TAKEN_IN))
			counts_from_proc(&stat, &r);
		if (r.cpu_ns >= 0 && r.cpu_user_ns + r.cpu_system_ns != r.cpu_ns)
			cpu_split(r.cpu_ns, (int64_t)stat.utime_ticks, (int64_t)stat.stime_ticks,
				  &r.cpu_user_ns, &r.cpu_system_ns);
		if (!scan_status((pid_t)e.pid, &status))
			memory_from_proc(s, &e, &status, &r);
	}
	source_bpf_lifetime(s, &e, &r);
	return s->base.sink.on_exit(s->base.sink.ctx, &r);
}

/* An ended one's record, for which there was no room in the ring (record_keep). */
static bool is_kept(uint64_t key)
{
	return key & 1;
}

void source_bpf_update_clocks(struct source_bpf *s)
{
	int fd = bpf_map__fd(s->skel->maps.processes);
	uint64_t key, next;
	uint64_t *at = NULL;
	struct process p;

	while (!bpf_map_get_next_key(fd, at, &next)) {
		key = next;
		at = &key;
		if (!is_kept(key) && !bpf_map_lookup_elem(fd, &key, &p))
			scan_cpu_ns((pid_t)p.event.pid);
	}
}

bool source_bpf_next_living(const struct source_bpf *s, uint64_t *at, struct living *ret)
{
	int fd = bpf_map__fd(s->skel->maps.processes);
	struct process p;

	do {
		if (bpf_map_get_next_key(fd, *at ? at : NULL, at))
			return false;
	} while (is_kept(*at) || bpf_map_lookup_elem(fd, at, &p));
	*ret = (struct living){ .event = p.event, .before_cpu_ns = p.before_cpu_ns };
	ret->image_pages = image_pages(s, &p, &ret->event);
	return true;
}

int source_bpf_hand_on_living(struct source_bpf *s)
{
	struct living l;
	uint64_t at = 0;
	int err = 0;

	while (!err && source_bpf_next_living(s, &at, &l))
		err = source_bpf_hand_on(s, &l);
	return err;
}

int source_bpf_take_kept(struct source_bpf *s)
{
	volatile const __u64 *kept = &s->skel->bss->records_kept;
	__u64 *taken = &s->skel->bss->records_taken;
	int fd = bpf_map__fd(s->skel->maps.processes), err = 0;
	uint64_t key, next;
	uint64_t *at = NULL;
	struct process p;

	while (!err && *taken < *kept && !bpf_map_get_next_key(fd, at, &next)) {
		if (is_kept(next) && !bpf_map_lookup_elem(fd, &next, &p) &&
		    !bpf_map_delete_elem(fd, &next)) {
			__atomic_fetch_add(taken, 1, __ATOMIC_RELAXED);
			err = source_bpf_on_record(s, &p.event, sizeof(p.event));
			continue; /* from the same place on */
		}
		key = next;
		at = &key;
	}
	s->unfetched = *kept - *taken;
	return err;
}
