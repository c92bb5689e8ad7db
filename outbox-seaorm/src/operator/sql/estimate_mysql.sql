-- $1 table, $2 its database, NULL for the session's.
SELECT CAST(t.TABLE_ROWS AS SIGNED) AS number FROM information_schema.TABLES AS t
WHERE t.TABLE_NAME = $1 AND t.TABLE_SCHEMA = COALESCE($2, DATABASE())
