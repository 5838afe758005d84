/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * probe - each thing that a source needs, tried for real and undone
 */
#ifndef PROBE_H
#define PROBE_H

#include <stdbool.h>

struct probe_step {
	const char *name; /* "btf", "bpf", a tracepoint's, "tick", "iterator" */
	bool required;    /* without it no exit is exact */
	bool tried;       /* false: something before it failed */
	int err;          /* 0 or -errno */
	bool cached;      /* btf: it came from the cache */
};

/* Called for each step, in their order. */
struct probe_sink {
	void *ctx;
	void (*on_step)(void *ctx, const struct probe_step *step);
};

/* The kernel's types, the programs, each hook by itself, the tick, the iterator over tasks. */
void source_bpf_probe(const struct probe_sink *sink);

/* Without high-resolution timers the kernel's tick is no timer at whose end a program can run. */
bool source_bpf_tick_is_timer(void);

/* Whether a child can be traced to its end: 0 or -errno. */
int source_ptrace_probe(void);

#endif /* PROBE_H */
