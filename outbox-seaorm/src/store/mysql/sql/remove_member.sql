DELETE FROM "outbox_dispatcher" WHERE id = ?
