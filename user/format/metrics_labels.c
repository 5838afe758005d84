// SPDX-License-Identifier: GPL-2.0-or-later
#include "format/metrics_labels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "units.h"

#define COMMAND_MAX 250

static void put_escaped(FILE *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '\\' || *text == '"')
			putc('\\', out);
		putc(*text, out);
	}
}

/* The whole of @text, plain; NULL: out of memory. */
static char *plain_copy(const char *text)
{
	size_t len = strlen(text), cap = (size_t)plain_text(text, len, NULL, 0) + 1;
	char *plain = malloc(cap);

	if (plain)
		plain_text(text, len, plain, cap);
	return plain;
}

/* 0, or what makes the stream useless. */
static int put_plain(FILE *out, const char *text)
{
	char *plain = plain_copy(text);

	if (!plain)
		return -1;
	put_escaped(out, plain);
	free(plain);
	return 0;
}

static int put_label(FILE *out, const char *key, const char *value)
{
	int err;

	fprintf(out, "%s=\"", key);
	err = put_plain(out, value);
	putc('"', out);
	return err;
}

char *label_escape(const char *text)
{
	char *buf = NULL;
	size_t len;
	FILE *out = open_memstream(&buf, &len);
	int err;

	if (!out)
		return NULL;
	err = put_plain(out, text);
	if (ferror(out))
		err = -1;
	if (fclose(out) || err) {
		free(buf);
		return NULL;
	}
	return buf;
}

/* --- the command --------------------------------------------------------------------------- */

/* The words with a space between, as much of them as fits. */
static size_t join(char *const *words, char *buf, size_t cap)
{
	size_t len = 0;

	for (; *words && len < cap; words++) {
		size_t n = strlen(*words), room;

		if (len)
			buf[len++] = ' ';
		room = cap - len;
		n = n < room ? n : room;
		memcpy(buf + len, *words, n);
		len += n;
	}
	return len;
}

static int put_command(FILE *out, const struct run_facts *run)
{
	const char *slash = run->exe_path ? strrchr(run->exe_path, '/') : NULL;
	/* Half a character at its end lies behind what is told. */
	char text[COMMAND_MAX + 8], plain[COMMAND_MAX + 1];
	bool cut;

	if (!run->command)
		return put_label(out, "command",
				 slash           ? slash + 1
				 : run->exe_path ? run->exe_path
						 : "");
	cut = plain_text(text, join(run->command, text, sizeof(text)), plain, sizeof(plain)) >=
	      (int)sizeof(plain);
	fputs("command=\"", out);
	put_escaped(out, plain);
	fputs(cut ? "...\"" : "\"", out);
	return 0;
}

/* --- the run's labels ---------------------------------------------------------------------- */

/* Meant by exitmeter, by Prometheus, or what grows without end. */
static bool has_meaning(const char *key)
{
	static const char *const names[] = { "run",    "command", "kernel",   "kind", "mode",
					     "domain", "le",      "quantile", "pid" };

	if (!strncmp(key, "__", 2))
		return true;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(key, names[i]))
			return true;
	return false;
}

static bool is_key_byte(char c, bool first)
{
	return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (!first && c >= '0' && c <= '9');
}

/* Owned; NULL: out of memory. */
static char *key_of(const char *text)
{
	char *key = malloc(sizeof("label_") + strlen(text) + 1), *at = key;
	char *better;

	if (!key)
		return NULL;
	if (!*text || (*text >= '0' && *text <= '9'))
		*at++ = '_';
	for (; *text; text++, at++)
		*at = is_key_byte(*text, at == key) ? *text : '_';
	*at = '\0';
	if (!has_meaning(key))
		return key;
	if (asprintf(&better, "label_%s", key) < 0)
		better = NULL;
	free(key);
	return better;
}

static bool comes_again(char *const *keys, size_t i, size_t n)
{
	for (size_t k = i + 1; k < n; k++)
		if (!strcmp(keys[i], keys[k]))
			return true;
	return false;
}

static int put_labels(FILE *out, const struct run_facts *run)
{
	char **keys = calloc(run->n_labels + 1, sizeof(*keys));
	int err = keys ? 0 : -1;

	for (size_t i = 0; !err && i < run->n_labels; i++) {
		keys[i] = key_of(run->labels[i].key);
		err = keys[i] ? 0 : -1;
	}
	for (size_t i = 0; !err && i < run->n_labels; i++) {
		if (comes_again(keys, i, run->n_labels))
			continue;
		putc(',', out);
		err = put_label(out, keys[i], run->labels[i].value);
	}
	for (size_t i = 0; keys && i < run->n_labels; i++)
		free(keys[i]);
	free(keys);
	return err;
}

char *labels_of_run(const struct run_facts *run, bool with_id)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);
	int err = 0;

	if (!out)
		return NULL;
	if (with_id && run->id) {
		err = put_label(out, "run", run->id);
		putc(',', out);
	}
	if (!err)
		err = put_command(out, run);
	if (!err)
		err = put_labels(out, run);
	if (ferror(out))
		err = -1;
	if (fclose(out) || err) {
		free(text);
		return NULL;
	}
	return text;
}
