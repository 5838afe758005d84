// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fuzz_statement - any bytes as a statement of a user's, and as where the spool says it is to go
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "record/statement.h"
#include "scheduler.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void as_statement(const char *text)
{
	char why[STATEMENT_WHY_MAX] = "";
	struct statement s = { 0 };

	if (statement_parse(text, &s, why)) {
		if (!*why || s.text)
			abort(); /* it says why, and gives nothing */
		return;
	}
	for (size_t i = 0; i < s.n_uses; i++)
		if (s.uses[i] >= PARAMETERS || !statement_uses(&s, s.uses[i]))
			abort();
	/* Names became shorter, nothing else changed. */
	if (strlen(s.text) > strlen(text) || (!s.n_uses && strcmp(s.text, text) != 0))
		abort();
	statement_free(&s);
}

static void as_target(const char *text)
{
	char *target = strdup(text), *again = NULL, *whole;
	struct scheduler s, t = { 0 };

	if (!target)
		abort();
	if (!scheduler_of_target(target, &s)) {
		whole = scheduler_target(&s, target);
		again = whole ? strdup(whole) : NULL;
		if (!again || scheduler_of_target(again, &t) || strcmp(again, target) != 0 ||
		    t.on != s.on || t.worker != s.worker || t.start != s.start)
			abort();
		free(whole);
	}
	scheduler_free(&s);
	scheduler_free(&t);
	free(again);
	free(target);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	if (!text)
		abort();
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	as_statement(text);
	as_target(text);
	free(text);
	return 0;
}
