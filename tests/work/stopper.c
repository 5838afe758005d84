// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * stopper CODE - a child that stops itself, lets it go on, and ends with CODE if wait told it all:
 * that it stopped, that it went on, and how it ended
 */
#include "work.h"

static bool waited(pid_t pid, int *status, int options)
{
	pid_t got;

	do
		got = waitpid(pid, status, options);
	while (got < 0 && errno == EINTR);
	return got == pid;
}

int main(int argc, char **argv)
{
	int stopped, went_on, ended, go[2];
	pid_t pid;

	if (argc != 2)
		usage("CODE");
	if (pipe(go))
		die("pipe");
	pid = fork_checked();
	if (!pid) {
		close(go[1]);
		raise(SIGSTOP);
		_exit(read(go[0], &(char){ 0 }, 1) ? 6 : 5); /* not before its going on was told */
	}
	if (!waited(pid, &stopped, WUNTRACED) || kill(pid, SIGCONT) ||
	    !waited(pid, &went_on, WCONTINUED) || !WIFCONTINUED(went_on) || close(go[1]) ||
	    !waited(pid, &ended, 0))
		die("wait");
	if (!WIFSTOPPED(stopped) || WSTOPSIG(stopped) != SIGSTOP)
		die("a stop that was not told");
	return WIFEXITED(ended) && WEXITSTATUS(ended) == 5 ? (int)number(argv[1]) : 1;
}
