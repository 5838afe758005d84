// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_words - which of a process's arguments are shown
 */
#include "report/words.h"

#include <stdio.h>
#include <string.h>

#include "tap.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define ROOM     40

/* Words of argv with | after each. */
static const struct {
	const char *label, *argv, *want;
} cases[] = {
	{ "none", "true|", "" },
	{ "no arguments are known", "", "" },
	{ "they fit", "gcc|-O2|-o|a|a.c|", "-O2|-o|a|a.c|" },
	{ "a compiler",
	  "cc1|-quiet|-I|.|-I|./include|-imultiarch|x86_64-linux-gnu|-D|SHELL|array.c|-quiet|"
	  "-dumpbase|array.c|-dumpbase-ext|.c|-mtune=generic|-o|/tmp/x.s|",
	  "array.c|" },
	{ "its driver", "gcc|-DPROGRAM=\"bash\"|-I./include|-I./lib|-c|-o|lib/a.o|lib/a.c|",
	  "-c|lib/a.c|" },
	{ "a shell's text", "sh|-c|while sleep 1; do something; or something else; done|",
	  "-c|while sleep 1; do something; or something else; done|" },
	{ "a module", "python3|-m|pytest|-q|--durations=10|--maxfail=1|tests/one_of_them.py|",
	  "pytest|tests/one_of_them.py|" },
	{ "options alone", "tool|--an-option-that-is-long|--another-option-that-is|",
	  "--an-option-that-is-long|--another-option-that-is|" },
	{ "the option at the end lacks its word", "ld|a.o|-an-option-that-is-very-long-indeed|-o|",
	  "a.o|" },
	{ "- is a word, and so is nothing", "cat|-|--an-option-that-is-long--an-option-that-is||",
	  "-||" },
};

static struct process *with_argv(const char *argv)
{
	size_t len = strlen(argv);
	struct process *p = process_blank(len);

	for (size_t i = 0; p && i < len; i++)
		p->argv[i] = argv[i] == '|' ? '\0' : argv[i];
	if (p) {
		p->argv_len = len;
		p->argv_known = len > 0;
	}
	return p;
}

int main(void)
{
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct process *p = with_argv(cases[i].argv);
		struct words w = words_of(p, ROOM);
		char got[256] = "";
		const char *word;
		size_t len, at = 0;

		while ((word = words_next(&w, &len)))
			at += (size_t)snprintf(got + at, sizeof(got) - at, "%.*s|", (int)len, word);
		EQ_S(got, cases[i].want, "words: %s", cases[i].label);
		process_unref(p);
	}
	return tap_done();
}
