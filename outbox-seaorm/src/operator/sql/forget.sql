-- $1 position, $2 id: after a restore a position may be another event's.
DELETE FROM "outbox_delivered" WHERE seq = $1 AND id = $2
