-- $1 age in microseconds, $2 limit.
DELETE FROM "{table}" WHERE {key} IN (
    SELECT t.{key} FROM "{table}" AS t WHERE t.{time} <= {ago $1} {and} ORDER BY t.{time} LIMIT $2
)
