-- SPDX-License-Identifier: GPL-2.0-or-later
-- What 95 % of the runs of each command needed at most (nearest rank).  SQLite and PostgreSQL.
SELECT command, min(peak_rss_upper_bytes) AS p95_bytes, max(runs) AS runs
FROM (
    SELECT
        command, peak_rss_upper_bytes,
        row_number() OVER (PARTITION BY command ORDER BY peak_rss_upper_bytes) AS place,
        count(*) OVER (PARTITION BY command) AS runs
    FROM runs
    WHERE split = 0 AND peak_rss_upper_bytes IS NOT NULL AND command IS NOT NULL
) ranked
WHERE 20 * place >= 19 * runs
GROUP BY command
ORDER BY p95_bytes DESC;
