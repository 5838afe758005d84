/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tap - checks that print the Test Anything Protocol, plan at the end
 *
 * Each check takes a printf label and evaluates its arguments once; a failed one also prints
 * file:line, what it got and what it wanted.  End main with return tap_done(): 0 when at least
 * one check ran and none failed.
 */
#ifndef TAP_H
#define TAP_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define OK(cond, ...) tap_ok(!!(cond), #cond, __FILE__, __LINE__, __VA_ARGS__)
#define EQ_I(got, want, ...) \
	tap_eq_i((long long)(got), (long long)(want), __FILE__, __LINE__, __VA_ARGS__)
#define EQ_S(got, want, ...) tap_eq_s((got), (want), __FILE__, __LINE__, __VA_ARGS__)
/* Equal within @tol; infinities equal themselves, NaN equals nothing. */
#define EQ_D(got, want, tol, ...) tap_eq_d((got), (want), (tol), __FILE__, __LINE__, __VA_ARGS__)
/* One check that cannot run here; the label is the reason. */
#define SKIP(...) tap_skip(__VA_ARGS__)

#define TAP_PRINTF(f) __attribute__((unused, format(printf, (f), (f) + 1)))

static int tap_checks, tap_failures;

/* A newline or '#' in a label would be read as protocol. */
__attribute__((format(printf, 1, 0))) static inline void tap_label(const char *fmt, va_list ap)
{
	char label[512];

	vsnprintf(label, sizeof(label), fmt, ap);
	for (const char *p = label; *p; p++) {
		if (*p == '#' || *p == '\\')
			printf("\\%c", *p);
		else
			putchar((unsigned char)*p < 0x20 ? ' ' : *p);
	}
}

__attribute__((format(printf, 2, 0))) static inline bool tap_report(bool pass, const char *fmt,
								    va_list ap)
{
	tap_checks++;
	tap_failures += !pass;
	printf("%s %d - ", pass ? "ok" : "not ok", tap_checks);
	tap_label(fmt, ap);
	putchar('\n');
	fflush(stdout); /* so that a crash shows behind which check */
	return pass;
}

static inline void tap_print_string(const char *name, const char *text)
{
	printf("#   %s: ", name);
	if (!text) {
		printf("NULL\n");
		return;
	}
	putchar('"');
	for (const char *p = text; *p; p++) {
		unsigned char c = (unsigned char)*p;

		if (c < 0x20 || c > 0x7e || c == '\\' || c == '"')
			printf("\\x%02x", c);
		else
			putchar(c);
	}
	printf("\"\n");
}

TAP_PRINTF(5)
static inline bool tap_ok(bool pass, const char *cond, const char *file, int line, const char *fmt,
			  ...)
{
	va_list ap;

	va_start(ap, fmt);
	tap_report(pass, fmt, ap);
	va_end(ap);
	if (!pass)
		printf("#   at %s:%d\n#   got: false\n#   want: %s\n", file, line, cond);
	return pass;
}

TAP_PRINTF(5)
static inline bool tap_eq_i(long long got, long long want, const char *file, int line,
			    const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	tap_report(got == want, fmt, ap);
	va_end(ap);
	if (got != want)
		printf("#   at %s:%d\n#   got: %lld\n#   want: %lld\n", file, line, got, want);
	return got == want;
}

TAP_PRINTF(5)
static inline bool tap_eq_s(const char *got, const char *want, const char *file, int line,
			    const char *fmt, ...)
{
	bool pass = got && want ? !strcmp(got, want) : got == want;
	va_list ap;

	va_start(ap, fmt);
	tap_report(pass, fmt, ap);
	va_end(ap);
	if (!pass) {
		printf("#   at %s:%d\n", file, line);
		tap_print_string("got", got);
		tap_print_string("want", want);
	}
	return pass;
}

TAP_PRINTF(6)
static inline bool tap_eq_d(double got, double want, double tol, const char *file, int line,
			    const char *fmt, ...)
{
	bool pass = got == want || (got - want <= tol && want - got <= tol);
	va_list ap;

	va_start(ap, fmt);
	tap_report(pass, fmt, ap);
	va_end(ap);
	if (!pass)
		printf("#   at %s:%d\n#   got: %.17g\n#   want: %.17g within %g\n", file, line, got,
		       want, tol);
	return pass;
}

TAP_PRINTF(1)
static inline void tap_skip(const char *fmt, ...)
{
	va_list ap;

	printf("ok %d # SKIP ", ++tap_checks);
	va_start(ap, fmt);
	tap_label(fmt, ap);
	va_end(ap);
	putchar('\n');
}

static inline int tap_done(void)
{
	printf("1..%d\n", tap_checks);
	fflush(stdout);
	return tap_failures || !tap_checks;
}

#endif /* TAP_H */
