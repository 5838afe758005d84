// SPDX-License-Identifier: GPL-2.0-only
/*
 * exitmeter - membership at birth, images at exec, memory at exit, CPU at the last switch
 *
 * Raw tracepoints, so that one text loads everywhere and detaches at once.  From 7.0 on a raw
 * tracepoint program can be preempted and is then skipped for the next task on that CPU; those
 * that run with interrupts off (sched_switch, sched_wakeup_new) never are.  So the exit hook only
 * adds memory facts, it, exec and prepare_exec have a second copy, and TASK_DEAD repairs the rest.
 */
#include "tree.bpf.h"

#define ARGV_SMALL  128
#define ARGV_MEDIUM 1024

/* Set before load. */
const volatile __u32 ring_bytes = 0;

/* Set before prepare runs. */
__u32 root_pid;       /* the held child, as its parent's namespace sees it */
__u32 caller_is_fair; /* scheduled by the fair class */
/* Answers of prepare. */
__u32 seed_pid; /* of the caller, to prove that the types fit this kernel */
__u32 seed_found;
__u32 seed_mem_alloc;  /* the kernel has bpf_mem_alloc */
__u32 namespace_level; /* of the caller's pid namespace */

__u32 tree_idle; /* user space sleeps until the tree runs again; taken back by exchange */

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 2 << 20);
} events SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u32);
} programs SEC(".maps"); /* on_image */

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u64);
} offset_probe SEC(".maps");

/* Nobody is woken for a record: user space polls, but at half a ring it had better come. */
static __always_inline u64 wake_flags(void)
{
	if (bpf_ringbuf_query(&events, BPF_RB_AVAIL_DATA) > ring_bytes / 2)
		return BPF_RB_FORCE_WAKEUP;
	return BPF_RB_NO_WAKEUP;
}

static __always_inline u64 signal_of(struct task_struct *task)
{
	return (u64)BPF_CORE_READ(task, signal);
}

/* The process's pid as exitmeter's own pid namespace sees it; 0 where it does not. */
static __always_inline u32 pid_in_namespace(struct task_struct *task)
{
	struct pid *pid = BPF_CORE_READ(task, group_leader, thread_pid);
	u32 at = namespace_level, level = BPF_CORE_READ(pid, level);
	int nr = 0;

	if (level < at)
		return 0;
	bpf_probe_read_kernel(&nr, sizeof(nr),
			      (void *)pid + bpf_core_field_offset(struct pid, numbers) +
				      at * bpf_core_type_size(struct upid) +
				      bpf_core_field_offset(struct upid, nr));
	return nr;
}

/* --- birth -------------------------------------------------------------------------------- */

/* What a new entry starts as; too large for a stack. */
static const struct process blank_process;

static __always_inline void fork_send(const struct exit_event *ev)
{
	struct fork_event fork = { .type = EVENT_FORK };

	fork.start_ns = ev->start_ns;
	fork.at_ns = ev->born_ns;
	fork.inherited_pages = ev->inherited_pages;
	fork.tgid = ev->tgid;
	fork.pid = ev->pid;
	fork.ppid = ev->ppid;
	fork.run = ev->run;
	fork.flags = ev->flags;
	if (bpf_ringbuf_output(&events, &fork, sizeof(fork), wake_flags()))
		__sync_fetch_and_add(&drops.fork_events, 1);
}

/* Takes in the process of @task_addr, which has not run; @creator is 0 for the root. */
__noinline int process_enter(u64 task_addr, u64 creator_signal, u32 ppid, u32 run)
{
	struct task_struct *task = (void *)task_addr;
	struct process *creator = creator_signal ? process_find(creator_signal) : NULL;
	u64 signal = signal_of(task), mm = (u64)BPF_CORE_READ(task, mm);
	struct exit_event *ev;
	struct mm_entry *e;
	struct process *p;

	if (bpf_map_lookup_elem(&processes, &signal))
		__sync_fetch_and_add(&drops.stale_entries, 1);
	if (bpf_map_update_elem(&processes, &signal, &blank_process, BPF_ANY) ||
	    !(p = bpf_map_lookup_elem(&processes, &signal))) {
		__sync_fetch_and_add(&drops.processes_unfollowed, 1);
		return 0;
	}
	p->signal = signal;
	p->mm = mm;
	__sync_fetch_and_add(&membership, 2);
	ev = &p->event;
	ev->type = EVENT_EXIT;
	ev->start_ns = BPF_CORE_READ(task, start_boottime);
	ev->born_ns = bpf_ktime_get_ns();
	ev->tgid = BPF_CORE_READ(task, tgid);
	ev->pid = pid_in_namespace(task);
	ev->ppid = ppid;
	ev->run = run;
	ev->threads = 1;
	if (!creator) {
		/* The held child's image is exitmeter's: none of the run's until it execs. */
		ev->flags = EVENT_SHARED_MM;
	} else if (creator->mm == mm) {
		ev->flags = EVENT_SHARED_MM;
		e = bpf_map_lookup_elem(&mms, &mm);
		if (e)
			__sync_fetch_and_add(&e->users, 1);
	} else {
		ev->flags = EVENT_FORKED_IMAGE;
		ev->inherited_pages = rss_pages(mm, RSS_RESIDENT);
		if (mm_enter(mm, run, ev->inherited_pages, bpf_get_smp_processor_id()))
			ev->flags |= EVENT_UNTRACKED_MM;
	}
	if (creator)
		run_add(run, FIELD(forks), 1);
	run_count(run, FIELD(processes), 1);
	run_count(run, FIELD(threads), 1);
	fork_send(ev);
	return 0;
}

/* --- once, at the start ------------------------------------------------------------------- */

/*
 * Where each CPU's per-CPU memory lies, without any kernel symbol: the address of a per-CPU map
 * element on a CPU less the map's own per-CPU pointer (KERNEL: bpf_array.pptrs, per_cpu_ptr).
 */
static long measure_cpu(u32 cpu, u64 *base)
{
	u32 zero = 0;
	void *at;

	if (cpu >= EVENT_CPUS_MAX)
		return 1;
	at = bpf_map_lookup_percpu_elem(&offset_probe, &zero, cpu);
	if (!at)
		return 1;
	*(volatile u64 *)&offsets_leak = (u64)at;
	cpu_offsets[cpu] = *(volatile u64 *)&offsets_leak - *base;
	return 0;
}

/*
 * The newest child of the caller that is root_pid: it is asleep, and its parent is here, so the
 * list does not move.
 */
static __always_inline struct task_struct *held_child(struct task_struct *parent)
{
	u64 at = (u64)BPF_CORE_READ(parent, children.prev);
	struct task_struct *task;

	for (int i = 0; i < 4; i++) {
		task = (void *)(at - bpf_core_field_offset(struct task_struct, sibling));
		if (pid_in_namespace(task) == root_pid)
			return task;
		bpf_core_read(&at, sizeof(at), &((struct list_head *)at)->prev);
	}
	return NULL;
}

static __always_inline int prepare(void)
{
	struct task_struct *current = (void *)bpf_get_current_task(), *root;
	u64 base = 0;

	*(volatile u64 *)&offsets_leak = (u64)&offset_probe;
	bpf_probe_read_kernel(&base, sizeof(base),
			      (void *)(*(volatile u64 *)&offsets_leak +
				       bpf_core_field_offset(struct bpf_array, pptrs)));
	bpf_loop(nr_cpus, measure_cpu, &base, 0);

	if (caller_is_fair)
		fair_class = (u64)BPF_CORE_READ(current, sched_class);
	namespace_level = BPF_CORE_READ(current, thread_pid, level);
	seed_pid = pid_in_namespace(current);
	/* Only a reference, so that user space can ask the object's types whether it exists. */
	seed_mem_alloc = bpf_core_type_exists(struct bpf_mem_alloc);
	root = held_child(current);
	if (!root)
		return 0;
	process_enter((u64)root, 0, seed_pid, 0);
	seed_found = 1;
	return 0;
}

/* --- exec --------------------------------------------------------------------------------- */

static __always_inline u64 beyond(u64 a, u64 b)
{
	return a > b ? a - b : 0;
}

/* What the image that an exec is about to close has come to. */
static __always_inline void image_note(struct process *p, struct task_struct *task)
{
	struct mm_struct *mm = BPF_CORE_READ(task, mm);
	u32 cpu = bpf_get_smp_processor_id();
	u64 rss, hiwater, vm, key;
	struct mm_entry *e;

	if (!mm || p->event.flags & EVENT_SHARED_MM)
		return;
	mm_sample((u64)mm, cpu, SAMPLE_MUST);
	rss = rss_pages((u64)mm, RSS_RESIDENT);
	hiwater = BPF_CORE_READ(mm, hiwater_rss);
	key = (u64)mm;
	e = bpf_map_lookup_elem(&mms, &key);
	p->image_last_pages = rss;
	if (e) {
		if (e->known > rss)
			rss = e->known;
		p->image_error_pages = hiwater_error(e);
	}
	maximum(&p->image_exact_pages, rss);
	maximum(&p->image_hiwater_pages, hiwater);
	if (!(p->event.flags & EVENT_FORKED_IMAGE)) {
		vm = BPF_CORE_READ(mm, hiwater_vm);
		maximum(&p->event.vm_peak_pages, vm);
		vm = BPF_CORE_READ(mm, total_vm);
		maximum(&p->event.vm_peak_pages, vm);
	}
}

/*
 * 6.10 on: the old image is whole, its other threads still run.  From here on its memory goes, and
 * its address may be another's before the exec is done: it leaves now, but for upper, which holds
 * what it has come to until the new image is in place.
 */
static __always_inline int prepare_exec(struct task_struct *task, struct process *p)
{
	if (__sync_fetch_and_or(&p->event.flags, EVENT_IN_EXEC) & EVENT_IN_EXEC)
		return 0;
	image_note(p, task);
	mm_leave(p->mm, p->signal, true);
	return 0;
}

#define SEND_EXEC(room)                                                                          \
	({                                                                                       \
		struct exec_event *ev_ = bpf_ringbuf_reserve(&events, sizeof(*ev_) + (room), 0); \
		if (ev_) {                                                                       \
			u64 len_ = args < (room) ? args : (room);                                \
			__builtin_memcpy(ev_, &head, sizeof(head));                              \
			ev_->argv_len = len_;                                                    \
			if (len_ && bpf_probe_read_user(ev_->argv, len_ & (2 * (room)-1),        \
							(void *)arg_start))                      \
				ev_->argv_len = 0;                                               \
			bpf_ringbuf_submit(ev_, wake_flags());                                   \
		} else {                                                                         \
			__sync_fetch_and_add(&drops.exec_events, 1);                             \
		}                                                                                \
	})

/* Takes the old image's last part out of upper, with what other threads took after prepare_exec. */
static __always_inline void closing_end(struct process *p)
{
	u64 held = p->closing_pages, peak = p->image_exact_pages;

	if (!held)
		return;
	if (p->image_hiwater_pages > peak)
		peak = p->image_hiwater_pages;
	if (peak > held)
		run_move(p->event.run, 0, peak - held);
	else
		peak = held;
	tree_settle(p->event.run);
	run_move(p->event.run, 0, -peak);
	p->closing_pages = 0;
}

/* Closes the old image: its peak goes into the process, its part leaves the sums. */
static __always_inline void image_close(struct process *p, struct exec_event *head)
{
	u64 exact, hiwater, peak, mm = p->mm;
	struct mm_entry *e;

	if (!(p->event.flags & EVENT_IN_EXEC)) {
		/* Not announced: the address space is gone, only what was seen of it is left. */
		e = bpf_map_lookup_elem(&mms, &mm);
		if (!(p->event.flags & EVENT_SHARED_MM)) {
			p->event.flags |= EVENT_IMAGE_UNSEEN;
			p->image_exact_pages = e ? e->known : 0;
			p->image_hiwater_pages = e ? e->hiwater : 0;
		}
		mm_leave(mm, p->signal, false);
	}
	closing_end(p);
	exact = p->image_exact_pages;
	hiwater = p->image_hiwater_pages;
	peak = hiwater > exact ? hiwater : exact;
	peak = peak > p->event.inherited_pages ? peak - p->event.inherited_pages : 0;
	if (!(p->event.flags & EVENT_SHARED_MM) && peak > p->event.images_peak_pages) {
		p->event.images_peak_pages = peak;
		p->event.flags &= ~(EVENT_IMAGES_HIWATER | EVENT_IMAGES_FELL);
		p->event.images_error_pages = 0;
		if (hiwater > exact) {
			p->event.flags |= EVENT_IMAGES_HIWATER;
			p->event.images_error_pages = p->image_error_pages;
		} else if (p->image_last_pages < exact) {
			p->event.flags |= EVENT_IMAGES_FELL;
			p->event.images_error_pages = beyond(hiwater + p->image_error_pages, exact);
		}
	}
	head->at_peak_pages = p->event.at_peak_pages;
	head->at_peak_epoch = p->event.at_peak_epoch;
	p->event.at_peak_pages = 0;
	p->image_exact_pages = p->image_hiwater_pages = 0;
}

/* The new image is in place, the other threads are gone. */
static __always_inline int process_exec(struct task_struct *task, struct process *p)
{
	struct mm_struct *mm = BPF_CORE_READ(task, mm);
	struct exec_event head = { .type = EVENT_EXEC };
	u32 cpu = bpf_get_smp_processor_id();
	u64 arg_start, args;

	image_close(p, &head);
	p->mm = (u64)mm;
	p->event.flags &=
		~(EVENT_SHARED_MM | EVENT_FORKED_IMAGE | EVENT_IN_EXEC | EVENT_UNTRACKED_MM);
	p->event.inherited_pages = 0;
	p->event.execs++;
	if (mm_enter((u64)mm, p->event.run, 0, cpu))
		p->event.flags |= EVENT_UNTRACKED_MM;
	run_add(p->event.run, FIELD(execs), 1);

	head.start_ns = p->event.start_ns;
	head.at_ns = bpf_ktime_get_ns();
	head.tgid = p->event.tgid;
	head.pid = p->event.pid;
	head.run = p->event.run;
	bpf_probe_read_kernel_str(head.comm, sizeof(head.comm), task->comm);
	arg_start = BPF_CORE_READ(mm, arg_start);
	args = BPF_CORE_READ(mm, arg_end) - arg_start;
	if (args > EVENT_ARGV_MAX) {
		args = EVENT_ARGV_MAX;
		head.flags = EVENT_ARGV_TRUNCATED;
	}
	if (args <= ARGV_SMALL)
		SEND_EXEC(ARGV_SMALL);
	else if (args <= ARGV_MEDIUM)
		SEND_EXEC(ARGV_MEDIUM);
	else
		SEND_EXEC(EVENT_ARGV_MAX);
	return 0;
}

/* --- exit --------------------------------------------------------------------------------- */

/* What only the living address space knows. */
static __always_inline void exit_memory(struct process *p, struct mm_struct *mm, u32 cpu)
{
	struct exit_event *ev = &p->event;
	struct mm_entry *e;
	u64 key = (u64)mm, exact, hiwater, vm;

	mm_sample(key, cpu, SAMPLE_MUST);
	ev->anon_pages = rss_pages(key, 1u << RSS_ANON);
	ev->file_pages = rss_pages(key, 1u << RSS_FILE);
	ev->shmem_pages = rss_pages(key, 1u << RSS_SHMEM);
	ev->swap_pages = rss_pages(key, 1u << RSS_SWAP);
	ev->hugetlb_pages = mm_hugetlb_pages(mm);
	exact = ev->anon_pages + ev->file_pages + ev->shmem_pages;
	hiwater = BPF_CORE_READ(mm, hiwater_rss);
	e = bpf_map_lookup_elem(&mms, &key);
	ev->peak_pages = exact;
	if (e && e->known > exact) {
		/* It was more before: how much more only the mark tells, about. */
		ev->peak_pages = e->known;
		ev->flags |= EVENT_FELL;
		ev->error_pages = beyond(hiwater + hiwater_error(e), e->known);
	}
	if (hiwater > ev->peak_pages) {
		ev->peak_pages = hiwater;
		ev->flags = (ev->flags & ~EVENT_FELL) | EVENT_HIWATER;
		ev->error_pages = hiwater_error(e);
	}
	vm = BPF_CORE_READ(mm, hiwater_vm);
	maximum(&ev->vm_peak_pages, vm);
	vm = BPF_CORE_READ(mm, total_vm);
	maximum(&ev->vm_peak_pages, vm);
	ev->flags |= EVENT_MEMORY;
}

static __always_inline void exit_note(struct process *p, struct task_struct *task)
{
	struct exit_event *ev = &p->event;

	ev->ended_ns = bpf_ktime_get_ns();
	ev->exit_code = signal_exit_code((void *)p->signal, task);
	bpf_probe_read_kernel_str(ev->comm, sizeof(ev->comm),
				  BPF_CORE_READ(task, group_leader)->comm);
	run_add(ev->run, FIELD(exits), 1);
	run_count(ev->run, FIELD(processes), -1);
}

static __always_inline int process_exit(struct task_struct *task, struct process *p, bool again)
{
	u32 cpu = bpf_get_smp_processor_id();
	struct mm_struct *mm;

	mm = BPF_CORE_READ(task, mm);
	if (!again) {
		__sync_fetch_and_add(&p->leaving, 1);
		run_count(p->event.run, FIELD(threads), -1);
	}
	if (BPF_CORE_READ(task, signal, live.counter)) {
		/* Killed by an exec of another thread: it may have grown since prepare_exec. */
		if (p->event.flags & EVENT_IN_EXEC)
			image_note(p, task);
		return 0;
	}
	/* The second copy, or the second of two threads that both find nobody alive. */
	if (__sync_fetch_and_or(&p->event.flags, EVENT_EXITED) & EVENT_EXITED)
		return 0;
	if (mm && !(p->event.flags & EVENT_SHARED_MM))
		exit_memory(p, mm, cpu);
	exit_note(p, task);
	mm_leave(p->mm, p->signal, false);
	closing_end(p);
	return 0;
}

/* --- the switch --------------------------------------------------------------------------- */

/*
 * Whether @task, which is current, is in the tree.  Most switches are between few
 * processes, and nothing about them changed since the last time.
 */
static __always_inline bool is_member(struct task_struct *task, struct cpu_slot *slot)
{
	struct verdict *v = &slot->verdicts[(u32)task->pid % VERDICTS];
	u64 number = membership;

	if (v->task == (u64)task && (v->word & ~VERDICT_MEMBER) == number)
		return v->word & VERDICT_MEMBER;
	v->task = (u64)task;
	v->word = number | (process_find(signal_of(task)) ? VERDICT_MEMBER : 0);
	return v->word & VERDICT_MEMBER;
}

/*
 * Whether prev_sum_exec_runtime of @task, which is current, is what its runtime was when it came on
 * the CPU (KERNEL: set_next_entity).
 */
static __always_inline bool is_fair(struct task_struct *task)
{
	if (prio_tells_class)
		return task->prio >= MAX_RT_PRIO;
	return (u64)BPF_CORE_READ(task, sched_class) == fair_class;
}

/* What the runtime of @task was when it was last counted; interrupts are off. */
static __always_inline u64 counted_before(struct task_struct *task, struct cpu_slot *slot,
					  u64 runtime)
{
	u64 since = task->se.prev_sum_exec_runtime, key, *seen;

	barrier_var(since); /* one load must not serve two types of pointer */
	if (slot->counted == (u64)task)
		since = slot->runtime_ns;
	if (is_fair(task))
		return since;
	key = (u64)task;
	seen = bpf_map_lookup_elem(&runtimes, &key);
	if (seen) {
		since = *seen;
		*seen = runtime;
	} else if (bpf_map_update_elem(&runtimes, &key, &runtime, BPF_ANY)) {
		since = runtime; /* no room: only its record will tell */
	}
	return since;
}

/* CPU of the task since it was last counted. */
static __always_inline void count_slice(struct task_struct *task, struct cpu_slot *slot)
{
	u64 runtime = task->se.sum_exec_runtime;
	u64 since = counted_before(task, slot, runtime);
	struct process *p;
	struct run_totals *own;

	slot->counted = (u64)task;
	slot->runtime_ns = runtime;
	if (runtime <= since)
		return;
	slot->cpu_ns += runtime - since;
	if (nr_runs > 1 && (p = process_find(signal_of(task))) && (own = run_own(p->event.run)))
		__sync_fetch_and_add(&own->slices_ns, runtime - since);
}

/* What the ended process adds to the totals. */
static __always_inline void total_record(struct run_totals *r, struct exit_event *ev, u64 peak)
{
	u64 *to = &r->utime_ns, *from = &ev->utime_ns;

	__sync_fetch_and_add(&r->cpu_ns, ev->cpu_ns);
	for (int i = 0; i < EVENT_COUNTERS; i++)
		__sync_fetch_and_add(&to[i], from[i]);
	__sync_fetch_and_add(&r->sum_peak_pages, peak);
	maximum(&r->largest_peak_pages, peak);
}

/* The last thread is off the CPU: the record goes out. */
static __always_inline void process_finish(struct process *p, struct task_struct *task)
{
	struct exit_event *ev = &p->event;
	u64 signal = p->signal, peak;
	struct run_totals *own;

	if (!(ev->flags & EVENT_EXITED)) {
		ev->flags |= EVENT_REPAIRED;
		exit_note(p, task);
		mm_leave(p->mm, signal, false);
		closing_end(p);
		run_add(ev->run, FIELD(repaired), 1);
	}
	if (p->leaving != ev->threads) /* the hook was skipped for some */
		run_count(ev->run, FIELD(threads), (s64)p->leaving - ev->threads);
	peak = ev->images_peak_pages > ev->peak_pages ? ev->images_peak_pages : ev->peak_pages;
	total_record(&tree, ev, peak);
	if ((own = run_own(ev->run)))
		total_record(own, ev, peak);
	if (bpf_ringbuf_output(&events, ev, sizeof(*ev), wake_flags())) {
		__sync_fetch_and_add(&drops.exit_events, 1);
		run_add(ev->run, FIELD(lost_exits), 1);
	}
	/* Last: whoever waits for it finds the record there. */
	run_add(ev->run, FIELD(records), 1);
	if (bpf_map_delete_elem(&processes, &signal))
		__sync_fetch_and_add(&drops.delete_failed, 1);
}

static __always_inline int thread_finish(struct process *p, struct task_struct *task)
{
	struct exit_event *ev = &p->event;
	u64 key = (u64)task;

#define ADD(member, value) __sync_fetch_and_add(&ev->member, (value))
	if (!is_fair(task))
		bpf_map_delete_elem(&runtimes, &key);
	ADD(cpu_ns, BPF_CORE_READ(task, se.sum_exec_runtime));
	ADD(utime_ns, BPF_CORE_READ(task, utime));
	ADD(stime_ns, BPF_CORE_READ(task, stime));
	ADD(minor_faults, BPF_CORE_READ(task, min_flt));
	ADD(major_faults, BPF_CORE_READ(task, maj_flt));
	/* This very switch is counted already; wait4 leaves it out. */
	ADD(voluntary_switches, BPF_CORE_READ(task, nvcsw) - 1);
	ADD(involuntary_switches, BPF_CORE_READ(task, nivcsw));
	ADD(rchar, BPF_CORE_READ(task, ioac.rchar));
	ADD(wchar, BPF_CORE_READ(task, ioac.wchar));
	ADD(syscr, BPF_CORE_READ(task, ioac.syscr));
	ADD(syscw, BPF_CORE_READ(task, ioac.syscw));
	ADD(read_bytes, BPF_CORE_READ(task, ioac.read_bytes));
	ADD(write_bytes, BPF_CORE_READ(task, ioac.write_bytes));
	ADD(cancelled_write_bytes, BPF_CORE_READ(task, ioac.cancelled_write_bytes));
#undef ADD
	__sync_fetch_and_add(&membership, 2);
	if (__sync_fetch_and_add(&p->dead, 1) + 1 == ev->threads)
		process_finish(p, task);
	return 0;
}

/* An idle tree runs again: user space starts the tick and its polling. */
static __always_inline void wake_user(struct task_struct *next)
{
	struct awake_event ev = { .type = EVENT_AWAKE };
	u64 mm = (u64)BPF_CORE_READ(next, mm);

	if (!mm || !bpf_map_lookup_elem(&mms, &mm))
		return;
	if (!__sync_lock_test_and_set(&tree_idle, 0))
		return;
	ev.at_ns = bpf_ktime_get_ns();
	bpf_ringbuf_output(&events, &ev, sizeof(ev), BPF_RB_FORCE_WAKEUP);
}

#define LOOK_NS 250000

/*
 * A tree that is read whole before anything depends on it needs no look at every switch: only as
 * often as its peak is to be noticed.  No clock is read for that.
 */
static __always_inline bool look_is_due(struct cpu_slot *slot)
{
	u64 ticks = bpf_jiffies64();

	if (slot->cpu_ns - slot->looked_ns < LOOK_NS && slot->looked_ticks == ticks &&
	    !tree.unread_mms)
		return false;
	slot->looked_ns = slot->cpu_ns;
	slot->looked_ticks = ticks;
	return true;
}

/* --- the programs ------------------------------------------------------------------------- */

/* Memory of the current task, and of the tree if that rises. */
__noinline int look(u32 cpu, u32 how)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	struct process *p = process_find(signal_of(task));
	u64 mm = (u64)BPF_CORE_READ(task, mm);

	if (p && mm) {
		mm_sample(mm, cpu, how);
		tree_consider(p->event.run);
	}
	return 0;
}

static __always_inline int birth(struct task_struct *task)
{
	u64 signal = signal_of((void *)bpf_get_current_task());
	struct process *creator = process_find(signal);

	if (!creator)
		return 0;
	if (signal_of(task) == signal) {
		__sync_fetch_and_add(&membership, 2);
		__sync_fetch_and_add(&creator->event.threads, 1);
		run_count(creator->event.run, FIELD(threads), 1);
	} else {
		process_enter((u64)task, signal, creator->event.pid, creator->event.run);
	}
	return 0;
}

/* The three moments at which a process's image changes, all in its own context. */
static __always_inline int image_changes(bool again)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	struct process *p = process_find(signal_of(task));

	if (!p)
		return 0;
	if (BPF_CORE_READ(task, flags) & PF_EXITING)
		return process_exit(task, p, again);
	if ((u64)BPF_CORE_READ(task, mm) != p->mm)
		return process_exec(task, p);
	return prepare_exec(task, p);
}

/*
 * All that is rare is one program, since what a start costs is loading programs.  Exec and exit run
 * it by their tracepoints; the switch and the birth, whose own programs are small, go on in it when
 * they have more to do, and say so in their CPU's slot; user space calls it with a
 * number.  Interrupts are off from there to here, so that nobody comes between.
 */
SEC("raw_tp")
int on_image(struct bpf_raw_tracepoint_args *ctx)
{
	u32 cpu = bpf_get_smp_processor_id();
	struct task_struct *task;
	struct process *p;
	u32 moment;

	if (cpu >= EVENT_CPUS_MAX)
		return 0;
	moment = slots[cpu].moment;
	slots[cpu].moment = MOMENT_IMAGE;
	switch (moment) {
	case MOMENT_BIRTH:
		return birth((void *)ctx->args[0]);
	case MOMENT_LOOK:
		return look(cpu, SAMPLE_MUST);
	case MOMENT_DEATH:
		task = bpf_get_current_task_btf();
		p = process_find(signal_of(task));
		return p ? thread_finish(p, task) : 0;
	default:
		break;
	}
	if (ctx->args[0] == EVENT_RUN_PREPARE)
		return prepare();
	if (ctx->args[0] == EVENT_RUN_SETTLE)
		return tree_settle(0);
	return image_changes(false);
}

SEC("raw_tp")
int on_image_again(void *ctx)
{
	return image_changes(true);
}

/* Interrupts are off.  Does not come back. */
static __always_inline void go_on(void *ctx, struct cpu_slot *slot, u32 moment)
{
	slot->moment = moment;
	bpf_tail_call(ctx, &programs, 0);
	slot->moment = MOMENT_IMAGE;
	__sync_fetch_and_add(&drops.moments, 1);
}

/* In the creator's context, before the child has run. */
SEC("raw_tp/sched_wakeup_new")
int on_wakeup_new(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	u32 cpu = bpf_get_smp_processor_id();

	if (cpu < EVENT_CPUS_MAX && is_member(task, &slots[cpu]))
		go_on(ctx, &slots[cpu], MOMENT_BIRTH);
	return 0;
}

SEC("raw_tp/sched_switch")
int on_switch(struct bpf_raw_tracepoint_args *ctx)
{
	/* Here current is the one that leaves, on every kernel. */
	struct task_struct *prev = bpf_get_current_task_btf();
	u32 cpu = bpf_get_smp_processor_id();
	struct cpu_slot *slot;

	if (cpu >= EVENT_CPUS_MAX)
		return 0;
	slot = &slots[cpu];
	slot->task = ctx->args[2];
	if (tree_idle)
		wake_user((void *)ctx->args[2]);
	if (prev->flags & PF_KTHREAD || !is_member(prev, slot)) {
		slot->counted = 0;
		return 0;
	}
	count_slice(prev, slot);
	slot->counted = 0;
	if (task_is_dead(prev))
		go_on(ctx, slot, MOMENT_DEATH);
	else if (look_is_due(slot))
		go_on(ctx, slot, MOMENT_LOOK);
	return 0;
}

SEC("perf_event")
int on_tick(void *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	u32 cpu = bpf_get_smp_processor_id();

	if (cpu >= EVENT_CPUS_MAX || !is_member(task, &slots[cpu]))
		return 0;
	count_slice(task, &slots[cpu]);
	look(cpu, SAMPLE_TRY);
	return 0;
}

/* --- evidence ----------------------------------------------------------------------------- */

SEC("raw_tp/mark_victim")
int on_mark_victim(struct bpf_raw_tracepoint_args *ctx)
{
	struct oom_event ev = { .type = EVENT_OOM };
	struct task_struct *task;
	struct process *p;

	ev.at_ns = bpf_ktime_get_ns();
	if (bpf_core_field_exists(struct trace_event_raw_mark_victim, __data_loc_comm)) {
		task = (void *)ctx->args[0];
		p = process_find(signal_of(task));
		if (!p)
			return 0;
		__sync_fetch_and_or(&p->event.flags, EVENT_OOM_VICTIM);
		ev.start_ns = p->event.start_ns;
		ev.tgid = p->event.tgid;
		ev.pid = p->event.pid;
		ev.run = p->event.run;
		bpf_probe_read_kernel_str(ev.comm, sizeof(ev.comm), task->comm);
	} else {
		ev.tgid = ctx->args[0];
	}
	if (bpf_ringbuf_output(&events, &ev, sizeof(ev), BPF_RB_NO_WAKEUP))
		__sync_fetch_and_add(&drops.oom_events, 1);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
