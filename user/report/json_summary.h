/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * json_summary - rows, parts of a run and the whole summary as JSON (INTERFACE 3)
 *
 * Each writes one value, or the members of the open object, into @j; errors stick in @j.
 */
#ifndef JSON_SUMMARY_H
#define JSON_SUMMARY_H

#include "journal/json.h"
#include "model/summary.h"

void json_process_argv(struct json *j, const struct process *p); /* an array or null */
void json_process_members(struct json *j, const struct process *p);
/* Which program wrote it: a member of every document. */
void json_tool(struct json *j);
void json_run(struct json *j, const struct run_facts *f);
void json_source(struct json *j, const struct source_facts *f);

void json_process(struct json *j, const struct process *p); /* the same as an object */

/* Everything but processes and marks, as members: the journal's last line. */
void json_summary_members(struct json *j, const struct summary *s);

/* As a member. */
void json_marks(struct json *j, const struct summary *s);

/*
 * The whole document in three steps, so that rows need not be in memory at once: begin, then
 * json_process for each row, then end.  @omitted: rows that were left out.
 */
void json_summary_begin(struct json *j, const struct summary *s);
void json_summary_end(struct json *j, const struct summary *s, int64_t omitted);

/* What the end of one run of a split tree tells. */
void json_run_end_members(struct json *j, const struct summary *s);

#endif /* JSON_SUMMARY_H */
