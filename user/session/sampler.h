/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sampler - looks at the tree: the source's totals, and /proc beside them
 */
#ifndef SAMPLER_H
#define SAMPLER_H

#include "capture/source.h"
#include "host/load.h"
#include "host/pss.h"
#include "model/run.h"
#include "procfs/scan.h"

struct sampler {
	struct source *source; /* borrowed */
	struct scan *scan;     /* owned by the session */
	bool scanning;         /* processes are looked at between exits (SPEC R-21) */
	bool following;        /* the scan knows the living: for that, or for their shares */
	struct pss pss;
	int64_t interval_max_bytes; /* taken from the source, not yet in a sample */
	int64_t doubt_at_ns;        /* when a doubtful sum is looked at again; 0: none is */
	int64_t vmstat_at_ns;
	struct proc_vmstat vmstat;
	bool has_vmstat;
	struct load_source load; /* opened by the session */
	int64_t load_at_ns;      /* when it was last read */
};

/* The totals alone; @t->at_ns is set. */
void sampler_totals(struct sampler *s, struct tree_sample *t);
/* A periodic sample, for run_on_sample. */
void sampler_sample(struct sampler *s, struct tree_sample *t);
/* The machine now, without what the tree has used. */
void sampler_load(struct sampler *s, struct load_reading *ret);
/* Between two samples: the shares of memory, where the tree has just come to more. */
void sampler_look_between(struct sampler *s);
/* Once doubt_at_ns is there. */
void sampler_look_again(struct sampler *s, struct run *run);
/* A reading that was asked for, in @t too: every process is read, and the run is told. */
struct moment sampler_moment(struct sampler *s, struct run *run, struct tree_sample *t);
/* The same of one run of a split tree. */
struct moment sampler_run_moment(struct sampler *s, struct run *run, uint32_t place,
				 struct tree_sample *t);

#endif /* SAMPLER_H */
