-- ?1 member, ?2 shard, ?3 epoch as seen, ?4 owner as seen. There is one writer at a time, so what
-- the subqueries read cannot change under the statement. An owner that has gone without releasing
-- may have died with events in work: all that stand in the outbox now are suspect.
UPDATE "outbox_shard" SET
    owner = ?1,
    epoch = epoch + 1,
    suspect_to = CASE WHEN owner IS NULL THEN 0
        ELSE coalesce((SELECT max(e.seq) FROM "outbox_event" AS e), 0) END
WHERE shard = ?2 AND epoch = ?3 AND owner IS ?4
    AND NOT EXISTS (SELECT 1 FROM "outbox_dispatcher" AS d WHERE d.id = owner)
    AND EXISTS (SELECT 1 FROM "outbox_dispatcher" AS d WHERE d.id = ?1)
RETURNING epoch, suspect_to
