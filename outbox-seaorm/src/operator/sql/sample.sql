-- $1 how many of the first rows, $2 how many of the last.
SELECT s.topic, s.retrying, COUNT(*) AS number
FROM (
    SELECT * FROM (
        SELECT t.topic, CASE WHEN {attempts} > 0 THEN 1 ELSE 0 END AS retrying
        FROM "{table}" AS t ORDER BY t.{key} LIMIT {limit $1}
    ) AS first_rows
    UNION ALL
    SELECT * FROM (
        SELECT t.topic, CASE WHEN {attempts} > 0 THEN 1 ELSE 0 END AS retrying
        FROM "{table}" AS t ORDER BY t.{key} DESC LIMIT {limit $2}
    ) AS last_rows
) AS s
GROUP BY s.topic, s.retrying
