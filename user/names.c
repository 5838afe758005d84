// SPDX-License-Identifier: GPL-2.0-or-later
#include "names.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void put_variable(FILE *out, const char *variable)
{
	const char *value = getenv(variable);

	if (value)
		fputs(value, out);
}

static void put_host(FILE *out)
{
	char host[HOST_NAME_MAX + 1];

	if (gethostname(host, sizeof(host)))
		return;
	host[sizeof(host) - 1] = '\0';
	fputs(host, out);
}

static void put_one(FILE *out, char c)
{
	switch (c) {
	case 'h':
		put_host(out);
		break;
	case 'p':
		fprintf(out, "%d", (int)getpid());
		break;
	case 'j':
		put_variable(out, "SLURM_JOB_ID");
		break;
	case 't':
		put_variable(out, "SLURM_PROCID");
		break;
	case '%':
		putc('%', out);
		break;
	default:
		putc('%', out);
		putc(c, out);
	}
}

char *name_expand(const char *name)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		return NULL;
	for (; *name; name++)
		if (*name == '%' && name[1])
			put_one(out, *++name);
		else
			putc(*name, out);
	if (fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}
