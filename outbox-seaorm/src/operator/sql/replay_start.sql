-- $1 replay, $2 who, $3 why, $4 topic. Somebody else may start the same one at the same moment.
INSERT INTO "outbox_operation" (id, act, who, why, topic, seq, events)
VALUES ($1, 'replay', $2, $3, $4, 0, 0) {or_leave id}
