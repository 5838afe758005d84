/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * system - pure parsers of files about the whole machine: text in, numbers out
 *
 * As in parse.h: 0 and *@ret, or -EBADMSG and *@ret untouched; text need not be NUL-terminated.
 */
#ifndef PROCFS_SYSTEM_H
#define PROCFS_SYSTEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* /proc/loadavg: its first three numbers. */
int loadavg_parse(const char *text, size_t len, double ret[3]);

/* Ticks of all processors together. */
struct cpu_ticks {
	int64_t busy;  /* neither idle, nor waiting for I/O, nor stolen (SPEC H-2, H-3) */
	int64_t steal; /* given to others by a hypervisor */
};

/* /proc/stat: the first eight fields of its first line (proc(5)); guests are in user and nice. */
int cpu_ticks_parse(const char *text, size_t len, struct cpu_ticks *ret);

/* /proc/meminfo: MemTotal.  The text may end anywhere behind it. */
int memtotal_parse(const char *text, size_t len, int64_t *ret_bytes);

/* /proc/cpuinfo: the first processor's name, owned by the caller; NULL: it has none. */
char *cpu_model_parse(const char *text, size_t len);

/* A file of /proc/pressure: total= of its lines, -1 for one that is not there. */
int pressure_parse(const char *text, size_t len, int64_t *ret_some_ns, int64_t *ret_full_ns);

/* What stands in brackets, as in "always [madvise] never"; owned by the caller, NULL: nothing. */
char *choice_parse(const char *text, size_t len);

/* A file that is one number, not below 0, and its newline. */
int number_parse(const char *text, size_t len, int64_t *ret);

/* The word @text begins with: letters, digits, - _ and dots; owned by the caller, NULL: none. */
char *word_parse(const char *text, size_t len);

#endif /* PROCFS_SYSTEM_H */
