/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * read_env - the machine a run ran on, its load and the sizes of its folders, from parsed JSON; a
 * journal's first line and its samples
 */
#ifndef JOURNAL_READ_ENV_H
#define JOURNAL_READ_ENV_H

#include "journal/read_values.h"

/* As those of read_values.h. */
int values_env(json_object *o, struct env *e, struct why *why);
/* At @o's host_load, if it is there. */
int values_host_load(json_object *o, struct host_load *h, struct why *why);
/* At a sample's host_load, if it is there: the watch has had it. */
int values_sample_load(json_object *o, struct load_watch *w, struct why *why);
int values_energies(json_object *o, struct summary *s, struct why *why);
int values_disks(json_object *o, struct summary *s, struct why *why);
/* run_start: run, source and env. */
int values_start(json_object *o, struct summary *s, struct why *why);

/* What a sample tells; UNKNOWN unknown. */
struct sample_values {
	int64_t rss_bytes, cpu_ns, processes, threads;
	int64_t lower_bytes, upper_bytes; /* bounds of the peak so far */
	int64_t pss_bytes;
};

struct sample_values sample_values_blank(void); /* all unknown */
int values_sample(json_object *o, struct sample_values *ret, struct why *why);

#endif /* JOURNAL_READ_ENV_H */
