/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * state - what the files of a session share: one metered run from start to report
 */
#ifndef SESSION_STATE_H
#define SESSION_STATE_H

#include <sys/resource.h>
#include <time.h>

#include "capture/launch.h"
#include "capture/source.h"
#include "host/env.h"
#include "journal/write.h"
#include "session/asked.h"
#include "session/control.h"
#include "session/gates.h"
#include "session/outputs.h"
#include "session/planned.h"
#include "session/progress.h"
#include "session/repeat.h"
#include "session/sampler.h"
#include "session/session.h"
#include "session/signals.h"
#include "session/split.h"
#include "session/spool.h"
#include "session/targets.h"
#include "units.h"

struct session {
	const struct config *config;
	struct signals *signals;
	struct launch launch;   /* of the command, */
	struct targets targets; /* or what is attached to */
	struct source *source;
	bool source_closed;
	struct sampler sampler;
	struct channel channel; /* of the run's phases and attempts */
	struct control control;
	struct planned planned;
	struct split split;
	struct run run;
	struct run_facts facts;
	struct asked asked;
	struct env env;
	struct env_reading env_reading;
	struct journal journal;
	struct outputs *out;
	struct repeat *repeat; /* the series it is a run of; NULL: of none */
	struct progress progress;
	struct spool spool;
	char fallback_reason[768];
	int epoll_fd;
	int64_t start_ns, started_at_ns, next_sample_ns;
	bool root_ended, stop;
	int root_status;
	bool has_status;
	struct rusage root_usage;
	int64_t ended_ns, term_deadline_ns, detach_at_ns; /* 0: none */
	struct load_reading last_load;                    /* at the end */
	int64_t window_ns; /* how long the run was, where that was waited on; UNKNOWN */
	bool started_busy; /* the host was not quiet when it was no longer waited for */
	struct gates gates;
	bool no_private_socket;
	bool terminated;  /* TERM came and the command did not end */
	bool no_command;  /* it could not be executed */
	bool ends_series; /* a signal came that is to end more than the command */
	int sink_err;
};

/* To a tree that was there, instead of starting a command. */
static inline bool attached(const struct session *s)
{
	return !s->config->command;
}

/* session_records.c: from the source into model, scan and journal; all of it takes @ctx, us. */
extern const struct source_sink session_sink;
void session_drain(struct session *s);
void session_drain_for_control(void *ctx);
void session_flush_journal(struct session *s);

/* session_loop.c: until it is over */
int session_watch(struct session *s, int fd);
void session_loop(struct session *s);

/* session_end.c */
/* The source as it is now; texts are the caller's. */
void session_fill_source(const struct session *s, struct source_facts *f);
/* Whether a document or a journal is made, for which more is looked up. */
bool session_document_wanted(const struct session *s);
void session_write_reports(struct session *s);

#endif /* SESSION_STATE_H */
