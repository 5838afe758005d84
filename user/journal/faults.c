// SPDX-License-Identifier: GPL-2.0-or-later
#include "journal/faults.h"

#include "log.h"

void faults_print(const char *name, const struct journal_read *r)
{
	unsigned long long said =
		r->n_faults < JOURNAL_FAULTS_MAX ? r->n_faults : JOURNAL_FAULTS_MAX;
	const struct left_out *l;

	if (!r->summary) {
		log_line(r->empty ? "%s: empty"
				  : "%s:1: no journal of exitmeter: there is no run_start",
			 name);
		return;
	}
	l = &r->summary->left_out;
	if (l->from_ns != TIME_NONE)
		log_line("%s: %lld processes and %lld samples are not in it: it had reached its "
			 "size at %.1f s",
			 name, (long long)l->processes, (long long)l->samples,
			 (double)l->from_ns / (double)NS_PER_S);
	for (unsigned long long i = 0; i < said; i++)
		log_line("%s:%llu: %s", name, r->faults[i].line, r->faults[i].why.text);
	if (r->n_faults > said)
		log_line("%s: and %llu more malformed lines", name, r->n_faults - said);
}
