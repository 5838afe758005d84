// SPDX-License-Identifier: GPL-2.0-or-later
#include "log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "units.h"

static int debug;
static unsigned int lines;

__attribute__((format(printf, 1, 0))) static void say(const char *format, va_list args)
{
	static const char prefix[] = "exitmeter: ";
	char text[2048], line[sizeof(prefix) + sizeof(text) * 4 + 1];
	size_t len;

	vsnprintf(text, sizeof(text), format, args);
	memcpy(line, prefix, sizeof(prefix));
	len = sizeof(prefix) - 1;
	len += (size_t)plain_text(text, strlen(text), line + len, sizeof(line) - len - 1);
	line[len++] = '\n';
	if (write(STDERR_FILENO, line, len) < 0)
		return; /* nobody left to tell */
}

void log_line(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(format, args);
	va_end(args);
	lines++;
}

unsigned int log_lines(void)
{
	return lines;
}

void log_debug(const char *format, ...)
{
	va_list args;

	if (!debug)
		return;
	va_start(args, format);
	say(format, args);
	va_end(args);
}

void log_set_debug(int on)
{
	debug = on;
}
