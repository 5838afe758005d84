// SPDX-License-Identifier: GPL-2.0-only
/*
 * exitmeter - membership at birth, images at exec, memory at exit, CPU at the last switch
 *
 * Raw tracepoints, so that one text loads everywhere and detaches at once.  From 7.0 on a raw
 * tracepoint program can be preempted and is then skipped for the next task on that CPU; those
 * that run with interrupts off (sched_switch, sched_wakeup_new) never are.  So the exit hook only
 * adds memory facts, it, exec and prepare_exec have a second copy, and TASK_DEAD repairs the rest.
 */
#include "seed.bpf.h"

/* Set before prepare runs. */
__u32 root_pid = 0;       /* the held child, as its parent's namespace sees it */
__u32 caller_is_fair = 0; /* scheduled by the fair class */
/* Answers of prepare. */
__u32 seed_pid = 0;      /* of the caller, to prove that the types fit this kernel */
__u64 seed_start_ns = 0; /* likewise, as the kernel has it */
__u32 seed_found = 0;
__u32 seed_mem_alloc = 0;    /* the kernel has bpf_mem_alloc */
__u32 seed_ring_guarded = 0; /* whoever reads the ring buffer cannot make it overrun itself */
__u32 seed_exit_mm = 0;      /* at sched_process_exit the address space is still there */

__u32 awaited_pid = 0; /* lent: of whom they were loaded for; 0 again once it was met */

__u32 tree_idle = 0; /* user space sleeps until the tree runs again; taken back by exchange */

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

/* --- once, at the start ------------------------------------------------------------------- */

/*
 * Where each CPU's per-CPU memory lies, without any kernel symbol: the address of a per-CPU map
 * element on a CPU less the map's own per-CPU pointer (KERNEL: bpf_array.pptrs, per_cpu_ptr).
 */
#ifndef NO_FETCH
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

static __always_inline bool measure_offsets(void)
{
	u64 base = 0;

	*(volatile u64 *)&offsets_leak = (u64)&offset_probe;
	bpf_probe_read_kernel(&base, sizeof(base),
			      (void *)(*(volatile u64 *)&offsets_leak +
				       bpf_core_field_offset(struct bpf_array, pptrs)));
	bpf_loop(nr_cpus, measure_cpu, &base, 0);
	return true;
}
#else
/* Up to 6.1 RSS is no per-CPU counter; a kernel where it is needs the other object. */
static __always_inline bool measure_offsets(void)
{
	return bpf_core_field_exists(struct mm_rss_stat, count);
}
#endif

struct children {
	u64 at; /* the list's link */
	struct task_struct *held;
};

static long child_step(u32 i, struct children *c)
{
	u64 at = c->at;
	struct task_struct *task =
		(void *)(at - bpf_core_field_offset(struct task_struct, sibling));

	if (pid_in_namespace(task) == root_pid) {
		c->held = task;
		return 1;
	}
	bpf_core_read(&c->at, sizeof(c->at), &((struct list_head *)at)->prev);
	return 0;
}

/*
 * The newest child of the caller that is root_pid: it is asleep, and its parent is here, so the
 * list does not move.
 */
static __always_inline struct task_struct *held_child(struct task_struct *parent)
{
	struct children c = { .at = (u64)BPF_CORE_READ(parent, children.prev) };

#ifdef NO_FETCH
	/* The verifier of 5.10 does not take a loop whose head follows a call. */
#pragma unroll
	for (int i = 0; i < 4; i++)
		if (child_step(i, &c))
			break;
#else
	repeat(4, child_step, &c);
#endif
	return c.held;
}

static __noinline int prepare(void)
{
	struct task_struct *current = (void *)bpf_get_current_task(), *root;

	if (!measure_offsets())
		return 0;
	if (caller_is_fair)
		fair_class = (u64)BPF_CORE_READ(current, sched_class);
	namespace_level = BPF_CORE_READ(current, thread_pid, level);
	seed_start_ns = BPF_CORE_READ(current, group_leader, start_boottime);
	seed_pid = pid_in_namespace(current);
	/* Only a reference, so that user space can ask the object's types whether it exists. */
	split_rss = bpf_core_field_exists(((struct task_struct___v6_1 *)0)->rss_stat);
	seed_exit_mm = bpf_core_type_exists(struct trace_event_raw_sched_process_exit);
	seed_mem_alloc = bpf_core_type_exists(struct bpf_mem_alloc);
	seed_ring_guarded = bpf_core_field_exists(((struct bpf_ringbuf *)0)->pending_pos);
	if (lent) /* whose child it is comes by: adopt() */
		return 0;
	if (attaching) {
		seed_own = signal_of(current);
		return 0;
	}
	root = held_child(current);
	if (!root)
		return 0;
	process_enter((u64)root, 0, seed_pid, 0);
	seed_found = 1;
	return 0;
}

/*
 * Whoever the programs were loaded for leaves its CPU: it does what prepare does where exitmeter
 * itself has loaded them.  Its children do not change meanwhile, unless it has threads to harm
 * itself with: then the child is not found.
 */
static __noinline int adopt(void)
{
	struct task_struct *current = (void *)bpf_get_current_task(), *root;
	u64 signal = signal_of(current);

	if (attaching) {
		seed_own = signal;
		bpf_map_delete_elem(&births, &signal); /* noted before that was known */
	} else if ((root = held_child(current))) {
		process_enter((u64)root, 0, awaited_pid, 0);
		seed_found = 1;
	}
	awaited_pid = 0;
	return 0;
}

/* An idle tree runs again: user space starts the tick and its polling. */
static __always_inline void wake_user(struct task_struct *next)
{
	struct awake_event ev = { .type = EVENT_AWAKE };
	u64 mm = (u64)BPF_CORE_READ(next, mm);

	if (!mm || !bpf_map_lookup_elem(&mms, &mm))
		return;
#ifndef NO_FETCH
	if (!__sync_lock_test_and_set(&tree_idle, 0))
		return;
#else
	tree_idle = 0; /* it may be said twice */
#endif
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

/* SIGCHLD, SIGCONT, SIGURG, SIGWINCH are ignored, SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU stop. */
#define NOT_DEADLY                                                                     \
	(1ull << 17 | 1ull << 18 | 1ull << 23 | 1ull << 28 | 1ull << 19 | 1ull << 20 | \
	 1ull << 21 | 1ull << 22)

/* --- the programs ------------------------------------------------------------------------- */

/*
 * A program that has a tail call keeps its frames on the kernel's stack.  One without may be given
 * a stack of its own for each CPU (6.13 on), which is safe because it is not entered again while it
 * runs there; but a tail call does enter it again, when it was preempted (7.0 on).
 */
const volatile __u32 never = 0;

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

static __always_inline int birth(struct task_struct *task, const bool plain)
{
	struct task_struct *current = (void *)bpf_get_current_task();
	u64 signal = signal_of(current);
	struct process *creator = process_find(signal);

	if (!plain && attaching && seeding && signal_of(task) != signal &&
	    birth_watch(task, signal, creator != NULL))
		return process_enter((u64)task, signal, pid_in_namespace(current), 0);
	if (!creator || closed)
		return 0;
	if (signal_of(task) != signal) {
		process_enter((u64)task, signal, creator->event.pid, run_of_child(creator));
	} else if (!plain && attaching && creator->event.flags & EVENT_TAKEN_IN) {
		thread_take(signal, (u64)task);
	} else {
		__sync_fetch_and_add(&membership_number, 2);
		__sync_fetch_and_add(&creator->event.threads, 1);
		__sync_fetch_and_add(&creator->gauge, 1);
		run_count(creator->event.run, FIELD(threads), 1);
	}
	return 0;
}

/* The three moments at which a process's image changes, all in its own context. */
static __always_inline int image_changes(bool again, const bool plain)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	struct process *p = process_find(signal_of(task));

	if (!p || closed)
		return 0;
	if (BPF_CORE_READ(task, flags) & PF_EXITING)
		return process_exit(task, p, again, plain);
	if ((u64)BPF_CORE_READ(task, mm) != p->mm)
		return process_exec(task, p, plain);
	return prepare_exec(task, p);
}

/*
 * All that is rare is one program, since what a start costs is loading programs.  Exec and exit run
 * it by their tracepoints; the switch and the birth, whose own programs are small, go on in it when
 * they have more to do, and say so in their CPU's slot; user space calls it with a
 * number.  Interrupts are off from there to here, so that nobody comes between.
 */
static __always_inline int rare(struct bpf_raw_tracepoint_args *ctx, const bool plain)
{
	u64 cpu = this_cpu();
	struct task_struct *task;
	struct process *p;
	u32 moment;

	if (cpu >= EVENT_CPUS_MAX)
		return 0;
	if (never)
		bpf_tail_call(ctx, &programs, 1);
	moment = slots[cpu].moment;
	slots[cpu].moment = MOMENT_IMAGE;
	switch (moment) {
	case MOMENT_BIRTH:
		return birth((void *)ctx->args[0], plain);
	case MOMENT_LOOK:
		return look(cpu, SAMPLE_MUST);
	case MOMENT_UNKNOWN:
		if (plain || !attaching)
			return 0;
		task = current_task();
		p = process_find(signal_of(task));
		if (p && !task_is_dead(task))
			thread_take(signal_of(task), bpf_get_current_task());
		else if (p)
			thread_finish(p, task);
		return 0;
	case MOMENT_DEATH:
		task = current_task();
		p = process_find(signal_of(task));
		return p ? thread_finish(p, task) : 0;
	case MOMENT_ADOPT:
		return lent ? adopt() : 0;
	default:
		break;
	}
	if (ctx->args[0] == EVENT_RUN_PREPARE)
		return prepare();
	if (ctx->args[0] == EVENT_RUN_SETTLE)
		return tree_settle(0);
	return image_changes(false, plain);
}

SEC("raw_tp")
int on_image(struct bpf_raw_tracepoint_args *ctx)
{
	return rare(ctx, false);
}

/*
 * The same for a command whose run is not split, where the exit hook has memory: what it cannot
 * need is not there, since the kernel looks at dead code, too.
 */
SEC("raw_tp")
int on_image_plain(struct bpf_raw_tracepoint_args *ctx)
{
	return rare(ctx, true);
}

SEC("raw_tp")
int on_image_again(void *ctx)
{
	return image_changes(true, false);
}

/* A classic tracepoint's program cannot be skipped by preemption, only by others' bpf() calls. */
SEC("tracepoint/sched/sched_process_exit")
int on_exit_again(void *ctx)
{
	return image_changes(true, false);
}

/* The same at functions of the kernel, where no tracepoint comes while the address space lives. */
SEC("kprobe")
int on_image_probe(void *ctx)
{
	return image_changes(false, false);
}

/* Interrupts are off.  Does not come back. */
static __always_inline void go_on(void *ctx, struct cpu_slot *slot, u32 moment)
{
	slot->moment = moment;
	bpf_tail_call(ctx, &programs, 0);
	slot->moment = MOMENT_IMAGE;
	__sync_fetch_and_add(&drops.moments, 1);
}

/* The same by the functions' own entries. */
SEC("fentry/taskstats_exit")
int on_exit_entry(void *ctx)
{
	return image_changes(false, false);
}

SEC("fentry/exec_mm_release")
int on_exec_entry(void *ctx)
{
	return image_changes(false, false);
}

/* Where neither is to be had: exit(2), exit_group(2). */
SEC("tracepoint")
int on_exit_call(void *ctx)
{
	return snapshot();
}

/* A signal that nobody handles, and that ends whom it meets. */
SEC("tracepoint/signal/signal_deliver")
int on_signal(struct trace_event_raw_signal_deliver *ctx)
{
	u32 sig = ctx->sig;

	if (ctx->sa_handler || sig >= 64 || 1ull << sig & NOT_DEADLY)
		return 0;
	return snapshot();
}

static __always_inline int exec_call(void)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	struct process *p = process_find(signal_of(task));

	if (!p || closed)
		return 0;
	image_note(p->signal, (u64)task);
	p->exec_noted = 1;
	return 0;
}

/* execve(2), execveat(2): before 6.10 nothing else comes while the old image is whole. */
SEC("tracepoint")
int on_exec_call(void *ctx)
{
	return exec_call();
}

/* Their numbers for the machine's 32-bit programs; set before load. */
const volatile __u32 compat_exit = 0;
const volatile __u32 compat_exit_group = 0;
const volatile __u32 compat_execve = 0;
const volatile __u32 compat_execveat = 0;

/* The same calls of 32-bit programs, at each system call of the machine. */
SEC("raw_tp/sys_enter")
int on_compat_call(struct bpf_raw_tracepoint_args *ctx)
{
	u64 call = ctx->args[1];
	bool ends = call == compat_exit || call == compat_exit_group;

	if (!ends && (exec_by_tracepoint || (call != compat_execve && call != compat_execveat)))
		return 0;
	if (!is_compat_call((void *)bpf_get_current_task()))
		return 0;
	return ends ? snapshot() : exec_call();
}

/* In the creator's context, before the child has run. */
SEC("raw_tp/sched_wakeup_new")
int on_wakeup_new(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *task = current_task();
	u64 cpu = this_cpu();

	if (cpu < EVENT_CPUS_MAX &&
	    (is_member(task, bpf_get_current_task(), &slots[cpu]) != STRANGER ||
	     (attaching && seeding)))
		go_on(ctx, &slots[cpu], MOMENT_BIRTH);
	return 0;
}

/*
 * Nearly every switch: nobody has come or gone since the verdict about @prev, it lives, its slice
 * began in the fair class, and no look is due.  Then the slice is counted; else nothing is changed.
 */
static __always_inline bool switch_is_plain(struct task_struct *prev, u64 address,
					    struct cpu_slot *slot)
{
	struct verdict *v = verdict_about(address, slot);
	u64 runtime, cpu_ns, number = membership_number;

	if (tree_idle || lent || !v)
		return false;
	if (v->word == number) {
		slot->counted = 0;
		return true;
	}
	if (v->word != (number | VERDICT_MEMBER) || nr_runs > 1 || runtimes_used || slot->counted ||
	    tree.unread_mms || slot->looked_ticks != bpf_jiffies64())
		return false;
	runtime = task_read(prev, se.sum_exec_runtime) - task_read(prev, se.prev_sum_exec_runtime);
	cpu_ns = slot->cpu_ns + runtime;
	if (cpu_ns - slot->looked_ns >= LOOK_NS || !is_fair(prev) || task_is_dead(prev))
		return false;
	slot->cpu_ns = cpu_ns;
	return true;
}

SEC("raw_tp/sched_switch")
int on_switch(struct bpf_raw_tracepoint_args *ctx)
{
	/* Here current is the one that leaves, on every kernel. */
	struct task_struct *prev = current_at(ctx->args[1]);
	u64 cpu = this_cpu();
	struct cpu_slot *slot;
	enum membership is;

	if (cpu >= EVENT_CPUS_MAX)
		return 0;
	slot = &slots[cpu];
	slot->task = ctx->args[2];
	if (__builtin_expect(switch_is_plain(prev, ctx->args[1], slot), 1))
		return 0;
	if (tree_idle)
		wake_user((void *)ctx->args[2]);
	if (lent && awaited_pid && pid_in_namespace(prev) == awaited_pid)
		go_on(ctx, slot, MOMENT_ADOPT);
	is = is_member(prev, ctx->args[1], slot);
	if (is != MEMBER) {
		slot->counted = 0;
		if (is == UNKNOWN_THREAD)
			go_on(ctx, slot, MOMENT_UNKNOWN);
		return 0;
	}
	count_slice(prev, slot, true);
	if (task_is_dead(prev))
		go_on(ctx, slot, MOMENT_DEATH);
	else if (look_is_due(slot))
		go_on(ctx, slot, MOMENT_LOOK);
	return 0;
}

/*
 * Once the kernel's own tick has been handled, so the runtime is up to date: an event of our own
 * would cost the command an interrupt each time.  Other timers end here too; once a jiffy is
 * enough.
 */
SEC("raw_tp/hrtimer_expire_exit")
int on_tick(void *ctx)
{
	u64 cpu = this_cpu();
	u64 ticks = bpf_jiffies64();
	struct task_struct *task;

	if (cpu >= EVENT_CPUS_MAX || slots[cpu].looked_ticks == ticks)
		return 0;
	task = current_task();
	if (is_member(task, bpf_get_current_task(), &slots[cpu]) != MEMBER)
		return 0;
	count_slice(task, &slots[cpu], false);
	slots[cpu].looked_ticks = ticks;
	slots[cpu].looked_ns = slots[cpu].cpu_ns;
	look(cpu, SAMPLE_TRY);
	return 0;
}

/* --- attach ------------------------------------------------------------------------------- */

SEC("iter/task")
int on_task(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;

	if (!task)
		return 0;
	/* Through memory, so that it is a number from here on. */
	*(volatile u64 *)&offsets_leak = (u64)task;
	return seed((void *)*(volatile u64 *)&offsets_leak, *(volatile u64 *)&offsets_leak);
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
		flag_set(p, EVENT_OOM_VICTIM);
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
