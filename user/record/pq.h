/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pq - a connection to PostgreSQL whose answers are waited for so long and no longer
 *
 * Passwords are libpq's business: PGPASSFILE, a service file, the environment.
 */
#ifndef RECORD_PQ_H
#define RECORD_PQ_H

#include <libpq-fe.h>

#include "record/sink.h"

/* *@ret: to be finished, also after an error.  0 or -errno with the reason in @s. */
int pq_connect(struct sink *s, const struct url *url, PGconn **ret);
/*
 * One statement with @n parameters as texts; @n below 0: several, without any.  *@ret: the last
 * answer, to be cleared; NULL where nobody wants it.  0; -EINVAL: a value that cannot be; -ENOTCONN
 * and -ETIMEDOUT: the connection is of no use any more; or -errno.  With the reason in @s.
 */
int pq_run(struct sink *s, PGconn *c, const char *sql, int n, const char *const *values,
	   int timeout_ms, PGresult **ret);
/* What rolls a transaction back where there is one, and says nothing. */
void pq_rollback(PGconn *c, int timeout_ms);

#endif /* RECORD_PQ_H */
