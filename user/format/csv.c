// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * csv - processes, or marks, as comma-separated values with a header (RFC 4180, lines end with \n)
 *
 * What is not known is empty.  Names are made safe as for a terminal, and never begin like a
 * formula; arguments are a JSON array.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "format/format.h"
#include "report/fields.h"
#include "report/gather.h"
#include "report/json_fields.h"
#include "report/json_summary.h"
#include "units.h"

struct csv {
	FILE *out;
	bool comma;
	struct json value; /* of one field */
};

static void put(struct csv *c, const char *text, size_t len)
{
	if (c->comma)
		putc(',', c->out);
	c->comma = true;
	if (!memchr(text, '"', len) && !memchr(text, ',', len)) {
		fwrite(text, 1, len, c->out);
		return;
	}
	putc('"', c->out);
	for (size_t i = 0; i < len; i++) {
		if (text[i] == '"')
			putc('"', c->out);
		putc(text[i], c->out);
	}
	putc('"', c->out);
}

static void end_line(struct csv *c)
{
	putc('\n', c->out);
	c->comma = false;
}

/* A spreadsheet takes what begins with one of these for a formula. */
static void put_text(struct csv *c, const char *text, size_t len)
{
	size_t cap = 4 * len + 1;
	char *plain = malloc(cap + 3);

	if (!plain)
		return put(c, "", 0);
	if (len && strchr("=+-@", *text)) {
		snprintf(plain, 5, "\\x%02x", *text);
		plain_text(text + 1, len - 1, plain + 4, cap - 1);
	} else {
		plain_text(text, len, plain, cap);
	}
	put(c, plain, strlen(plain));
	free(plain);
}

static void put_json(struct csv *c)
{
	const char *text = json_text(&c->value);

	put(c, text, strcmp(text, "null") ? strlen(text) : 0);
}

static void put_field(struct csv *c, const void *at, enum field_kind kind)
{
	const char *source;

	if (kind == FIELD_COMM) {
		put_text(c, at, strnlen(at, EM_COMM_LEN));
	} else if (kind == FIELD_SOURCE) {
		source = peak_source_name(*(const enum peak_source *)at);
		put(c, source ? source : "", source ? strlen(source) : 0);
	} else {
		json_reset(&c->value);
		json_field_value(&c->value, at, kind);
		put_json(c);
	}
}

static void put_fields(struct csv *c, const void *base, const struct field_table *t)
{
	for (size_t i = 0; i < t->n; i++)
		put_field(c, (const char *)base + t->at[i].offset, t->at[i].kind);
}

static void put_names(struct csv *c, const char *prefix, const struct field_table *t)
{
	char name[64];

	for (size_t i = 0; i < t->n; i++)
		put(c, name, (size_t)snprintf(name, sizeof(name), "%s%s", prefix, t->at[i].name));
}

static void put_process(struct csv *c, const struct process *p)
{
	put_fields(c, p, &process_head_fields);
	json_reset(&c->value);
	json_process_argv(&c->value, p);
	put_json(c);
	put_fields(c, p, &process_tail_fields);
	put_fields(c, &p->split, &split_fields);
	put_fields(c, &p->io, &io_fields);
	end_line(c);
}

int format_csv(const struct format_input *in, const struct document_sink *to)
{
	struct csv c = { 0 };
	struct gathered g;
	struct process *p;
	int err = gather_open(&g);

	if (err)
		return err;
	c.out = g.f;
	json_init(&c.value);
	put_names(&c, "", &process_head_fields);
	put(&c, "argv", 4);
	put_names(&c, "", &process_tail_fields);
	put_names(&c, "rss_split_bytes.", &split_fields);
	put_names(&c, "io.", &io_fields);
	end_line(&c);
	while (!err && (p = in->rows->next(in->rows->ctx))) {
		put_process(&c, p);
		process_unref(p);
		err = c.value.err ? c.value.err : gather_hand_on(&g, GATHER_CHUNK, to);
	}
	json_free(&c.value);
	return gather_close(&g, err, to);
}

static void put_number(struct csv *c, double v, double least)
{
	json_reset(&c->value);
	if (v < least)
		json_null(&c->value);
	else
		json_double(&c->value, v);
	put_json(c);
}

/* Times are seconds since the run's start, as in every other table. */
int format_csv_marks(const struct format_input *in, const struct document_sink *to)
{
	const struct summary *s = in->summary;
	struct csv c = { 0 };
	struct gathered g;
	int err = gather_open(&g);

	if (err)
		return err;
	c.out = g.f;
	json_init(&c.value);
	fputs("at,rss_bytes,cpu_seconds,cpus\n", g.f);
	for (size_t i = 0; i < s->n_marks; i++) {
		const struct em_mark *m = &s->marks[i];
		double at = (double)s->aged_ns / (double)NS_PER_S - m->at;

		put_number(&c, round(at * 1e6) / 1e6, -INFINITY);
		put_number(&c, (double)m->rss, 0);
		put_number(&c, m->cpu, 0);
		put_number(&c, m->cpus, 0);
		end_line(&c);
	}
	err = c.value.err;
	json_free(&c.value);
	return gather_close(&g, err, to);
}
