// SPDX-License-Identifier: GPL-2.0-or-later
#include "query/past.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "journal/read_values.h"
#include "lib/number.h"

static int64_t integer(const char *cell)
{
	return cell ? strtoll(cell, NULL, 10) : -1;
}

/* Not strtod, which takes the locale's point. */
static double number(const char *cell)
{
	double v;

	return cell && em_number_double(cell, strlen(cell), &v) ? v : -1;
}

static bool truth(const char *cell)
{
	return cell && (*cell == 't' || *cell == '1');
}

/* --- earlier runs -------------------------------------------------------------------------- */

/* The words of a command, with spaces between them; NULL: none, or no memory. */
static char *command_line(const char *json, char **ret_program)
{
	json_object *list = json ? json_tokener_parse(json) : NULL;
	char *text = NULL;
	size_t len;
	FILE *f;

	*ret_program = NULL;
	f = json_object_is_type(list, json_type_array) ? open_memstream(&text, &len) : NULL;
	if (f) {
		for (size_t i = 0; i < json_object_array_length(list); i++) {
			const char *word =
				json_object_get_string(json_object_array_get_idx(list, i));
			const char *base = word ? strrchr(word, '/') : NULL;

			if (!i && word)
				*ret_program = strdup(base ? base + 1 : word);
			fprintf(f, "%s%s", i ? " " : "", word ? word : "");
		}
		if (fclose(f)) {
			free(text);
			text = NULL;
		}
	}
	json_object_put(list);
	return text;
}

static bool fits(const char *pattern, const char *text)
{
	return text && !fnmatch(pattern, text, 0);
}

static bool run_fits(const char *pattern, const char *command, const char *name)
{
	char *program, *line = command_line(command, &program);
	bool yes = fits(pattern, line) || fits(pattern, program) || fits(pattern, name);

	free(line);
	free(program);
	return yes;
}

struct finding {
	const char *pattern;
	struct past_list *list;
};

static int add(struct past_list *l, const struct past *p)
{
	struct past *more;

	/* Doubled whenever it is full. */
	if (!(l->n & (l->n - 1))) {
		more = realloc(l->at, (l->n ? 2 * l->n : 1) * sizeof(*more));
		if (!more)
			return -ENOMEM;
		l->at = more;
	}
	l->at[l->n++] = *p;
	return 0;
}

#define RUNS                                                                           \
	"SELECT command, name, peak_rss_upper_bytes, coalesce(peak_cpus, mean_cpus), " \
	"coalesce(wall_seconds, ended - started), exit_code, exit_signal, oom_killed " \
	"FROM runs WHERE peak_rss_bytes IS NOT NULL AND (cut_off IS NULL OR NOT cut_off)"

static int on_run(void *ctx, const char *const *cells)
{
	struct finding *f = ctx;
	struct past p;

	if (!run_fits(f->pattern, cells[0], cells[1]))
		return 0;
	p = (struct past){ .peak_bytes = integer(cells[2]),
			   .cpus = number(cells[3]),
			   .wall_s = number(cells[4]),
			   .failed = integer(cells[5]) > 0 || integer(cells[6]) > 0,
			   .for_memory = truth(cells[7]) };
	return add(f->list, &p);
}

#define ATTEMPTS "SELECT id, peak_rss_bytes, peak_cpus, started_age - ended_age FROM attempts"

static int on_attempt(void *ctx, const char *const *cells)
{
	struct finding *f = ctx;
	struct past p;

	if (!fits(f->pattern, cells[0]))
		return 0;
	p = (struct past){ .peak_bytes = integer(cells[1]),
			   .cpus = number(cells[2]),
			   .wall_s = number(cells[3]) };
	return add(f->list, &p);
}

int past_find(struct query *q, const char *pattern, struct past_list *ret)
{
	struct finding f = { pattern, ret };
	int err;

	*ret = (struct past_list){ 0 };
	err = query_each(q, RUNS, 0, NULL, on_run, &f);
	if (!err)
		err = query_each(q, ATTEMPTS, 0, NULL, on_attempt, &f);
	return err;
}

void past_free(struct past_list *l)
{
	free(l->at);
	*l = (struct past_list){ 0 };
}

/* --- the parts of a run -------------------------------------------------------------------- */

static int on_part(void *ctx, const char *const *cells)
{
	struct fleet_list *l = ctx;
	struct fleet_part *more = realloc(l->at, (l->n + 1) * sizeof(*more));

	if (!more)
		return -ENOMEM;
	l->at = more;
	more[l->n] = (struct fleet_part){ .host = strdup(cells[0] ? cells[0] : "?"),
					  .started_s = number(cells[1]),
					  .wall_s = number(cells[2]),
					  .lower_bytes = integer(cells[3]),
					  .upper_bytes = integer(cells[4]),
					  .processes = integer(cells[5]),
					  .cpu_s = number(cells[6]),
					  .exit_code = integer(cells[7]),
					  .exit_signal = integer(cells[8]),
					  .exact = cells[9] ? truth(cells[9]) : -1 };
	if (!more[l->n].host)
		return -ENOMEM;
	l->n++;
	return 0;
}

/* Not ORDER BY: a database's own order of texts is not strcmp's. */
static int by_host(const void *a, const void *b)
{
	const struct fleet_part *x = a, *y = b;
	int order = strcmp(x->host, y->host);

	return order ? order : (x->started_s > y->started_s) - (x->started_s < y->started_s);
}

int past_parts(struct query *q, const char *id, struct fleet_list *ret)
{
	const char *const values[] = { id };
	char epoch[96], sql[512];
	int err;

	*ret = (struct fleet_list){ 0 };
	snprintf(sql, sizeof(sql),
		 "SELECT host, %s, wall_seconds, peak_rss_lower_bytes, peak_rss_upper_bytes, "
		 "total_processes, cpu_seconds, exit_code, exit_signal, exact FROM runs "
		 "WHERE id = ?1 AND split = 0",
		 query_epoch(q, "started_at", epoch, sizeof(epoch)));
	err = query_each(q, sql, 1, values, on_part, ret);
	if (!err && ret->n)
		qsort(ret->at, ret->n, sizeof(*ret->at), by_host);
	return err;
}

void past_parts_free(struct fleet_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->at[i].host);
	free(l->at);
	*l = (struct fleet_list){ 0 };
}
