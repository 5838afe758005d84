/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * log - one-line messages on stderr
 */
#ifndef LOG_H
#define LOG_H

/* "exitmeter: " + message + newline in one write; control characters become \xNN. */
void log_line(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* How many of them there were: whoever fails after none was said has to say it. */
unsigned int log_lines(void);

/* The same where --debug asked for it. */
void log_debug(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_set_debug(int on);

#endif /* LOG_H */
