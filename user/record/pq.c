// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/pq.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

#include "units.h"

static void ignore_notice(void *unused, const PGresult *r)
{
	(void)unused;
	(void)r;
}

/* The first line that says what it is; libpq puts the host and its port before some. */
static int fail_connection(struct sink *s, PGconn *c)
{
	return sink_fail(s, -ENOTCONN, "%s", PQerrorMessage(c));
}

/* What the URL itself says of these goes before. */
int pq_connect(struct sink *s, const struct url *url, PGconn **ret)
{
	const char *const names[] = { "connect_timeout", "tcp_user_timeout", "application_name",
				      "client_encoding", "dbname",           NULL };
	const char *const values[] = { "10", "30000", "exitmeter", "UTF8", url->text, NULL };

	*ret = PQconnectdbParams(names, values, 1);
	if (!*ret)
		return sink_fail(s, -ENOMEM, "out of memory");
	PQsetNoticeReceiver(*ret, ignore_notice, NULL);
	return PQstatus(*ret) == CONNECTION_OK ? 0 : fail_connection(s, *ret);
}

/* Until there is something to read, or to write where @write.  0 or -errno. */
static int wait_for(PGconn *c, bool write, int64_t until_ns)
{
	for (;;) {
		int64_t left_ns = until_ns - clock_ns(CLOCK_MONOTONIC);
		struct pollfd p = { .fd = PQsocket(c),
				    .events = (short)(POLLIN | (write ? POLLOUT : 0)) };
		int ready;

		if (left_ns <= 0)
			return -ETIMEDOUT;
		ready = poll(&p, 1, (int)(left_ns / NS_PER_MS) + 1);
		if (ready > 0)
			return 0;
		if (ready < 0 && errno != EINTR)
			return -errno;
	}
}

static int send_all(PGconn *c, int64_t until_ns)
{
	int left, err = 0;

	while (!err && (left = PQflush(c)) > 0) {
		err = wait_for(c, true, until_ns);
		if (!err && !PQconsumeInput(c))
			err = -ENOTCONN;
	}
	return err ? err : left < 0 ? -ENOTCONN : 0;
}

/* One answer; NULL: that was all. */
static int next_result(PGconn *c, int64_t until_ns, PGresult **ret)
{
	int err = 0;

	while (!err && PQisBusy(c)) {
		err = wait_for(c, false, until_ns);
		if (!err && !PQconsumeInput(c))
			err = -ENOTCONN;
	}
	*ret = err ? NULL : PQgetResult(c);
	return err;
}

/* By the class of its SQLSTATE: 22 a value that cannot be, 23 one that is refused. */
static int fail_result(struct sink *s, PGconn *c, const PGresult *r)
{
	const char *state = PQresultErrorField(r, PG_DIAG_SQLSTATE);
	const char *why = PQresultErrorField(r, PG_DIAG_MESSAGE_PRIMARY);
	int err = -EIO;

	if (PQstatus(c) != CONNECTION_OK)
		err = -ENOTCONN;
	else if (state && (!strncmp(state, "22", 2) || !strncmp(state, "23", 2)))
		err = -EINVAL;
	return sink_fail(s, err, "%s", why ? why : PQresultErrorMessage(r));
}

static bool is_good(const PGresult *r)
{
	return PQresultStatus(r) == PGRES_COMMAND_OK || PQresultStatus(r) == PGRES_TUPLES_OK;
}

/* Reads all there is; the first that is no good is what happened. */
static int take_results(struct sink *s, PGconn *c, int64_t until_ns, PGresult **ret)
{
	PGresult *r;
	int err = 0, waited;

	*ret = NULL;
	while (!(waited = next_result(c, until_ns, &r)) && r) {
		if (!err && !is_good(r))
			err = fail_result(s, c, r);
		PQclear(*ret);
		*ret = r;
	}
	if (waited)
		err = waited == -ETIMEDOUT ? sink_fail(s, waited, "no answer in time")
					   : fail_connection(s, c);
	if (err) {
		PQclear(*ret);
		*ret = NULL;
	}
	return err;
}

int pq_run(struct sink *s, PGconn *c, const char *sql, int n, const char *const *values,
	   int timeout_ms, PGresult **ret)
{
	int64_t until_ns = clock_ns(CLOCK_MONOTONIC) + timeout_ms * NS_PER_MS;
	PGresult *r = NULL;
	int sent, err;

	PQsetnonblocking(c, 1);
	sent = n < 0 ? PQsendQuery(c, sql)
		     : PQsendQueryParams(c, sql, n, NULL, values, NULL, NULL, 0);
	err = sent ? send_all(c, until_ns) : -ENOTCONN;
	if (err == -ETIMEDOUT)
		return sink_fail(s, err, "no answer in time");
	if (err)
		return fail_connection(s, c);
	err = take_results(s, c, until_ns, &r);
	if (!err && ret)
		*ret = r;
	else
		PQclear(r);
	return err;
}

void pq_rollback(PGconn *c, int timeout_ms)
{
	struct sink unsaid = { 0 };

	if (PQtransactionStatus(c) == PQTRANS_INTRANS || PQtransactionStatus(c) == PQTRANS_INERROR)
		pq_run(&unsaid, c, "ROLLBACK", -1, NULL, timeout_ms, NULL);
}
