-- $1 table, $2 its database, NULL for the session's. Names that differ in case or accents are found as
-- well: the table's own comes first, where it is not kept in lower case.
SELECT CAST(t.TABLE_ROWS AS SIGNED) AS number FROM information_schema.TABLES AS t
WHERE t.TABLE_NAME = $1 AND t.TABLE_SCHEMA = COALESCE($2, DATABASE())
ORDER BY CAST(t.TABLE_NAME AS BINARY) = CAST($1 AS BINARY) DESC LIMIT 1
