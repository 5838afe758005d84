// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * attempts_postgres - a scheduler's own tables in PostgreSQL
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/number.h"
#include "record/attempts.h"
#include "record/pq.h"
#include "units.h"

#define TEXT(x)  #x
#define VALUE(x) TEXT(x)

/* An attempt that two recorders write at once is then looked at again by the second (U-94). */
#define BEGIN                                    \
	"BEGIN ISOLATION LEVEL READ COMMITTED; " \
	"SET LOCAL statement_timeout = " VALUE(  \
		ATTEMPTS_TIMEOUT_MS) "; SET LOCAL lock_timeout = " VALUE(ATTEMPTS_LOCK_MS)

struct attempts_postgres {
	struct attempts attempts;
	PGconn *db;
	PGresult *rows; /* of the process at hand */
};

static struct attempts_postgres *of(struct attempts *a)
{
	return (struct attempts_postgres *)a;
}

static int run(struct attempts_postgres *s, const char *sql, int n, const char *const *values,
	       PGresult **ret)
{
	/* The server gives up first, and says why. */
	return pq_run(&s->attempts.sink, s->db, sql, n, values, ATTEMPTS_TIMEOUT_MS + 2000, ret);
}

/* now() is that of the BEGIN: between its sending and its answer. */
static int begin_once(struct attempts_postgres *s)
{
	int64_t before_ns = clock_ns(CLOCK_BOOTTIME);
	int err = run(s, BEGIN, -1, NULL, NULL);

	s->attempts.asked_ns = before_ns + (clock_ns(CLOCK_BOOTTIME) - before_ns) / 2;
	return err;
}

/* A connection that was good and is no more, is made again once. */
static int begin(struct attempts_postgres *s)
{
	int err = PQstatus(s->db) == CONNECTION_OK ? begin_once(s) : -ENOTCONN;

	if (err != -ENOTCONN && err != -ETIMEDOUT)
		return err;
	PQreset(s->db);
	if (PQstatus(s->db) != CONNECTION_OK)
		return sink_fail(&s->attempts.sink, -ENOTCONN, "%s", PQerrorMessage(s->db));
	return begin_once(s);
}

/* --- values -------------------------------------------------------------------------------- */

struct numbers {
	char at[PARAMETERS][EM_NUMBER_MAX];
};

static const char *of_int(char buf[EM_NUMBER_MAX], int64_t v)
{
	snprintf(buf, EM_NUMBER_MAX, "%" PRId64, v);
	return buf;
}

static const char *known_double(char buf[EM_NUMBER_MAX], double v)
{
	if (!(v >= 0))
		return NULL;
	buf[em_double_text(v, buf)] = '\0';
	return buf;
}

/* NULL: unknown. */
static const char *value(enum parameter p, const struct ended *x, const char *id,
			 const struct em_usage *u, char buf[EM_NUMBER_MAX])
{
	switch (p) {
	case PARAMETER_RUN:
		return x->run;
	case PARAMETER_PID:
		return of_int(buf, x->pid);
	case PARAMETER_WORKER:
		return of_int(buf, x->worker);
	case PARAMETER_START:
		return of_int(buf, x->start);
	case PARAMETER_ID:
		return id;
	case PARAMETER_PEAK:
		return u->peak_rss_bytes < 0 ? NULL : of_int(buf, u->peak_rss_bytes);
	case PARAMETER_CPU:
		return known_double(buf, u->cpu_seconds);
	case PARAMETER_CPUS:
		return known_double(buf, u->peak_cpus);
	case PARAMETERS:
	default:
		return NULL;
	}
}

static int run_statement(struct attempts_postgres *s, const struct statement *q,
			 const struct ended *x, const char *id, const struct em_usage *u,
			 PGresult **ret)
{
	const char *values[PARAMETERS];
	struct numbers numbers = { { "" } };

	for (size_t i = 0; i < q->n_uses; i++)
		values[i] = value(q->uses[i], x, id, u, numbers.at[i]);
	return run(s, q->text, (int)q->n_uses, values, ret);
}

/* NULL: NaN. */
static int age(struct attempts_postgres *s, int row, int column, double *ret)
{
	const char *text = PQgetvalue(s->rows, row, column);
	size_t len = strlen(text);
	bool integer;

	*ret = NAN;
	if (PQgetisnull(s->rows, row, column))
		return 0;
	if (len && em_number_len(text, len, &integer) == len && em_number_double(text, len, ret))
		return 0;
	return attempts_bad_age(&s->attempts, text);
}

/* --- the process at hand ------------------------------------------------------------------- */

static void forget_rows(struct attempts_postgres *s)
{
	PQclear(s->rows);
	s->rows = NULL;
}

static int postgres_begin(struct attempts *a, const struct ended *x)
{
	struct attempts_postgres *s = of(a);
	int err;

	forget_rows(s);
	err = begin(s);
	if (!err)
		err = run_statement(s, &a->select, x, NULL, NULL, &s->rows);
	if (!err)
		err = attempts_check_columns(a, PQnfields(s->rows));
	for (int i = 0; !err && i < PQntuples(s->rows); i++) {
		double started, ended;

		err = age(s, i, 1, &started);
		if (!err)
			err = age(s, i, 2, &ended);
		if (!err)
			err = attempts_add(a, i, started, ended);
	}
	return err;
}

static int postgres_update(struct attempts *a, const struct ended *x, int64_t row,
			   const struct em_usage *u, bool *ret_written)
{
	struct attempts_postgres *s = of(a);
	const char *id = PQgetvalue(s->rows, (int)row, 0);
	PGresult *r;
	int err = run_statement(s, &a->updates[x->worker > 0], x, id, u, &r);

	if (err)
		return err;
	*ret_written = strtoll(PQcmdTuples(r), NULL, 10) > 0;
	PQclear(r);
	return 0;
}

static int postgres_commit(struct attempts *a)
{
	return run(of(a), "COMMIT", -1, NULL, NULL);
}

static void postgres_rollback(struct attempts *a)
{
	pq_rollback(of(a)->db, ATTEMPTS_TIMEOUT_MS);
}

static void postgres_close(struct attempts *a)
{
	struct attempts_postgres *s = of(a);

	forget_rows(s);
	PQfinish(s->db);
}

static const struct attempts_ops ops = {
	.begin = postgres_begin,
	.update = postgres_update,
	.commit = postgres_commit,
	.rollback = postgres_rollback,
	.close = postgres_close,
};

int attempts_postgres_open(const struct url *url, const struct scheduler *scheduler,
			   struct sink **ret)
{
	struct attempts_postgres *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return -ENOMEM;
	*ret = &s->attempts.sink;
	err = attempts_init(&s->attempts, &ops, scheduler, false);
	return err ? err : pq_connect(&s->attempts.sink, url, &s->db);
}
