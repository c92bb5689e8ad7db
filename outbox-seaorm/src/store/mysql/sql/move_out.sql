-- JSON: [id in hex, …], of locked rows.
DELETE d
FROM JSON_TABLE(?, '$[*]' COLUMNS (id CHAR(32) CHARACTER SET utf8mb4 PATH '$')) AS j
STRAIGHT_JOIN "outbox_delayed" AS d FORCE INDEX (PRIMARY) ON d.id = UNHEX(j.id)
