-- ?1 id, ?2 the end of the lease as it was seen.
DELETE FROM "outbox_dispatcher" WHERE id = ?1 AND lease_until = ?2
