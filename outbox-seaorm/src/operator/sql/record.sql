-- $1 id, $2 act, $3 who, $4 why, $5 topic, $6 event, $7 its position.
INSERT INTO "outbox_operation" (id, act, who, why, topic, event_id, seq)
VALUES ($1, $2, $3, $4, $5, $6, $7)
