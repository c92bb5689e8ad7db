-- $1 age in microseconds, $2 limit.
DELETE FROM "{table}" WHERE {time} <= {ago $1} {and} ORDER BY {time} LIMIT $2
