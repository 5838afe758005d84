// SPDX-License-Identifier: GPL-2.0-or-later
#include "format/name.h"

#include <stdio.h>
#include <string.h>

#include "report/words.h"
#include "units.h"

/* Another word behind what there is; false: there was no room for all of it. */
static bool add_word(char *buf, size_t cap, const char *word, size_t word_len)
{
	size_t len = strlen(buf);

	if (len && len + 1 < cap) {
		buf[len++] = ' ';
		buf[len] = '\0';
	}
	return plain_text(word, word_len, buf + len, cap - len) < (int)(cap - len);
}

static void mark_cut(char *buf, size_t cap)
{
	static const char dots[] = "...";
	size_t len = strlen(buf), most = cap - sizeof(dots);

	if (len > most)
		len = most;
	/* Not within a character. */
	while (len && ((unsigned char)buf[len] & 0xc0) == 0x80)
		len--;
	memcpy(buf + len, dots, sizeof(dots));
}

void run_name(const struct summary *s, char buf[RUN_NAME_MAX])
{
	const struct run_facts *f = &s->run;

	*buf = '\0';
	for (size_t i = f->n_labels; i-- > 0;)
		if (!strcmp(f->labels[i].key, "name")) {
			plain_text(f->labels[i].value, strlen(f->labels[i].value), buf,
				   RUN_NAME_MAX);
			return;
		}
	for (char **arg = f->command; arg && *arg; arg++)
		if (!add_word(buf, RUN_NAME_MAX, *arg, strlen(*arg))) {
			mark_cut(buf, RUN_NAME_MAX);
			return;
		}
	if (!*buf && f->exe_path)
		plain_text(f->exe_path, strlen(f->exe_path), buf, RUN_NAME_MAX);
	if (!*buf)
		snprintf(buf, RUN_NAME_MAX, "run");
}

void process_name(const struct process *p, char *buf, size_t cap)
{
	struct words words = words_of(p, cap / 2);
	const char *word;
	size_t len;

	*buf = '\0';
	add_word(buf, cap, p->comm, strnlen(p->comm, sizeof(p->comm)));
	while ((word = words_next(&words, &len)))
		if (!add_word(buf, cap, word, len)) {
			mark_cut(buf, cap);
			return;
		}
}
