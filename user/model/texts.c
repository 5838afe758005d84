// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/texts.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void texts_add(struct texts *t, const char *format, ...)
{
	char *text;
	va_list args;
	int len;

	va_start(args, format);
	len = vasprintf(&text, format, args);
	va_end(args);
	if (len < 0)
		return;
	for (size_t i = 0; i < t->n; i++)
		if (!strcmp(t->at[i], text)) {
			free(text);
			return;
		}
	if (t->n == TEXTS_MAX)
		free(text);
	else
		t->at[t->n++] = text;
}

void texts_free(struct texts *t)
{
	for (size_t i = 0; i < t->n; i++)
		free(t->at[i]);
	t->n = 0;
}
