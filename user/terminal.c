// SPDX-License-Identifier: GPL-2.0-or-later
#include "terminal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "log.h"

bool when_of(const char *what, const char *text, enum when *ret)
{
	static const char *const names[] = { "auto", "always", "never" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(text, names[i])) {
			*ret = (enum when)i;
			return true;
		}
	log_line("%s '%s': auto, always or never", what, text);
	return false;
}

static bool is_set(const char *name)
{
	const char *value = getenv(name);

	return value && *value;
}

bool terminal_able(int fd)
{
	const char *term = getenv("TERM");

	return fd >= 0 && isatty(fd) && term && *term && strcmp(term, "dumb") != 0 && !is_set("CI");
}

int terminal_width(int fd)
{
	struct winsize size;

	return fd >= 0 && isatty(fd) && !ioctl(fd, TIOCGWINSZ, &size) ? size.ws_col : 0;
}

bool terminal_colour(enum when when, int fd)
{
	if (when != WHEN_AUTO)
		return when == WHEN_ALWAYS;
	return terminal_able(fd) && !is_set("NO_COLOR");
}
