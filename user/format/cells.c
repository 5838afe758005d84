// SPDX-License-Identifier: GPL-2.0-or-later
#include "format/cells.h"

#include <stdio.h>

#include "lib/exitmeter.h"
#include "units.h"

const char *cell_bytes(int64_t bytes, char buf[CELL_MAX])
{
	em_bytes_text(bytes, buf, CELL_MAX);
	return buf;
}

const char *cell_time(int64_t ns, char buf[CELL_MAX])
{
	em_cpu_text(ns < 0 ? -1 : (double)ns / (double)NS_PER_S, buf, CELL_MAX);
	return buf;
}

const char *cell_count(int64_t v, char buf[CELL_MAX])
{
	*buf = '\0';
	if (v >= 0)
		snprintf(buf, CELL_MAX, "%lld", (long long)v);
	return buf;
}

const char *cell_end(const struct process *p, char buf[CELL_MAX])
{
	*buf = '\0';
	if (p->running)
		snprintf(buf, CELL_MAX, "running");
	else if (p->exit_signal > 0)
		snprintf(buf, CELL_MAX, "signal %lld", (long long)p->exit_signal);
	else if (p->exit_code >= 0)
		snprintf(buf, CELL_MAX, "%lld", (long long)p->exit_code);
	return buf;
}

int64_t process_lived_ns(const struct process *p)
{
	int64_t lived;

	if (p->ended_ns == TIME_NONE || p->started_ns == TIME_NONE ||
	    __builtin_sub_overflow(p->ended_ns, p->started_ns, &lived))
		return UNKNOWN;
	return lived;
}
