/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * exit_event - what the programs tell user space: records in the ring buffer, totals in mapped
 * memory
 *
 * A wire format: fixed width, wide members first, no padding.  Memory is in pages, time in ns
 * (CLOCK_MONOTONIC, but start_ns: CLOCK_BOOTTIME, as in /proc/PID/stat field 22).
 * Includes nothing, so that both compilers can take it.
 */
#ifndef EXIT_EVENT_H
#define EXIT_EVENT_H

#define EVENT_COMM_LEN 16
#define EVENT_ARGV_MAX 4096 /* INTERFACE 3: the first 4096 bytes */
#define EVENT_ENV_MAX  512  /* of a variable: its name, '=', its value and the NUL */
#define EVENT_ENV_MORE ~0u  /* it was not among those that could be looked at: there are more */
#define EVENT_KEY_MAX  64   /* of its name and '=' */
#define EVENT_CPUS_MAX 1024

/* What a call of user space's is to do; no task lies there. */
#define EVENT_RUN_PREPARE 0
#define EVENT_RUN_SETTLE  1

/* Beside an address of the current task: user space may put a cast in the call's place. */
#define EVENT_CAST_MARK 0x7a5c

/* Whether the tree has had a 32-bit program, where its end needs a hook of its own. */
#define EVENT_COMPAT_NONE   0
#define EVENT_COMPAT_SEEN   1 /* user space is woken */
#define EVENT_COMPAT_HOOKED 2 /* and has done what it can */

/* What the task iterator does, see seed.bpf.h. */
#define SEED_LOOK      0 /* remembers who made whom */
#define SEED_TAKE      1 /* takes in what belongs to the tree */
#define SEED_COUNT     2 /* adds the living threads' counters to their processes, once all is over */
#define SEED_ROOTS_MAX 64

enum event_type {
	EVENT_FORK = 1,
	EVENT_EXEC,
	EVENT_EXIT,
	EVENT_OOM,
	EVENT_AWAKE,     /* the tree runs again after it was declared idle */
	EVENT_ENV,       /* one variable of a new image's environment: what a run is named by */
	EVENT_COUNT,     /* without fetch atomics: processes or threads became more or less */
	EVENT_ENV_START, /* as EVENT_ENV: what holds the number of its start */
};

enum event_flag {
	EVENT_SHARED_MM =
		1u << 0, /* has no address space of its own: vfork or CLONE_VM, no exec since */
	EVENT_FORKED_IMAGE = 1u << 1, /* the image is the one it was born with */
	EVENT_EXITED = 1u << 2,       /* the exit hook saw its end */
	EVENT_MEMORY = 1u << 3,       /* memory read from the living address space at its end */
	EVENT_HIWATER = 1u << 4,      /* the final image's peak is the kernel's approximate mark */
	EVENT_IMAGES_HIWATER = 1u << 5, /* so is the largest closed image's */
	EVENT_REPAIRED = 1u << 6,       /* the exit hook was skipped, TASK_DEAD did its work */
	EVENT_IMAGE_UNSEEN = 1u << 7,   /* an image ended at an exec without prepare_exec */
	EVENT_OOM_VICTIM = 1u << 8,
	EVENT_IN_EXEC = 1u << 9,
	EVENT_UNTRACKED_MM = 1u << 10, /* no room for its address space: not in the sums */
	EVENT_ARGV_TRUNCATED = 1u << 11,
	EVENT_FELL = 1u << 13, /* the final image's peak is a reading before its end */
	EVENT_IMAGES_FELL = 1u << 14,
	EVENT_TAKEN_IN = 1u << 15, /* it was there before: what it used before is not counted */
	EVENT_FINISHED = 1u << 16,
	EVENT_NO_SPLIT = 1u << 18,  /* the parts of its memory at the end were not read whole */
	EVENT_BOUND = 1u << 17,     /* the final image was not seen at its end: error_pages holds */
	EVENT_SPLITTER = 1u << 19,  /* each of its children begins a run of its own */
	EVENT_RUN_FIRST = 1u << 20, /* its run began with it */
	EVENT_FOREIGN = 1u << 21,   /* lent: it is, or was, another user's: no arguments, no I/O */
	EVENT_MARK_RESET = 1u << 12, /* the high-water mark was below what was seen: clear_refs */
};

/* A process was born; @inherited_pages: what its image shares with its creator's. */
struct fork_event {
	__u64 start_ns;
	__u64 at_ns;
	__u64 inherited_pages;
	__u32 type;
	__u32 tgid; /* initial pid namespace: the key with start_ns */
	__u32 pid;  /* as exitmeter's namespace sees it */
	__u32 ppid; /* of its creator, likewise */
	__u32 run;
	__u32 flags; /* enum event_flag */
};

/* A new image; the old one's part in the peak leaves with it. */
struct exec_event {
	__u64 start_ns;
	__u64 at_ns;
	__u64 at_peak_pages;
	__u64 at_peak_epoch;
	__u32 type;
	__u32 tgid;
	__u32 pid;
	__u32 run;
	__u32 argv_len; /* bytes of @argv that hold, NUL-separated */
	__u32 flags;
	char comm[EVENT_COMM_LEN];
	char argv[]; /* in the record: one of three room sizes */
};

/* As exec left it, before the program could change it. */
struct env_event {
	__u64 start_ns;
	__u32 type;
	__u32 tgid;
	__u32 run;
	__u32 found; /* bytes of @text, with the NUL; 0: there is no such variable, or
			EVENT_ENV_MORE */
	char text[EVENT_ENV_MAX];
};

/* A process ended, its last thread off the CPU: sums over its threads. */
struct exit_event {
	__u64 start_ns;
	__u64 born_ns;
	__u64 ended_ns;
	__u64 cpu_ns;   /* sum_exec_runtime at TASK_DEAD */
	__u64 utime_ns; /* tick-sampled: for the split alone */
	__u64 stime_ns;
	__u64 minor_faults;
	__u64 major_faults;
	__u64 voluntary_switches;
	__u64 involuntary_switches;
	__u64 rchar;
	__u64 wchar;
	__u64 syscr;
	__u64 syscw;
	__u64 read_bytes;
	__u64 write_bytes;
	__u64 cancelled_write_bytes;
	__u64 peak_pages;        /* of the final image; with EVENT_SHARED_MM: none */
	__u64 images_peak_pages; /* the largest closed image, net of inheritance (U-134) */
	__u64 inherited_pages;   /* of the final image */
	__u64 anon_pages;
	__u64 file_pages;
	__u64 shmem_pages;
	__u64 swap_pages;
	__u64 hugetlb_pages;
	__u64 vm_peak_pages;
	__u64 at_peak_pages;
	__u64 at_peak_epoch;
	__u32 type;
	__u32 tgid;
	__u32 pid;
	__u32 ppid;
	__u32 run;
	__u32 flags;
	__u32 exit_code; /* as in wait(2) */
	__u32 threads;   /* that it ever had */
	__u32 execs;
	__u32 error_pages; /* what peak_pages may be off by: 0 but with EVENT_HIWATER, EVENT_FELL or
			    * EVENT_BOUND */
	__u32 images_error_pages; /* likewise with EVENT_IMAGES_HIWATER */
	__u32 reserved;
	char comm[EVENT_COMM_LEN];
	__u64 mark_before_pages; /* its peak before it was taken in */
};

struct oom_event {
	__u64 start_ns; /* 0: only the pid is known */
	__u64 at_ns;
	__u32 type;
	__u32 tgid;
	__u32 pid;
	__u32 run;
	char comm[EVENT_COMM_LEN];
};

struct awake_event {
	__u64 at_ns;
	__u32 type;
	__u32 reserved;
};

struct count_event {
	__u32 type;
	__u32 field; /* of run_totals, in __u64 */
	__s32 delta;
};

/* What the maps hold of a living process; read from outside only once metering is over. */
struct process {
	struct exit_event event; /* filled as its threads die */
	__u64 signal;            /* own key: guards a recycled element */
	__u64 mm;                /* key of its address space */
	__u64 image_exact_pages; /* of the image that an exec is about to close */
	__u64 image_hiwater_pages;
	__u64 image_last_pages;     /* the last reading of it */
	__u64 image_error_pages;    /* of that mark */
	__u64 closing_pages;        /* of that image, still in upper until the exec is done */
	__u64 closed_at_peak_pages; /* of that image, in lower at the peak of that epoch */
	__u64 closed_at_peak_epoch;
	__u64 maxrss_before; /* of the images before this one */
	__u64 before_cpu_ns; /* what it had used before it was taken in, ended threads too */
	__u32 dead;          /* threads */
	__u32 gauge;         /* threads of it that the tree's count holds */
	__u32 here;          /* taken in: threads in the threads map */
	__u32 ended;         /* threads past the exit hook, and */
	__u32 snapped;       /* those whose memory was read when they set out to end */
	__u32 exec_noted;    /* the image was read at execve(2) */
};

/* A thread that was there before its process was taken in, or is of such a process. */
struct thread_before {
	__u64 signal;
	__u64 cpu_ns;
	__u64 counters[13]; /* as in exit_event, utime_ns the first */
	__u64 counted;      /* its CPU since then is being counted */
};

/* Who does something that must be done once: flag of a process. */
struct claim {
	__u64 signal;
	__u32 flag;
	__u32 reserved;
};

/* Who made whom, while a tree is taken in. */
struct birth {
	__u64 creator; /* signal_struct; 0: not known */
	__u32 member;
	__u32 missed; /* it was in the tree, and is counted as missed */
};

/* An address space of the tree, its parts in the sums. */
struct mm_entry {
	__u64 lock;            /* 0, or the task that holds it */
	__u64 mm;              /* own key */
	__u64 task;            /* its last one that was seen running */
	__u64 task_runtime_ns; /* of that task, when it was looked at */
	__u64 guest;   /* the task that last came to share it: by vfork it runs, and execs, in it */
	__u64 rss;     /* last reading */
	__u64 net;     /* what is in lower: net of inheritance */
	__u64 high;    /* what is in upper */
	__u64 known;   /* largest exact reading */
	__u64 hiwater; /* largest kernel mark seen */
	__u64 inherited;
	__u64 mark_before; /* hiwater when it was taken in: no more than that says nothing */
	__u64 cpus;        /* it ran on, bit 63 for those above */
	__u64 epoch;       /* of at_peak */
	__u64 at_peak;     /* its part in lower at the peak of that epoch */
	__u32 users;       /* processes of the tree that have it */
	__u32 run;
	__u32 place;         /* in the table of living ones, 1 on; 0: no room */
	__u32 outside_pages; /* changed by others, and not yet in the run's */
	__u32 mark_reset;    /* hiwater_rss was seen below what it must be */
	__u32 dead;
};

/* One a run, run 0 is the whole tree; in mapped memory, so that a full ring costs no total. */
struct run_totals {
	__u64 forks;
	__u64 execs;
	__u64 exits;   /* last thread past the exit hook, or found dead without it */
	__u64 records; /* final records sent or lost */
	__u64 lost_exits;
	__u64 repaired;
	__u64 processes;
	__u64 processes_max; /* beside what it is the maximum of */
	__u64 threads;
	__u64 threads_max;
	__u64 cpu_ns; /* of the ended, exact */
	/* From here to cancelled_write_bytes: of the ended, in exit_event's order. */
	__u64 utime_ns;
	__u64 stime_ns;
	__u64 minor_faults;
	__u64 major_faults;
	__u64 voluntary_switches;
	__u64 involuntary_switches;
	__u64 rchar;
	__u64 wchar;
	__u64 syscr;
	__u64 syscw;
	__u64 read_bytes;
	__u64 write_bytes;
	__u64 cancelled_write_bytes;
	__u64 largest_peak_pages; /* of one ended process */
	__u64 sum_peak_pages;     /* of all ended processes */
	__u64 lower_pages;        /* the sum of RSS now, net of fork copies (U-134) */
	__u64 upper_pages;        /* the sum of each address space's peak so far */
	__u64 lower_max_pages;
	__u64 upper_max_pages;
	__u64 lower_max_at_ns;
	__u64 interval_max_pages; /* since user space last took it */
	__u64 epoch;              /* of lower_max */
	__u64 considered_ns;
	__u64 outside_pages; /* changed in address spaces none of whose tasks ran */
	__u64 unread_mms;    /* address spaces that are not read again at every settling */
	__u64 lock_missed;   /* an address space was busy when it had to be read: upper is void */
	__u64 slices_ns; /* of the living too, up to their last switch or tick; run 0: see cpu_slot
			  */
	__u64 initial;   /* processes that were taken in */
	__u64 before_cpu_ns; /* what they had used before */
	__u64 claimed;       /* the number of the run that has this place; 0: free */
	__u64 reserved[23];
};

/* Whether a task is in the tree, remembered from the last look into the process map. */
struct verdict {
	__u64 task;
	__u64 word; /* the membership number of that look, and VERDICT_MEMBER */
};

#define MOMENT_IMAGE   0 /* exec, exit, or user space's call */
#define MOMENT_BIRTH   1
#define MOMENT_LOOK    2
#define MOMENT_DEATH   3
#define MOMENT_UNKNOWN 4 /* a thread that was overlooked */
#define MOMENT_ADOPT   5 /* who the programs were loaded for leaves its CPU */

#define VERDICT_MEMBER 1ull
#define VERDICT_BITS   3
#define VERDICTS       (1 << VERDICT_BITS)

/* Who runs where, for readers on other CPUs; written by its own CPU with interrupts off. */
struct cpu_slot {
	__u64 task;
	__u64 counted;            /* the task that was counted since it is on the CPU */
	__u64 runtime_ns;         /* its runtime then */
	__u64 cpu_ns;             /* all slices of the tree's tasks on this CPU */
	__u64 looked_ns;          /* cpu_ns when memory was last looked at here */
	__u64 looked_ticks;       /* jiffies then */
	__u64 moment;             /* MOMENT_: what the large program is to go on with */
	__u64 largest_peak_pages; /* without fetch atomics: of the processes that ended here */
	struct verdict verdicts[VERDICTS];
};

/* Whatever can be dropped is counted here. */
struct drop_counts {
	__u64 fork_events;
	__u64 exec_events;
	__u64 exit_events;
	__u64 oom_events;
	__u64 processes_unfollowed; /* no room in the process map: a subtree is lost */
	__u64 mms_untracked;        /* no room in the address space map */
	__u64 stale_entries;        /* a key was still taken when its owner was born */
	__u64 delete_failed;
	__u64 moments;      /* a tail call was refused */
	__u64 births;       /* no room to remember who made whom */
	__u64 threads;      /* no room for a thread that was there before */
	__u64 missed;       /* processes of the tree that ended while it was taken in */
	__u64 runs;         /* no free place: a child began no run of its own */
	__u64 slices;       /* no room for a real-time task: CPU of the living is short */
	__u64 count_events; /* without fetch atomics: the most at once is not known */
	__u64 claims;       /* no room for a claim: a process may have two records */
};

/* Counters that stand in the same order in both, utime_ns the first. */
#define EVENT_COUNTERS 13
_Static_assert((__builtin_offsetof(struct exit_event, cancelled_write_bytes) -
		__builtin_offsetof(struct exit_event, utime_ns)) /
					       8 +
				       1 ==
			       EVENT_COUNTERS &&
		       (__builtin_offsetof(struct run_totals, cancelled_write_bytes) -
			__builtin_offsetof(struct run_totals, utime_ns)) /
					       8 +
				       1 ==
			       EVENT_COUNTERS,
	       "exit_event and run_totals share an order");

_Static_assert(sizeof(struct fork_event) == 48, "fork_event is a wire format");
_Static_assert(sizeof(struct exec_event) == 72, "exec_event is a wire format");
_Static_assert(sizeof(struct env_event) == 24 + EVENT_ENV_MAX, "env_event is a wire format");
_Static_assert(sizeof(struct exit_event) == 296, "exit_event is a wire format");
_Static_assert(sizeof(struct oom_event) == 48, "oom_event is a wire format");
_Static_assert(sizeof(struct awake_event) == 16, "awake_event is a wire format");
_Static_assert(sizeof(struct count_event) == 12, "count_event is a wire format");
_Static_assert(sizeof(struct run_totals) == 512, "run_totals is a wire format");
_Static_assert(sizeof(struct drop_counts) == 128, "drop_counts is a wire format");

#endif /* EXIT_EVENT_H */
