-- $1 how many rows to look at in each place, $2 how many at the end. A row is counted once, in
-- whatever places it is found.
SELECT s.topic, s.retrying, COUNT(*) AS number
FROM (
    SELECT * FROM (
        SELECT t.{key}, t.topic, CASE WHEN {attempts} > 0 THEN 1 ELSE 0 END AS retrying
        FROM "{table}" AS t ORDER BY t.{key} DESC LIMIT {limit $2}
    ) AS last_rows
    {places}
) AS s
GROUP BY s.topic, s.retrying
