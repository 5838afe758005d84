/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * group - processes summed up by their name at the end: 256 names, the rest together
 */
#ifndef GROUP_H
#define GROUP_H

#include "model/process.h"

#define GROUPS_MAX 256

struct group {
	char comm[EM_COMM_LEN];
	bool other;                                /* all further names */
	int64_t processes, cpu_ns, peak_rss_bytes; /* peak of the largest; UNKNOWN unknown */
};

struct group_entry;

struct groups {
	struct group_entry *by_name;
	size_t n;
	struct group rest;
};

/* Zero-initialise to start.  Where memory is short a new name goes to the rest. */
void groups_add(struct groups *g, const struct process *p);
/* Adds a whole group, as a report read it. */
void groups_merge(struct groups *g, const struct group *one);
void groups_free(struct groups *g);
/* The groups by CPU, the largest first, "other" last; at most GROUPS_MAX + 1.  Returns how many. */
size_t groups_list(const struct groups *g, struct group *out);

#endif /* GROUP_H */
