-- ?1 seq, ?2 id in hex. Nobody else writes while this transaction is open.
SELECT e.seq FROM "outbox_event" AS e WHERE e.seq = ?1 AND {id} = ?2
