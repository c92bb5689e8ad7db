SELECT id FROM "outbox_dispatcher"
