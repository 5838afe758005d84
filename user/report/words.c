// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/words.h"

#include <string.h>

/* What GCC, Clang, as and ld take with the next word, as their drivers write it. */
static const char *const takes_word[] = {
	"-D",
	"-F",
	"-I",
	"-L",
	"-MD",
	"-MF",
	"-MMD",
	"-MQ",
	"-MT",
	"-T",
	"-U",
	"-auxbase",
	"-auxbase-strip",
	"-dumpbase",
	"-dumpbase-ext",
	"-dumpdir",
	"-dynamic-linker",
	"-idirafter",
	"-imacros",
	"-imultiarch",
	"-imultilib",
	"-include",
	"-iprefix",
	"-iquote",
	"-isysroot",
	"-isystem",
	"-iwithprefix",
	"-o",
	"-plugin",
	"-rpath",
	"-soname",
	"-x",
	"-z",
	"--param",
	"--sysroot",
};

static bool takes_next(const char *word, size_t len)
{
	for (size_t i = 0; i < sizeof(takes_word) / sizeof(takes_word[0]); i++)
		if (strlen(takes_word[i]) == len && !memcmp(takes_word[i], word, len))
			return true;
	return false;
}

/* What follows these is the program itself: sh -c, perl -e. */
static bool is_text_option(const char *word, size_t len)
{
	return len == 2 && (word[1] == 'c' || word[1] == 'e');
}

static const char *next(struct words *w, size_t *ret_len)
{
	const char *word = w->at;

	if (word >= w->end)
		return NULL;
	*ret_len = strnlen(word, (size_t)(w->end - word));
	w->at += *ret_len + 1;
	return word;
}

const char *words_next(struct words *w, size_t *ret_len)
{
	const char *word;
	size_t len;

	while ((word = next(w, ret_len)) && w->few) {
		if (*ret_len < 2 || *word != '-' || is_text_option(word, *ret_len))
			break;
		if (takes_next(word, *ret_len))
			next(w, &len);
	}
	return word;
}

struct words words_of(const struct process *p, size_t room)
{
	struct words w = { p->argv, p->argv + p->argv_len, false }, few;
	size_t len;

	if (!p->argv_known || !p->argv_len)
		w.end = w.at;
	next(&w, &len);
	if (w.at >= w.end || (size_t)(w.end - w.at) <= room)
		return w;
	w.few = true;
	few = w;
	w.few = words_next(&few, &len) != NULL;
	return w;
}
