/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * source_bpf_wire - what exitmeter and exitmeter-probed say to each other
 *
 * Over a SOCK_SEQPACKET socket, one structure a packet, of one size each way but for those that
 * still run.  Both are of one build (WIRE_VERSION).  No address of the kernel is ever in it.
 */
#ifndef SOURCE_BPF_WIRE_H
#define SOURCE_BPF_WIRE_H

#include <stdint.h>

#include "capture/source_bpf.h"

#define WIRE_VERSION 1u

enum wire_op {
	WIRE_OPEN = 1, /* once, the first; with a descriptor for each root, see caller.h */
	WIRE_PULSE,    /* the state as it is */
	WIRE_SAMPLE,   /* the same, the sum brought up to date and the interval's maximum taken */
	WIRE_LATE,     /* loads what a short command does not pay for */
	WIRE_IDLE,     /* the client sleeps until the tree runs again */
	WIRE_CLOSE,    /* nothing is metered any more, if anybody still runs */
	WIRE_LIVING,   /* those that still run, in packets; the last one has none */
	WIRE_WAKE,     /* probed says: wait again */
};

#define WIRE_TICK   (1u << 0) /* wanted; there is one */
#define WIRE_ATTACH (1u << 1) /* the roots are processes that run; else one held child */

struct wire_request {
	uint32_t version;
	uint32_t op;
	uint32_t flags;
	uint32_t n_roots;
	int32_t roots[SEED_ROOTS_MAX];
};

#define WIRE_SETTLED (1u << 2)
#define WIRE_CLOSED  (1u << 3)
#define WIRE_COUNTED (1u << 4) /* the living's counters are in their events */
#define WIRE_OLD     (1u << 5) /* the object for kernels before 5.19 */
#define WIRE_THREADS (1u << 6) /* each thread counts memory for itself: split_rss */

struct wire_state {
	uint32_t version;
	uint32_t op; /* that of the request */
	int32_t err; /* 0 or -errno */
	uint32_t flags;
	uint64_t cpu_ns;
	uint64_t skips;
	uint64_t interval_pages;
	int64_t oom_evidence_ns;
	struct run_totals tree;
	struct drop_counts drops;
	/* From here on for WIRE_OPEN alone. */
	uint32_t ring_bytes;
	uint32_t slack_pages;
	uint32_t n_cpus;
	uint32_t reserved;
	int64_t ticks_off;
	char hook[64];
	char degraded[192];
	char refused[256]; /* plans */
	char why[384];     /* it failed */
};

#define WIRE_BATCH 64

struct wire_living {
	uint32_t version;
	uint32_t n;
	struct living at[WIRE_BATCH];
};

#endif /* SOURCE_BPF_WIRE_H */
