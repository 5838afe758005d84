/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * serve_record - what workers send, shared out among the attempts of a scheduler's database
 */
#ifndef SERVE_RECORD_H
#define SERVE_RECORD_H

#include "record/sink.h"
#include "serve/recorder.h"

struct serve_record {
	struct recorder recorder; /* for the site */
	struct url url;
	const struct scheduler *scheduler;
	struct sink *sink; /* NULL: to be opened */
	int64_t failed_ns; /* when that failed last; 0: it did not */
	char why[SINK_WHY_MAX];
};

/*
 * @url and @scheduler outlive it.  A database that is not there yet is asked again when a meter
 * comes, and that is printed.  False after one line was printed: it is none that can be asked.
 */
bool serve_record_open(const struct url *url, const struct scheduler *scheduler,
		       struct serve_record *ret);
void serve_record_close(struct serve_record *r);

#endif /* SERVE_RECORD_H */
