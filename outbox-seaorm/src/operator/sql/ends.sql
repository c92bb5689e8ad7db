-- $1 how many rows to pass. The first key and the last one, and whether there are more rows than that.
SELECT (SELECT t.{key} FROM "{table}" AS t ORDER BY t.{key} LIMIT 1) AS first_key,
    (SELECT t.{key} FROM "{table}" AS t ORDER BY t.{key} DESC LIMIT 1) AS last_key,
    (SELECT 1 FROM (
        SELECT t.{key} FROM "{table}" AS t ORDER BY t.{key} LIMIT 1 OFFSET {limit $1}
    ) AS beyond) AS more
