-- The span of the row numbers: no less than there are, and in a backlog no more.
SELECT COALESCE((SELECT MAX(t.rowid) FROM "{table}" AS t)
    - (SELECT MIN(t.rowid) FROM "{table}" AS t) + 1, 0) AS number
