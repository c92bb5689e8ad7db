-- $1 id, $2 whether it sleeps.
UPDATE "outbox_dispatcher" SET sleeps = $2 WHERE id = $1 AND sleeps <> $2
