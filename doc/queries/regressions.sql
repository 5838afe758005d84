-- SPDX-License-Identifier: GPL-2.0-or-later
-- The programs whose largest process grew most from the runs with --label side=before to those
-- with --label side=after.  SQLite (3.38 or later) and PostgreSQL.
SELECT
    b.comm, b.peak_rss_bytes AS before_bytes, a.peak_rss_bytes AS after_bytes,
    a.peak_rss_bytes - b.peak_rss_bytes AS more_bytes
FROM (
    SELECT p.comm, max(p.peak_rss_bytes) AS peak_rss_bytes
    FROM processes p JOIN runs r ON r.key = p.run
    WHERE r.labels ->> 'side' = 'before'
    GROUP BY p.comm
) b
JOIN (
    SELECT p.comm, max(p.peak_rss_bytes) AS peak_rss_bytes
    FROM processes p JOIN runs r ON r.key = p.run
    WHERE r.labels ->> 'side' = 'after'
    GROUP BY p.comm
) a ON a.comm = b.comm
ORDER BY more_bytes DESC;
