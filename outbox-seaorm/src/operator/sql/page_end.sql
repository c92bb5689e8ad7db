-- $1 a key, $2 how many rows more. The last row of a look at a table that starts behind that key.
SELECT t.{key} AS "key" FROM "{table}" AS t WHERE t.{key} > $1 ORDER BY t.{key} LIMIT 1 OFFSET {limit $2}
