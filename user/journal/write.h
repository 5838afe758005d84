/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * write - the journal: a run written down as it happens, a JSON object a line (INTERFACE 4)
 *
 * Lines gather until journal_flush, which writes whole lines only.  After an error the journal ends
 * there, once reported, and the run goes on; its copy as well.
 */
#ifndef JOURNAL_WRITE_H
#define JOURNAL_WRITE_H

#include "journal/json.h"
#include "journal/room.h"
#include "model/run.h"

/* What copies are for. */
enum journal_copy { COPY_FOR_REPORT, COPY_FOR_RECORD, JOURNAL_COPIES };

struct journal {
	int fd; /* -1: no journal */
	/* Get the same; -1: none.  With neither every call does nothing. */
	int copy_fds[JOURNAL_COPIES];
	struct json j;
	/* Where @fd may become only so large, what goes there; the copies get all.  NULL: no limit.
	 */
	struct room *room;
	struct json own;
	struct room_run room_run;
	size_t line;                   /* where the newest begins in @j */
	int64_t start_ns;              /* of the run: @t counts from there */
	int copy_errs[JOURNAL_COPIES]; /* each ends by itself; 0 or -errno */
	uint64_t run; /* whose phases and attempts come next; 0: the whole tree's */
};

/* @room NULL or with most_bytes 0: no limit. */
void journal_init(struct journal *w, int fd, struct room *room);
/* @env: its cpus a reader needs to make the same marks. */
void journal_start(struct journal *w, int64_t start_ns, const struct run_facts *run,
		   const struct source_facts *source, const struct env *env);
/* @run: its number in a split tree; 0: it is in none.  Says in @p where it was left out. */
void journal_process(struct journal *w, int64_t now_ns, struct process *p, uint64_t run);
/*
 * @load: of the run, which has had the sample.  @asked: a reading that the control channel asked
 * for, not a periodic one.
 */
void journal_sample(struct journal *w, const struct tree_sample *s, const struct load_watch *load,
		    double cpus, bool asked);
void journal_lost(struct journal *w, int64_t now_ns, const struct loss *l);
/* @rss_bytes UNKNOWN: nothing was looked at, a run in the middle. */
void journal_phase(struct journal *w, int64_t now_ns, const char *name, size_t len,
		   int64_t rss_bytes);
void journal_attempt_start(struct journal *w, int64_t now_ns, const char *id, size_t len);
/* With what it used. */
/* @of_ns: when the run whose attempt it is began, on the same clock as @now_ns. */
void journal_attempt_end(struct journal *w, int64_t now_ns, int64_t of_ns, const struct stretch *s,
			 const char *io_source);
/* One run of a split tree; times of the whole run. */
struct journal_run {
	uint64_t number;
	const char *name;     /* NULL: not known */
	const char *variable; /* of its environment, that is kept; NULL: none */
	const char *value;    /* NULL: not there, or not known */
	int32_t pid;          /* of its first process */
	int64_t started_ns, ended_ns;
	int64_t exit_code, exit_signal;
};

void journal_run_sample(struct journal *w, uint64_t run, const struct tree_sample *s, double cpus);
void journal_run_end(struct journal *w, int64_t now_ns, const struct journal_run *run,
		     const struct summary *s);
void journal_oom(struct journal *w, const struct oom_record *r);
/* Before the summary, where there was no room for all: the rows that @s lists, and what is missing.
 */
void journal_left_out(struct journal *w, int64_t now_ns, const struct summary *s);
void journal_summary(struct journal *w, int64_t now_ns, const struct summary *s);

/* 0 or -errno, the first time it fails; those of copies are in @copy_errs. */
int journal_flush(struct journal *w);
void journal_free(struct journal *w);

#endif /* JOURNAL_WRITE_H */
