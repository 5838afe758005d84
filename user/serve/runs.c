// SPDX-License-Identifier: GPL-2.0-or-later
#include "serve/runs.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "format/openmetrics.h"
#include "format/prometheus.h"
#include "procfs/scan.h"
#include "units.h"

static int64_t open_descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int64_t n = 0;
	struct dirent *entry;

	if (!dir)
		return UNKNOWN;
	while ((entry = readdir(dir)))
		n += *entry->d_name != '.';
	closedir(dir);
	return n - 1; /* the folder's own */
}

static struct self_now self_now(int64_t started_at_ns)
{
	struct self_now now = { .cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID),
				.rss_bytes = UNKNOWN,
				.vm_bytes = UNKNOWN,
				.fds = open_descriptors(),
				.max_fds = UNKNOWN,
				.started_at_ns = started_at_ns };
	int64_t page = sysconf(_SC_PAGESIZE);
	struct proc_statm statm;
	struct rlimit limit;

	if (!scan_statm(getpid(), &statm)) {
		now.rss_bytes = (int64_t)statm.resident_pages * page;
		now.vm_bytes = (int64_t)statm.size_pages * page;
	}
	if (!getrlimit(RLIMIT_NOFILE, &limit) && limit.rlim_cur <= INT64_MAX)
		now.max_fds = (int64_t)limit.rlim_cur;
	return now;
}

static int add_run(struct metrics *m, const struct follow *f, int64_t now_ns)
{
	struct tree_now tree = { UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN };

	switch (journal_state_of(f, now_ns)) {
	case JOURNAL_ENDED:
		return metrics_add_run(m, f->run);
	case JOURNAL_LIVE:
		tree = (struct tree_now){ f->now.rss_bytes, f->now.cpu_ns, f->now.processes,
					  f->series.last_cpus };
		break;
	case JOURNAL_SILENT: /* that it began is all there is to say */
		break;
	default:
		return 0;
	}
	return metrics_add_tree(m, &f->run->run, &f->run->env, &tree);
}

int runs_metrics(const struct journals *j, int64_t started_at_ns, bool as_openmetrics,
		 struct reply *ret)
{
	const struct self_now self = self_now(started_at_ns);
	const struct document_sink to = { reply_put, ret };
	int64_t now_ns = clock_ns(CLOCK_REALTIME);
	struct metrics m;
	int err;

	metrics_init(&m, false);
	err = metrics_add_self(&m, &self);
	for (size_t i = 0; !err && i < j->n; i++)
		err = add_run(&m, j->all[i].follow, now_ns);
	if (!err)
		err = metrics_text(&m, as_openmetrics ? &openmetrics : &prometheus, &to);
	metrics_free(&m);
	ret->status = 200;
	ret->type = as_openmetrics ? OPENMETRICS_CONTENT : PROMETHEUS_CONTENT;
	return err;
}
