// SPDX-License-Identifier: GPL-2.0-or-later
#include "options.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "log.h"

#define VARIABLE_MAX 62 /* of its name: as the BPF side looks for it */

void options_getopt(const struct opt *opts, size_t n, const char *prefix,
		    char shorts[3 * OPTIONS_MAX], struct option longs[OPTIONS_MAX + 1])
{
	shorts = stpcpy(shorts, prefix);
	/* One that may be left out is for long options only. */
	for (size_t i = 0; i < n; i++) {
		longs[i] = (struct option){
			.name = opts[i].name,
			.has_arg = !opts[i].metavar          ? no_argument
				   : *opts[i].metavar == '[' ? optional_argument
							     : required_argument,
			.val = opts[i].key,
		};
		if (opts[i].key >= 256)
			continue;
		*shorts++ = (char)opts[i].key;
		if (opts[i].metavar)
			*shorts++ = ':';
	}
	*shorts = '\0';
	longs[n] = (struct option){ 0 };
}

void options_print(const struct opt *opts, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const char *gap = opts[i].metavar && *opts[i].metavar != '[' ? " " : "";
		const char *metavar = opts[i].metavar ? opts[i].metavar : "";
		char left[64];

		if (opts[i].key < 256)
			snprintf(left, sizeof(left), "-%c, --%s%s%s", opts[i].key, opts[i].name,
				 gap, metavar);
		else
			snprintf(left, sizeof(left), "    --%s%s%s", opts[i].name, gap, metavar);
		printf("  %-24s  %s\n", left, opts[i].help);
	}
}

static bool say(bool version, const struct options_command *c, int *ret_status)
{
	if (version)
		printf("exitmeter %s\n", EXITMETER_VERSION);
	else
		c->help();
	*ret_status = fflush(stdout) ? STATUS_FAILED : 0;
	return false;
}

bool options_take(int argc, char **argv, const struct options_command *c, void *options,
		  int *ret_status)
{
	struct option longs[OPTIONS_MAX + 1];
	char shorts[3 * OPTIONS_MAX];
	int key;

	*ret_status = STATUS_FAILED;
	options_getopt(c->opts, c->n, ":", shorts, longs);
	opterr = 0;
	optind = 0; /* getopt begins anew */
	while ((key = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
		if (key == 'h' || key == 'V')
			return say(key == 'V', c, ret_status);
		if (key == ':' || key == '?') {
			options_say_wrong(key, argv);
			return false;
		}
		if (!c->take(key, optarg, options))
			return false;
	}
	return true;
}

bool options_number(const char *what, const char *text, long least, long most, long *ret)
{
	char *end;
	long v;

	errno = 0;
	v = strtol(text, &end, 10);
	if (end == text || *end || errno || v < least || v > most) {
		log_line("%s '%s': a number from %ld to %ld", what, text, least, most);
		return false;
	}
	*ret = v;
	return true;
}

bool options_seconds(const char *text, double *ret)
{
	char *end;
	double v;

	errno = 0;
	v = strtod(text, &end);
	if (end == text || *end || errno || !isfinite(v) || v < 0)
		return false;
	*ret = v;
	return true;
}

bool options_variable(const char *name)
{
	const char *at = name;

	if (!*at || isdigit((unsigned char)*at))
		return false;
	while (isalnum((unsigned char)*at) || *at == '_')
		at++;
	return !*at && at - name <= VARIABLE_MAX;
}

bool options_sort(const char *text, int *ret)
{
	static const char *const names[] = { "peak", "cpu", "start" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(text, names[i])) {
			*ret = (int)i;
			return true;
		}
	log_line("sort '%s': peak, cpu or start", text);
	return false;
}

void options_say_wrong(int key, char *const argv[])
{
	const char letter[] = { '-', (char)optopt, '\0' };

	if (key == ':')
		log_line("option '%s' needs an argument", argv[optind - 1]);
	else
		log_line("unknown option '%s' (see --help)",
			 optopt && optopt < 256 ? letter : argv[optind - 1]);
}
