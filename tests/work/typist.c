// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * typist PROGRAM ARG... - a person at a terminal of the program's own, who does what stdin says
 *
 *   see TEXT    waits until the terminal shows TEXT after what was seen so far
 *   type TEXT   types the line
 *   press KEY   types one key: a letter is Ctrl and that letter
 *   write TEXT  types it without an end of line
 *   front NAME  waits until the terminal belongs to the group that a program NAME leads
 *
 * for 60 s at most with each.  Ends with 0 once all was done and the program has ended; else with
 * 1, and says what the terminal showed.
 */
#include "work.h"
#include <poll.h>
#include <sys/ioctl.h>

#define PATIENCE_MS 60000
#define SHOWN_MAX   (1 << 20)

static char shown[SHOWN_MAX + 1];
static size_t n_shown, seen;
static int terminal;
static pid_t program;

static _Noreturn void give_up(const char *line)
{
	dprintf(2, "never done: %s\n", line);
	printf("%s", shown);
	kill(-program, SIGKILL);
	kill(program, SIGKILL);
	exit(1);
}

/* Reads what is there; false at the end. */
static bool look(int ms)
{
	struct pollfd p = { .fd = terminal, .events = POLLIN };
	ssize_t n;

	if (poll(&p, 1, ms) <= 0)
		return true;
	n = read(terminal, shown + n_shown, SHOWN_MAX - n_shown);
	for (ssize_t i = 0; i < n; i++)
		if (!shown[n_shown + (size_t)i])
			shown[n_shown + (size_t)i] = '?';
	n_shown += n > 0 ? (size_t)n : 0;
	return n > 0;
}

static bool sees(const char *text)
{
	uint64_t end = clock_now_ns(CLOCK_MONOTONIC) + PATIENCE_MS * NS_PER_MS;
	const char *at;

	while (!(at = strstr(shown + seen, text)))
		if (!look(20) || clock_now_ns(CLOCK_MONOTONIC) > end)
			return false;
	seen = (size_t)(at - shown) + strlen(text);
	return true;
}

static bool in_front(const char *name)
{
	char path[32], comm[32];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/comm", (int)tcgetpgrp(terminal));
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, comm, sizeof(comm) - 1);
	close(fd);
	return n == (ssize_t)strlen(name) + 1 && !strncmp(comm, name, strlen(name));
}

static bool waits_for(const char *name)
{
	uint64_t end = clock_now_ns(CLOCK_MONOTONIC) + PATIENCE_MS * NS_PER_MS;

	while (!in_front(name))
		if (!look(20) || clock_now_ns(CLOCK_MONOTONIC) > end)
			return false;
	return true;
}

static bool types(const char *text, size_t n)
{
	return write(terminal, text, n) == (ssize_t)n;
}

static bool does(char *line)
{
	char *text = strchr(line, ' ');
	char key;

	if (!text)
		return false;
	*text++ = 0;
	if (!strcmp(line, "see"))
		return sees(text);
	if (!strcmp(line, "front"))
		return waits_for(text);
	if (!strcmp(line, "write"))
		return types(text, strlen(text));
	if (!strcmp(line, "type"))
		return types(text, strlen(text)) && types("\n", 1);
	if (strcmp(line, "press") != 0)
		return false;
	key = *text & 0x1f;
	return types(&key, 1);
}

static void start(char **argv)
{
	int other;

	terminal = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (terminal < 0 || grantpt(terminal) || unlockpt(terminal))
		die("/dev/ptmx");
	program = fork_checked();
	if (program)
		return;
	setsid();
	other = open(ptsname(terminal), O_RDWR);
	if (other < 0 || ioctl(other, TIOCSCTTY, 0))
		die("terminal");
	for (int fd = 0; fd < 3; fd++)
		dup2(other, fd);
	if (other > 2)
		close(other);
	exec_checked(argv);
}

int main(int argc, char **argv)
{
	static char line[4096], whole[4096];

	if (argc < 2)
		usage("PROGRAM ARG... (see the head of typist.c)");
	start(argv + 1);
	while (fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = 0;
		strcpy(whole, line);
		if (*line && !does(line))
			give_up(whole);
	}
	while (look(PATIENCE_MS))
		;
	printf("%s", shown);
	return waitpid(program, NULL, 0) != program;
}
