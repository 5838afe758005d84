/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * source_ptrace_program - which programs a tracer disturbs: found by their file, once for each
 */
#ifndef SOURCE_PTRACE_PROGRAM_H
#define SOURCE_PTRACE_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct program_facts {
	bool leak_sanitizer; /* attaches to itself at its end and fails where it cannot */
	bool tracer;         /* calls ptrace() */
	bool unreadable;     /* nothing can be told of its file */
	bool setuid;         /* its file has set-user-ID or set-group-ID of another than runs it */
};

struct program_cache;

struct program_cache *program_cache_new(void); /* NULL: out of memory */
/* Of what @pid runs now; nothing is known of a file that may not be read. */
struct program_facts program_look(struct program_cache *c, pid_t pid);
void program_cache_free(struct program_cache *c); /* NULL is fine */

#endif /* SOURCE_PTRACE_PROGRAM_H */
