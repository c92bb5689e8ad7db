SELECT topic FROM "outbox_topic"
