// SPDX-License-Identifier: GPL-2.0-or-later
#include "kinds.h"

#include <stdio.h>
#include <string.h>

#include "log.h"

const struct report_kind kind_text = { .name = "text" };
const struct report_kind kind_none = { .name = "none" };
const struct report_kind kind_status = { .name = "status", .appended = true };
const struct report_kind kind_time = { .name = "time" };
const struct report_kind kind_csv = { .name = "csv", .made = true, .data = true };
const struct report_kind kind_csv_marks = { .name = "csv-marks", .made = true, .data = true };
const struct report_kind kind_runner = { .name = "runner", .made = true, .data = true };

static const struct report_kind *const kinds[] = { &kind_text,      &kind_status, &kind_csv,
						   &kind_csv_marks, &kind_runner, &kind_none };

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
