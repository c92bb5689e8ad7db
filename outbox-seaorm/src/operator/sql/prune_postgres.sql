-- $1 age in microseconds, $2 limit. What somebody else is deleting is left to him.
DELETE FROM "{table}" WHERE {key} = ANY (ARRAY(
    SELECT t.{key} FROM "{table}" AS t WHERE t.{time} <= {ago $1} {and}
    ORDER BY t.{time} LIMIT {limit $2} FOR UPDATE SKIP LOCKED
))
