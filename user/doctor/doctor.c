// SPDX-License-Identifier: GPL-2.0-or-later
#include "doctor/doctor.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "doctor/checks.h"
#include "doctor/kernel.h"
#include "doctor/machine.h"
#include "doctor/trial.h"
#include "journal/json.h"
#include "log.h"
#include "options.h"

#define SCHEMA "exitmeter.doctor/1"

enum { OPT_JSON = 256 };

static const struct opt opts[] = {
	{ OPT_JSON, "json", NULL, "print one JSON object" },
	{ 'h', "help", NULL, "print this text" },
};

#define N_OPTS (sizeof(opts) / sizeof(opts[0]))

static const char *word_of(const struct check *k)
{
	if (k->state == CHECK_WORKS)
		return "works";
	if (k->state == CHECK_UNKNOWN)
		return "unknown";
	return k->required ? "MISSING" : "no";
}

static void print_text(const struct checks *c, const struct verdict *v)
{
	for (size_t i = 0; i < c->n; i++) {
		const struct check *k = &c->at[i];

		printf("%-18s  %-7s  %s%s%s\n", k->name, word_of(k), k->detail,
		       k->remedy ? "; would allow it: " : "", k->remedy ? k->remedy : "");
	}
	printf("source now: %s%s%s%s%s%s, %s%s%s%s%s%s%s\n", v->source, *v->via ? " via " : "",
	       v->via, *v->plan ? " (" : "", v->plan, *v->plan ? ")" : "",
	       v->exact ? "exact" : "not exact", v->exact ? "" : ": ", v->why, *v->cost ? "; " : "",
	       v->cost, *v->refused ? "; not bpf: " : "", v->refused);
}

static int print_json(const struct checks *c, const struct verdict *v)
{
	struct json j;
	int err;

	json_init(&j);
	json_open(&j);
	json_key(&j, "schema");
	json_cstring(&j, SCHEMA);
	json_key(&j, "checks");
	json_array(&j);
	for (size_t i = 0; i < c->n; i++) {
		const struct check *k = &c->at[i];

		json_open(&j);
		json_key(&j, "name");
		json_cstring(&j, k->name);
		json_key(&j, "ok");
		if (k->state == CHECK_UNKNOWN)
			json_null(&j);
		else
			json_bool(&j, k->state == CHECK_WORKS);
		json_key(&j, "required");
		json_bool(&j, k->required);
		json_key(&j, "detail");
		json_cstring(&j, k->detail);
		json_key(&j, "remedy");
		json_cstring(&j, k->remedy);
		json_close(&j);
	}
	json_array_end(&j);
	json_key(&j, "source");
	json_cstring(&j, v->source);
	json_key(&j, "via");
	json_cstring(&j, *v->via ? v->via : NULL);
	json_key(&j, "plan");
	json_cstring(&j, *v->plan ? v->plan : NULL);
	json_key(&j, "cost");
	json_cstring(&j, *v->cost ? v->cost : NULL);
	json_key(&j, "exact");
	json_bool(&j, v->exact);
	json_key(&j, "reason");
	json_cstring(&j, v->exact ? NULL : v->why);
	json_key(&j, "fallback_reason");
	json_cstring(&j, *v->refused ? v->refused : NULL);
	json_close(&j);
	json_newline(&j);
	err = j.err;
	if (!err)
		fwrite(j.buf, 1, j.len, stdout);
	json_free(&j);
	return err;
}

static void print_help(void)
{
	printf("Usage: exitmeter doctor [--json]\n"
	       "Tell what works on this machine, what does not, and what would allow it.\n\n");
	options_print(opts, N_OPTS);
	printf("\nExit status: 0 each end of a process is seen exactly, 1 it is not, 125 bad "
	       "usage.\n");
}

static bool take(int key, const char *arg, void *json)
{
	(void)arg;
	*(bool *)json = key == OPT_JSON;
	return true;
}

/* False when there is nothing to check, with what to end with. */
static bool parse(int argc, char **argv, bool *ret_json, int *ret_status)
{
	static const struct options_command command = { opts, N_OPTS, print_help, take };

	*ret_json = false;
	if (!options_take(argc, argv, &command, ret_json, ret_status))
		return false;
	*ret_status = STATUS_FAILED;
	if (optind == argc)
		return true;
	log_line("doctor takes no '%s' (see doctor --help)", argv[optind]);
	return false;
}

int doctor_main(char **argv)
{
	struct checks checks = { .n = 0 };
	struct verdict verdict;
	int argc = 0, status, err = 0;
	bool json;

	while (argv[argc])
		argc++;
	if (!parse(argc, argv, &json, &status))
		return status;
	signal(SIGCHLD, SIG_DFL); /* it may have been ignored: then nothing could be waited for */
	kernel_checks(&checks);
	machine_probed(&checks);
	machine_ptrace(&checks);
	machine_proc(&checks);
	machine_cgroup(&checks);
	machine_energy(&checks);
	machine_memlock(&checks);
	machine_tracefs(&checks);
	trial_run(&verdict);
	if (json)
		err = print_json(&checks, &verdict);
	else
		print_text(&checks, &verdict);
	if (!err && fflush(stdout))
		err = -errno;
	if (err) {
		log_line("cannot write: %s", strerror(-err));
		return STATUS_FAILED;
	}
	return verdict.exact ? 0 : 1;
}
