// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_names - %h %p %j %t in names of outputs (INTERFACE 1)
 */
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "names.h"
#include "tap.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static const struct {
	const char *label, *name, *want;
} rows[] = {
	{ "nothing to do", "a/b.json", "a/b.json" },
	{ "nothing at all", "", "" },
	{ "job and task", "run-%j-%t.json", "run-77-3.json" },
	{ "twice", "%t%t", "33" },
	{ "a percent sign", "100%%-%%j", "100%-%j" },
	{ "others stay", "%x%H%", "%x%H%" },
	{ "a descriptor", "fd:3", "fd:3" },
	{ "stdout", "-", "-" },
};

int main(void)
{
	char host[HOST_NAME_MAX + 1] = "", want[HOST_NAME_MAX + 64];
	char *got;

	setenv("SLURM_JOB_ID", "77", 1);
	setenv("SLURM_PROCID", "3", 1);
	for (size_t i = 0; i < COUNT(rows); i++) {
		got = name_expand(rows[i].name);
		EQ_S(got, rows[i].want, "%s", rows[i].label);
		free(got);
	}
	unsetenv("SLURM_JOB_ID");
	unsetenv("SLURM_PROCID");
	got = name_expand("a%jb%tc");
	EQ_S(got, "abc", "not set");
	free(got);
	gethostname(host, sizeof(host) - 1);
	snprintf(want, sizeof(want), "%s.%d", host, (int)getpid());
	got = name_expand("%h.%p");
	EQ_S(got, want, "host and process");
	free(got);
	return tap_done();
}
