DELETE FROM "outbox_dispatcher" WHERE id = ?1
