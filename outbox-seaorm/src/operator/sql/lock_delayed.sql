-- $1 id.
SELECT d.topic FROM "outbox_delayed" AS d WHERE d.id = $1 {lock}
