// SPDX-License-Identifier: GPL-2.0-or-later
#include "kinds.h"

#include <stdio.h>
#include <string.h>

#include "log.h"

#define DATA .made = true, .data = true

const struct report_kind kind_text = { .name = "text" };
const struct report_kind kind_tree = { .name = "tree", DATA };
const struct report_kind kind_table = { .name = "table", DATA };
const struct report_kind kind_csv = { .name = "csv", DATA };
const struct report_kind kind_csv_marks = { .name = "csv-marks", DATA };
const struct report_kind kind_markdown = { .name = "markdown", DATA };
const struct report_kind kind_status = { .name = "status", .appended = true };
const struct report_kind kind_nextflow = { .name = "nextflow", DATA };
const struct report_kind kind_snakemake = { .name = "snakemake", DATA };
const struct report_kind kind_benchexec = { .name = "benchexec", DATA };
const struct report_kind kind_benchmark_action = { .name = "benchmark-action", DATA };
const struct report_kind kind_bencher = { .name = "bencher", DATA };
const struct report_kind kind_runner = { .name = "runner", DATA };
const struct report_kind kind_none = { .name = "none" };
const struct report_kind kind_time = { .name = "time" };

static const struct report_kind *const kinds[] = { &kind_text,
						   &kind_tree,
						   &kind_table,
						   &kind_csv,
						   &kind_csv_marks,
						   &kind_markdown,
						   &kind_status,
						   &kind_nextflow,
						   &kind_snakemake,
						   &kind_benchexec,
						   &kind_benchmark_action,
						   &kind_bencher,
						   &kind_runner,
						   &kind_none };

const struct report_kind *report_kind_of(const char *name)
{
	char all[256] = "";
	size_t len = 0;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (!strcmp(name, kinds[i]->name))
			return kinds[i];
		if (len < sizeof(all))
			len += (size_t)snprintf(all + len, sizeof(all) - len, "%s%s", i ? ", " : "",
						kinds[i]->name);
	}
	log_line("report '%s': %s", name, all);
	return NULL;
}
