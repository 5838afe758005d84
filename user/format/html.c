// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * html - a run as one page that works offline (INTERFACE 6)
 *
 * The page's data is JSON: the summary, the samples in at most POINTS_MAX points, and the rows of
 * at most ROWS_MAX processes, the largest; of the others their sum.  Memory does not grow with the
 * number of rows.
 */
#include <errno.h>

#include "format/comparison.h"
#include "format/format.h"
#include "format/html_rows.h"
#include "format/page.h"
#include "report/json_summary.h"

#define FORMAT     "exitmeter.page/1"
#define POINTS_MAX 2048
#define ROWS_MAX   5000

static void write_point(struct json *j, const struct curve_point *p)
{
	json_array(j);
	json_ns(j, p->at_ns);
	json_count(j, p->rss_bytes);
	json_duration(j, p->cpu_ns);
	json_figure(j, p->cpus);
	json_count(j, p->processes);
	json_count(j, p->threads);
	json_count(j, p->lower_bytes);
	json_count(j, p->upper_bytes);
	json_count(j, p->pss_bytes);
	json_array_end(j);
}

static void write_samples(struct json *j, const struct curve *s)
{
	static const char *const columns[] = { "at",          "rss_bytes",   "cpu_seconds",
					       "cpus",        "processes",   "threads",
					       "lower_bytes", "upper_bytes", "pss_bytes" };

	json_key(j, "samples");
	json_open(j);
	json_key(j, "stride");
	json_int(j, (int64_t)s->stride);
	json_key(j, "columns");
	json_array(j);
	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
		json_cstring(j, columns[i]);
	json_array_end(j);
	json_key(j, "points");
	json_array(j);
	for (size_t i = 0; i < s->n; i++)
		write_point(j, &s->points[i]);
	json_array_end(j);
	json_close(j);
}

static void on_sample(void *samples, const struct curve_point *p)
{
	curve_add(samples, p);
}

static int write_data(const struct summary *s, const struct curve *samples, struct html_rows *rows,
		      struct json *j)
{
	int err;

	json_open(j);
	json_key(j, "format");
	json_cstring(j, FORMAT);
	json_key(j, "summary");
	json_open(j);
	json_summary_members(j, s);
	json_close(j);
	/* The moment that ages of the summary count from. */
	json_key(j, "aged_seconds");
	json_ns(j, s->aged_ns);
	write_samples(j, samples);
	err = html_rows_write(rows, j);
	json_close(j);
	return err ? err : j->err;
}

int format_html(const struct format_input *in, const struct document_sink *to)
{
	const struct summary *s = in->summary;
	struct html_rows rows;
	struct curve samples;
	struct process *p;
	struct json j;
	int err;

	if (in->series)
		return compare_html(&in->series->c, to);
	json_init(&j);
	err = curve_init(&samples, POINTS_MAX);
	if (html_rows_init(&rows, s->run.wall_ns > s->aged_ns ? s->run.wall_ns : s->aged_ns,
			   ROWS_MAX))
		err = -ENOMEM;
	if (!err) {
		in->samples(in->rows, on_sample, &samples);
		while ((p = in->rows->next(in->rows->ctx))) {
			html_rows_add(&rows, p);
			process_unref(p);
		}
		err = write_data(s, &samples, &rows, &j);
	}
	if (!err)
		err = page_write(&j, to);
	json_free(&j);
	html_rows_free(&rows);
	curve_free(&samples);
	return err;
}
