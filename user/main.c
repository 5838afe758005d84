// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture/identity.h"
#include "cli.h"
#include "descriptors.h"
#include "doctor/doctor.h"
#include "hostcmd/hostcmd.h"
#include "log.h"
#include "programs.h"
#include "session/session.h"
#include "session/span.h"

/* Web and database code is never in this process: "report" is exitmeter-report, beside us or in
 * libexec.  "doctor" tries what this very program may do, "host" looks at the machine, "span" talks
 * to the one around us. */
static int run_subcommand(char **argv)
{
	int err;

	if (!strcmp(argv[0], "doctor"))
		return doctor_main(argv);
	if (!strcmp(argv[0], "host"))
		return hostcmd_main(argv);
	if (!strcmp(argv[0], "span"))
		return span_main(argv);
	err = program_exec(argv[0], argv);
	log_line("exitmeter-%s: %s", argv[0], err == -ENOENT ? "not installed" : strerror(-err));
	return STATUS_FAILED;
}

/* EXITMETER_DISABLE=1: as if we were not there. */
static int run_plainly(char **argv, const struct identity *as)
{
	int err = as ? identity_assume(as) : 0;

	if (err) {
		log_line("cannot run as another user: %s", strerror(-err));
		return STATUS_FAILED;
	}
	execvp(argv[0], argv);
	log_line("cannot run '%s': %s", argv[0], strerror(errno));
	return errno == ENOENT || errno == ENOTDIR ? STATUS_NOT_FOUND : STATUS_NOT_EXECUTABLE;
}

static bool find_user(const char *name, struct identity *ret)
{
	int err = geteuid() ? -EPERM : identity_find(name, ret);

	if (err == -EPERM)
		log_line("user '%s': only root can run a command as another user", name);
	else if (err == -ENOENT)
		log_line("user '%s': there is no such user", name);
	else if (err)
		log_line("user '%s': %s", name, strerror(-err));
	return !err;
}

static int run(const struct config *c)
{
	const char *disable = getenv("EXITMETER_DISABLE");
	struct identity user = { 0 };
	const struct identity *as = c->user ? &user : NULL;
	int status;

	if (as && !find_user(c->user, &user))
		return STATUS_FAILED;
	if (disable && !strcmp(disable, "1"))
		status = c->command ? run_plainly(c->command, as) : 0;
	else
		status = session_run(c, as);
	identity_free(&user);
	return status;
}

int main(int argc, char **argv)
{
	struct config config;
	int status;

	descriptors_reserve();
	switch (cli_parse(argc, argv, &config)) {
	case CLI_DONE:
		return fflush(stdout) ? STATUS_FAILED : 0;
	case CLI_SUBCOMMAND:
		status = run_subcommand(config.command);
		break;
	case CLI_RUN:
		log_set_debug(config.debug);
		status = run(&config);
		break;
	case CLI_ERROR:
	default:
		return STATUS_FAILED;
	}
	cli_free(&config);
	return status;
}
