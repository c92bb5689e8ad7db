-- $1 id, $2 limit.
SELECT o.id, o.act, o.who, o.why, o.topic, o.event_id, o.seq, o.events, {time o.done_at done_at}
FROM "outbox_operation" AS o WHERE o.id < $1 ORDER BY o.id DESC LIMIT {limit $2}
