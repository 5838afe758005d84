// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/attempts.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "units.h"

static struct attempts *of(struct sink *s)
{
	return (struct attempts *)s;
}

int attempts_check_columns(struct attempts *a, int n)
{
	if (n >= 3)
		return 0;
	return sink_fail(&a->sink, -EIO,
			 "the statement that selects attempts gives %d columns: an id and two ages "
			 "are wanted",
			 n);
}

int attempts_bad_age(struct attempts *a, const char *text)
{
	return sink_fail(&a->sink, -EIO,
			 "the statement that selects attempts gives '%.40s', no age in seconds",
			 text);
}

int attempts_add(struct attempts *a, int64_t row, double started, double ended)
{
	/* Nobody has begun it: it has no share, and is no other's neighbour (U-74). */
	if (isnan(started))
		return 0;
	if (a->n_spans == ATTEMPTS_MAX)
		return sink_fail(&a->sink, -EIO, "more than %d attempts of one process",
				 ATTEMPTS_MAX);
	if (a->n_spans == a->cap) {
		size_t cap = a->cap ? 2 * a->cap : 16;
		struct em_span *more = realloc(a->spans, cap * sizeof(*more));

		if (!more)
			return sink_fail(&a->sink, -ENOMEM, "out of memory");
		a->spans = more;
		a->cap = cap;
	}
	a->spans[a->n_spans++] = (struct em_span){ row, started, isnan(ended) ? -1 : ended };
	return 0;
}

/*
 * U-92: as if the meter were aged at the database's now; instead the spans become ages of the
 * meter's, since only differences count.
 */
static void age_spans(struct attempts *a, const struct ended *x)
{
	double later_s = (double)(a->asked_ns - x->aged_ns) / (double)NS_PER_S;

	for (size_t i = 0; i < a->n_spans; i++) {
		a->spans[i].started -= later_s;
		if (a->spans[i].ended != -1)
			a->spans[i].ended -= later_s;
	}
}

static bool is_known(const struct em_usage *u)
{
	return u->peak_rss_bytes >= 0 || u->cpu_seconds >= 0 || u->peak_cpus >= 0;
}

static int write_shares(struct attempts *a, const struct ended *x, int64_t *ret_written)
{
	struct em_usage *shares = calloc(a->n_spans + 1, sizeof(*shares));
	int err = 0;

	if (!shares)
		return sink_fail(&a->sink, -ENOMEM, "out of memory");
	age_spans(a, x);
	em_attribute_exits(x->marks, x->n_marks, x->max_rss, x->exits, x->n_exits, a->spans,
			   a->n_spans, shares);
	for (size_t i = 0; !err && i < a->n_spans; i++) {
		bool written = false;

		if (is_known(&shares[i]))
			err = a->ops->update(a, x, a->spans[i].id, &shares[i], &written);
		*ret_written += written;
	}
	free(shares);
	return err;
}

static bool uses_either(const struct attempts *a, bool fenced, enum parameter p)
{
	return statement_uses(&a->select, p) || statement_uses(&a->updates[fenced], p);
}

static int check_fence(struct attempts *a)
{
	if (uses_either(a, true, PARAMETER_WORKER) && uses_either(a, true, PARAMETER_START))
		return 0;
	return sink_fail(&a->sink, -EIO,
			 "--update-sql: :worker and :start are missing: nothing would be fenced");
}

static int write_ended(struct sink *s, const struct ended *x, int64_t *ret_written)
{
	struct attempts *a = of(s);
	int64_t written = 0;
	int err;

	s->why[0] = '\0';
	a->n_spans = 0;
	err = x->worker ? check_fence(a) : 0;
	if (err)
		return err;
	err = a->ops->begin(a, x);
	/* A name that none of its runs can have. */
	if (err == -EINVAL)
		err = -ENXIO;
	if (!err)
		err = write_shares(a, x, &written);
	if (!err)
		err = a->ops->commit(a);
	if (err)
		a->ops->rollback(a);
	else
		*ret_written = written;
	return err;
}

static void attempts_close(struct sink *s)
{
	struct attempts *a = of(s);

	a->ops->close(a);
	statement_free(&a->select);
	statement_free(&a->updates[false]);
	statement_free(&a->updates[true]);
	free(a->spans);
	free(a);
}

static const struct sink_ops sink_ops = { .ended = write_ended, .close = attempts_close };

static int parse(struct attempts *a, const char *option, const char *sql, struct statement *ret)
{
	char why[STATEMENT_WHY_MAX];
	int err = statement_parse(sql, ret, why);

	if (err == -EINVAL)
		return sink_fail(&a->sink, -EIO, "--%s: %s", option, why);
	return err ? sink_fail(&a->sink, err, "out of memory") : 0;
}

/* What would write the wrong share, or to the wrong attempt. */
static int check_uses(struct attempts *a)
{
	static const enum parameter of_share[] = { PARAMETER_ID, PARAMETER_PEAK, PARAMETER_CPU,
						   PARAMETER_CPUS };
	const size_t n = sizeof(of_share) / sizeof(of_share[0]);
	bool any = false;

	for (size_t i = 0; i < n; i++) {
		any |= i > 0 && statement_uses(&a->updates[false], of_share[i]);
		if (statement_uses(&a->select, of_share[i]))
			return sink_fail(&a->sink, -EIO, "--select-sql: :%s is not known yet",
					 parameter_names[of_share[i]]);
	}
	if (!any || !statement_uses(&a->updates[false], PARAMETER_ID))
		return sink_fail(&a->sink, -EIO,
				 "--update-sql: :id and one of :peak, :cpu and :cpus are missing");
	if (!uses_either(a, false, PARAMETER_RUN) || !uses_either(a, false, PARAMETER_PID))
		return sink_fail(&a->sink, -EIO,
				 "--select-sql: :run and :pid are missing: whose attempts?");
	return 0;
}

int attempts_init(struct attempts *a, const struct attempts_ops *ops,
		  const struct scheduler *scheduler, bool sqlite)
{
	const char *select = scheduler->select_sql, *update = scheduler->update_sql;
	int err;

	a->sink.ops = &sink_ops;
	a->ops = ops;
	a->select_sql = select ? select : statement_select(sqlite);
	err = parse(a, "select-sql", a->select_sql, &a->select);
	for (int fenced = 0; !err && fenced < 2; fenced++) {
		a->update_sqls[fenced] = update ? update : statement_update(fenced);
		err = parse(a, "update-sql", a->update_sqls[fenced], &a->updates[fenced]);
	}
	if (!err)
		err = check_uses(a);
	return !err && scheduler->worker ? check_fence(a) : err;
}
