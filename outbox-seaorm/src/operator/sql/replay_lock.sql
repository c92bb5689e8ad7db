-- $1 replay.
SELECT o.seq, o.events FROM "outbox_operation" AS o WHERE o.id = $1 AND o.act = 'replay' {lock}
