/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * source_bpf - the BPF source's own parts: records, attaching, those that still run
 */
#ifndef SOURCE_BPF_H
#define SOURCE_BPF_H

#include <sys/types.h>

#include <linux/types.h>

#include "capture/kernel_btf.h"
#include "capture/source.h"
#include "exit_event.h"
#include "exitmeter.skel.h"
#include "procfs/parse.h"

#define POLL_MS        40
#define QUIET_POLLS    3 /* then the tree is idle */
#define SETTLE_MS      1000
#define PAUSE_LEAST_NS (20 * NS_PER_US)
#define LATE_MS        8 /* a command shorter than that does not pay for what it cannot use */

#define LINKS_MAX 16
#define RUNS_MAX  16384 /* that live at once, when a tree is split */

/* What user space counts in the order of the ring buffer. */
struct most {
	int64_t now, most;
};

struct source_bpf {
	struct source base;
	struct exitmeter_bpf *skel; /* NULL where another process has the programs */
	/* What the programs tell: their own memory, or what was last heard of it. */
	const struct run_totals *tree;
	const struct drop_counts *drops;
	bool split_rss;       /* as the programs' variable */
	uint32_t slack_pages; /* hiwater_slack_pages */
	const struct source_lent *lent;
	struct bpf_program *image;      /* on_image, or what of it is needed */
	bool old;                       /* it is the object for kernels before 5.19 */
	struct most processes, threads; /* only then */
	struct exitmeter_bpf *late;     /* the tick and the OOM evidence */
	struct exitmeter_bpf *beside;   /* second copies, once a program was skipped */
	struct exitmeter_bpf
		*probes;     /* programs at functions of the kernel, for plans that need them */
	const char *plan;    /* asked for; NULL: the best */
	const char *program; /* what the root will execute; NULL: not known */
	uint64_t bounded;    /* rows whose peak is a bound */
	uint64_t unfetched;  /* records that stayed in the map */
	char refused[256];   /* plans that were tried, and why not */
	bool exec_announced; /* sched_prepare_exec is there */
	struct kernel_btf btf;
	struct ring_buffer *ring;
	struct bpf_link *links[LINKS_MAX];
	size_t n_links;
	int n_cpus;
	int64_t page_bytes;
	pid_t root;
	pid_t roots[SEED_ROOTS_MAX]; /* attached to */
	size_t n_roots;
	bool attaching, split;
	const char *split_env; /* NULL: runs are not named by a variable */
	const char *start_env; /* NULL: nor their starts numbered by one */
	bool root_recorded;    /* the (last) root's record came */
	size_t roots_recorded;
	struct exitmeter_bpf *seed; /* the task iterator */
	struct bpf_link *seed_link;
	bool counted;      /* the living threads' counters are in their processes' events */
	int64_t ticks_off; /* /proc/PID/stat field 22 is that much more than the kernel's (time
			    * namespaces) */
	bool tick_wanted, late_tried;
	int64_t opened_ns;
	int64_t oom_evidence_ns; /* since when there is some; INT64_MAX: never */
	bool idle;
	int quiet;
	uint64_t seen_records; /* handled from the ring */
	uint64_t seen_forks, seen_exits;
	uint64_t seen_cpu_ns;
	int err;                 /* the sink's */
	struct run_totals *runs; /* mapped, RUNS_MAX of them; NULL: not split */
};

/* --- programs (source_bpf.c) --- */

/* CPU of the ended and the living. */
uint64_t source_bpf_cpu_ns(const struct source_bpf *s);
/* How often the kernel skipped a program. */
uint64_t source_bpf_skips(const struct source_bpf *s);
extern const struct source_ops source_bpf_ops;
/* Runs what is rare with a number of its own (EVENT_RUN_...).  0 or -errno. */
int source_bpf_run(struct source_bpf *s, uint64_t what);
void source_bpf_pause(int64_t ns);
/* Brings the tree's sum up to date.  0 or -errno. */
int source_bpf_settle(struct source_bpf *s);
/* Takes the maximum since it was last taken, in pages. */
uint64_t source_bpf_take_interval(struct source_bpf *s);
/* The tick and the OOM evidence, once the command has run for a moment. */
void source_bpf_open_late(struct source_bpf *s);
/* Second copies, once a program was skipped. */
void source_bpf_open_beside(struct source_bpf *s);
/* From here on the programs change nothing. */
void source_bpf_close_metering(struct source_bpf *s);
/* What was counted of lost things; @skips: see source_bpf_skips. */
size_t source_bpf_losses(const struct source_bpf *s, uint64_t skips, struct loss *out, size_t cap);

/*
 * The object once more, on the same maps, for programs that were not loaded at first.  Never with
 * the kernel's whole BTF: libbpf then looks for what is not in it among the modules', for which it
 * takes CAP_SYS_ADMIN.  NULL: not.
 */
struct exitmeter_bpf *source_bpf_more(struct source_bpf *s, const char *const names[]);
/* Keeps the link until the source is closed.  0 or -errno. */
int source_bpf_attach(struct source_bpf *s, struct bpf_program *prog, const char *tracepoint);
/* Needs tracefs; letting go of it takes 40 to 160 ms (KERNEL: perf events, RCU). */
int source_bpf_attach_classic(struct source_bpf *s, struct bpf_program *prog, const char *group,
			      const char *tracepoint);
/* The tree runs: polling goes on. */
void source_bpf_wake(struct source_bpf *s);

/* --- where an exit is read (source_bpf_plans.c) --- */

/* The best plan that attaches, or the one asked for; what was refused is in @s->refused. */
int source_bpf_attach_plan(struct source_bpf *s);
/* False, and in @why (@cap bytes) what plans there are. */
bool source_bpf_is_plan(const char *name, char *why, size_t cap);

/* --- 32-bit programs, where their calls are no classic tracepoint's (source_bpf_compat.c) --- */

/* Whether this machine has such programs, and so on_compat_call is of use. */
bool source_bpf_compat_is(void);
void source_bpf_compat_configure(struct exitmeter_bpf *skel);
/* Hooks their calls if the root's program is such a one; @s->probes are loaded. */
void source_bpf_compat_begin(struct source_bpf *s);
/* The same once the tree has one; @late: what ended before is a bound, and the record says so. */
void source_bpf_compat_follow(struct source_bpf *s, bool late);

/* --- a cast in place of a call (source_bpf_cast.c) --- */

/*
 * Where @prog, not loaded yet, asks with EVENT_CAST_MARK for the current task at an address that it
 * knows, a kernel that can cast (bpf_rdonly_cast, 6.2 on) is made to do that.  Written into the
 * instructions, since libbpf would read the kernel's whole BTF for the two numbers.
 */
void source_bpf_cast(const struct kernel_btf *btf, struct bpf_program *prog);

/* --- kernels before 5.19 (source_bpf_old.c) --- */

/* Opens the one or the other object.  NULL with errno. */
struct exitmeter_bpf *source_bpf_object(bool old, const struct bpf_object_open_opts *o);
/* One process or thread more or less.  0. */
int source_bpf_count(struct source_bpf *s, const struct count_event *e);
/* The largest peak of an ended process, in pages, where each CPU keeps its own. */
uint64_t source_bpf_old_largest(const struct source_bpf *s);
/* Puts right what those programs cannot tell: maxima are counted here, sums are unknown. */
void source_bpf_old_totals(const struct source_bpf *s, struct totals *ret);

/* --- records (source_bpf_records.c) --- */

/* For ring_buffer__new; @ctx is the source. */
int source_bpf_on_record(void *ctx, void *data, size_t size);
int64_t source_bpf_pages(const struct source_bpf *s, uint64_t n);
/* What an ended and a living process's event have in common. */
void source_bpf_record(const struct source_bpf *s, const struct exit_event *e,
		       struct exit_record *ret);
uint32_t source_bpf_notes(const struct exit_event *e, bool hiwater);
/* The peak of a process that was there before is its whole life's, unless it rose since. */
void source_bpf_lifetime(const struct source_bpf *s, const struct exit_event *e,
			 struct exit_record *r);
/* Whether what /proc says is of the process that started at @start_ns: in ticks, as /proc has it.
 */
bool source_bpf_same(const struct source_bpf *s, uint64_t start_ns, const struct proc_stat *stat);

/* What one set of totals says; @cpu_ns: of the living too. */
void source_bpf_totals(const struct source_bpf *s, const struct run_totals *t, int64_t cpu_ns,
		       struct totals *ret);

/* --- attaching (source_bpf_seed.c) --- */

/* Loads the task iterator and remembers who made whom; before the hooks are live.  0 or -errno. */
int source_bpf_seed_begin(struct source_bpf *s);
/* Takes in the tree; the hooks are live.  0, -ECHILD when nobody was there, or -errno. */
int source_bpf_seed_take(struct source_bpf *s);
/* Once all is over: what the living threads used goes into their processes. */
void source_bpf_seed_count(struct source_bpf *s);

/* --- runs of a split tree (source_bpf_runs.c) --- */

/* Maps their totals.  0 or -errno. */
int source_bpf_runs_open(struct source_bpf *s);
void source_bpf_runs_close(struct source_bpf *s);
int source_bpf_run_totals(struct source *base, uint32_t run, bool take, struct totals *ret);
void source_bpf_run_release(struct source *base, uint32_t run);

/* --- those that still run (source_bpf_living.c) --- */

/* Brings the counters of threads that run right now up to date, by asking for their clocks. */
void source_bpf_update_clocks(struct source_bpf *s);

/* What the maps hold of one of them, without the kernel's addresses. */
struct living {
	struct exit_event event;
	__u64 image_pages; /* the most that its image is known to have come to */
	__u64 before_cpu_ns;
};

/* The next after *@at, which begins as 0; metering is closed.  False: there is none. */
bool source_bpf_next_living(const struct source_bpf *s, uint64_t *at, struct living *ret);
/* An exit record with running.  0, or the sink's error. */
int source_bpf_hand_on(struct source_bpf *s, const struct living *l);
/* All of them. */
int source_bpf_hand_on_living(struct source_bpf *s);
/* Ended ones' records for which there was no room in the ring.  0, or the sink's error. */
int source_bpf_take_kept(struct source_bpf *s);

#endif /* SOURCE_BPF_H */
