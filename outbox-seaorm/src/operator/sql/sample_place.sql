UNION
SELECT * FROM (
    SELECT t.{key}, t.topic, CASE WHEN {attempts} > 0 THEN 1 ELSE 0 END AS retrying
    FROM "{table}" AS t WHERE t.{key} >= {place} ORDER BY t.{key} LIMIT {limit $1}
) AS some_rows
