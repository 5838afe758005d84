// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/after.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "log.h"
#include "programs.h"

#define PROGRAM      "report"
#define PIECE_MAX    48
#define ARGUMENT_MAX (2 * MADE_N + 16)

void after_init(struct after *a)
{
	*a = (struct after){ .journal_fd = -1, .copy_fd = -1 };
	for (int i = 0; i < MADE_N; i++)
		a->outs[i].fd = -1;
}

static bool wanted(const struct config *c)
{
	bool any = c->kind->made && !c->quiet;

	for (int i = 0; i < MADE_N; i++)
		any |= c->made[i] != NULL;
	return any;
}

/* The file that @journal writes, to be read; -1: it cannot be, or is none. */
static int reopen(const struct output *journal)
{
	struct stat written, read;
	int fd;

	if (journal->fd < 0 || fstat(journal->fd, &written) || !S_ISREG(written.st_mode))
		return -1;
	fd = open(journal->name, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return -1;
	if (!fstat(fd, &read) && read.st_dev == written.st_dev && read.st_ino == written.st_ino)
		return fd;
	close(fd);
	return -1;
}

static int open_temporary(struct output *journal, struct after *a)
{
	FILE *file;
	int err = temporary_open(&file);

	if (err) {
		log_line("no temporary file for the journal: %s", strerror(-err));
		return err;
	}
	a->journal_fd = fcntl(fileno(file), F_DUPFD_CLOEXEC, 3);
	a->copy_fd = a->journal_fd;
	fclose(file);
	if (a->journal_fd < 0)
		return -errno;
	if (journal->fd >= 0)
		return 0;
	*journal = (struct output){ .name = "the temporary journal", .fd = a->copy_fd };
	journal->fd = fcntl(a->copy_fd, F_DUPFD_CLOEXEC, 3);
	a->copy_fd = -1;
	return journal->fd < 0 ? -errno : 0;
}

int after_open(const struct config *c, struct output *journal, struct after *a)
{
	int err = 0;

	/* What can be renamed exitmeter-report opens itself. */
	for (int i = 0; err >= 0 && i < MADE_N; i++) {
		err = output_is_path(c->made[i]) ? output_may_replace(c->made[i]) : 0;
		if (!err)
			err = output_open(c->made[i], false, &a->outs[i]);
	}
	err = err < 0 ? err : 0;
	if (err || !wanted(c))
		return err;
	a->journal_fd = reopen(journal);
	return a->journal_fd >= 0 ? 0 : open_temporary(journal, a);
}

/* --- the command line ----------------------------------------------------------------------- */

struct arguments {
	const char *at[ARGUMENT_MAX];
	char pieces[ARGUMENT_MAX][PIECE_MAX];
	int n;
};

__attribute__((format(printf, 2, 3))) static void add(struct arguments *a, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(a->pieces[a->n], PIECE_MAX, format, args);
	va_end(args);
	a->at[a->n] = a->pieces[a->n];
	a->n++;
}

/* Right before it is given away: what a file held goes, and exec does not close it. */
static int hand_over(struct output *out)
{
	int err = output_begin(out);

	return !err && fcntl(out->fd, F_SETFD, 0) ? -errno : err;
}

static void add_report(const struct config *c, const struct output *report, struct arguments *args)
{
	static const char *const sorts[] = { "peak", "cpu", "start" };
	static const char *const colours[] = { "auto", "always", "never" };

	if (!c->kind->made || report->fd < 0) {
		add(args, "--quiet");
		return;
	}
	add(args, "--report=%s", c->kind->name);
	add(args, "--log-fd=%d", report->fd);
	add(args, "--color=%s", colours[c->colour]);
	if (c->all)
		add(args, "--all");
	if (c->list) {
		add(args, "--top=%ld", c->top);
		add(args, "--sort=%s", sorts[c->sort]);
	}
}

static int add_outputs(const struct config *c, struct after *a, struct arguments *args)
{
	int err = 0;

	for (int i = 0; !err && i < MADE_N; i++) {
		if (!c->made[i])
			continue;
		add(args, "--%s", made_options[i]);
		if (a->outs[i].fd < 0) {
			args->at[args->n++] = c->made[i];
			continue;
		}
		err = hand_over(&a->outs[i]);
		add(args, "fd:%d", a->outs[i].fd);
	}
	return err;
}

/* --- making --------------------------------------------------------------------------------- */

/* It writes nothing there.  Without /dev a descriptor that cannot be written does as well. */
static int open_nothing(void)
{
	int fd = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (fd < 0)
		fd = open("/", O_PATH | O_CLOEXEC);
	return fd;
}

/* In the child.  It has the signals that we were started with, but for what we ignore. */
static void become(struct arguments *args, const struct after *a, const sigset_t *mask)
{
	int nothing = open_nothing();
	int err;

	signal(SIGINT, SIG_DFL);
	signal(SIGQUIT, SIG_DFL);
	sigprocmask(SIG_SETMASK, mask, NULL);
	if (lseek(a->journal_fd, 0, SEEK_SET) == 0 && dup2(a->journal_fd, STDIN_FILENO) == 0 &&
	    dup2(nothing, STDOUT_FILENO) == STDOUT_FILENO)
		err = program_exec(PROGRAM, (char *const *)args->at);
	else
		err = -errno;
	log_line("no exitmeter-" PROGRAM ": %s", strerror(-err));
	_exit(STATUS_FAILED);
}

static int wait_for(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	if (WIFSIGNALED(status))
		log_line("exitmeter-" PROGRAM " was ended by signal %d", WTERMSIG(status));
	return 0; /* what failed otherwise it said itself */
}

int after_make(const struct config *c, struct after *a, struct output *report, const sigset_t *mask)
{
	struct arguments args = { .n = 0 };
	int err = 0;
	pid_t pid;

	if (a->journal_fd < 0)
		return 0;
	err = program_there(PROGRAM);
	if (err) {
		log_line("exitmeter-" PROGRAM ": %s",
			 err == -ENOENT ? "not installed" : strerror(-err));
		return err;
	}
	add(&args, "exitmeter-" PROGRAM);
	add(&args, "-");
	add_report(c, report, &args);
	err = add_outputs(c, a, &args);
	if (!err && c->kind->made && report->fd >= 0)
		err = hand_over(report);
	args.at[args.n] = NULL;
	pid = err ? -1 : fork();
	if (pid == 0)
		become(&args, a, mask);
	if (!err && pid < 0)
		err = -errno;
	if (err) {
		log_line("no exitmeter-" PROGRAM ": %s", strerror(-err));
		return err;
	}
	return wait_for(pid);
}

void after_close(struct after *a)
{
	for (int i = 0; i < MADE_N; i++)
		output_close(&a->outs[i], 0);
	if (a->copy_fd >= 0 && a->copy_fd != a->journal_fd)
		close(a->copy_fd);
	if (a->journal_fd >= 0)
		close(a->journal_fd);
	after_init(a);
}
