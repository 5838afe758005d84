-- SPDX-License-Identifier: GPL-2.0-or-later
-- The largest process of each program, run by run.  SQLite and PostgreSQL.
SELECT r.started_at, p.comm, max(p.peak_rss_bytes) AS peak_rss_bytes, count(*) AS processes
FROM processes p
JOIN runs r ON r.key = p.run
GROUP BY r.started_at, r.key, p.comm
ORDER BY p.comm, r.started_at;
