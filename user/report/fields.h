/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fields - the names of INTERFACE 3 and where their values stand: one table to write and to read by
 */
#ifndef FIELDS_H
#define FIELDS_H

#include <stddef.h>
#include <stdint.h>

enum field_kind {
	FIELD_INT,        /* int64_t; UNKNOWN is null */
	FIELD_PID,        /* int32_t */
	FIELD_ID,         /* uint64_t held in an int64_t; UNKNOWN is null */
	FIELD_NS,         /* int64_t ns, written as seconds; UNKNOWN is null */
	FIELD_TIME,       /* the same since the run's start; TIME_NONE is null */
	FIELD_FLAG,       /* int8_t; UNKNOWN is null */
	FIELD_DOUBLE,     /* UNKNOWN is null */
	FIELD_SIGNED,     /* double that may be below 0; NaN is null */
	FIELD_STRING,     /* char *, owned; NULL is null */
	FIELD_COMM,       /* char[EM_COMM_LEN] */
	FIELD_SOURCE,     /* enum peak_source */
	FIELD_HOST,       /* enum em_host */
	FIELD_WALL_CLOCK, /* int64_t ns since the epoch, written as RFC 3339 */
};

struct field {
	const char *name;
	size_t offset;
	enum field_kind kind;
};

struct field_table {
	const struct field *at;
	size_t n;
};

extern const struct field_table process_head_fields, process_tail_fields;     /* struct process */
extern const struct field_table split_fields;                                 /* struct rss_split */
extern const struct field_table io_fields;                                    /* struct io_counts */
extern const struct field_table exe_fields, run_head_fields, run_tail_fields; /* struct run_facts */
extern const struct field_table run_repeat_fields;
extern const struct field_table source_fields;       /* struct source_facts, but its notes */
extern const struct field_table completeness_fields; /* struct completeness, but its reasons */
extern const struct field_table usage_peak_fields, usage_cpu_fields; /* struct usage */
extern const struct field_table rusage_fields;                       /* struct rusage_facts */
extern const struct field_table at_peak_fields;                      /* struct at_peak */
extern const struct field_table group_fields;                        /* struct group, but other */
/* struct env, but its loads, its cgroup and its pressure; in their order between those */
extern const struct field_table env_head_fields, env_middle_fields, env_thp_fields, env_tail_fields;
extern const struct field_table env_cgroup_fields; /* struct cgroup_facts */
extern const struct field_table psi_fields;        /* struct psi */
extern const struct field_table energy_fields;     /* struct energy */
extern const struct field_table left_out_fields;   /* struct left_out */
extern const struct field_table disk_fields;       /* struct disk */
extern const struct field_table host_load_fields;  /* struct host_load, but its worst window */
extern const struct field_table budget_fields;     /* struct budget, its limits */
/* struct budget_excess, but what, its figures and the name */
extern const struct field_table budget_excess_fields;
extern const struct field_table load_window_fields; /* struct load_window */
extern const struct field_table load_sample_fields; /* struct load_sample */
/* struct stretch */
extern const struct field_table stretch_usage_fields, stretch_peak_fields, stretch_counter_fields;

#endif /* FIELDS_H */
