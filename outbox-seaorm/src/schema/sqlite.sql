-- The outbox on SQLite (3.35 or later). Instants are RFC 3339 text in UTC, so that they compare as
-- text with what SeaORM binds; `occurred_at` has no zone, as Debezium's event router wants it.
-- One process delivers at a time: there is one shard, 0.

CREATE TABLE IF NOT EXISTS "outbox_event" (
    -- AUTOINCREMENT: a position is never used twice, also not after the table was empty.
    "seq" INTEGER PRIMARY KEY AUTOINCREMENT,
    "id" BLOB NOT NULL CHECK (typeof("id") = 'blob' AND length("id") = 16),
    "aggregatetype" TEXT NOT NULL,
    "aggregateid" TEXT,
    "topic" TEXT NOT NULL,
    "payload" TEXT NOT NULL,
    "headers" TEXT NOT NULL DEFAULT '{}',
    "occurred_at" TEXT NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f', 'now')),
    "ordered" BOOLEAN NOT NULL DEFAULT TRUE,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "crashes" INTEGER NOT NULL DEFAULT 0,
    "retry_at" TEXT,
    "last_error" TEXT,
    "created_at" TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%f+00:00', 'now'))
);

-- For finding an event by its id.
CREATE INDEX IF NOT EXISTS "outbox_event_id_idx" ON "outbox_event" ("id");

CREATE TABLE IF NOT EXISTS "outbox_delayed" (
    "id" BLOB PRIMARY KEY NOT NULL CHECK (typeof("id") = 'blob' AND length("id") = 16),
    "aggregatetype" TEXT NOT NULL,
    "aggregateid" TEXT,
    "topic" TEXT NOT NULL,
    "payload" TEXT NOT NULL,
    "headers" TEXT NOT NULL DEFAULT '{}',
    "occurred_at" TEXT NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f', 'now')),
    "ordered" BOOLEAN NOT NULL DEFAULT TRUE,
    "due_at" TEXT NOT NULL,
    "created_at" TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%f+00:00', 'now'))
);

CREATE INDEX IF NOT EXISTS "outbox_delayed_due_idx" ON "outbox_delayed" ("due_at", "id");

CREATE TABLE IF NOT EXISTS "outbox_dead" (
    "seq" INTEGER PRIMARY KEY NOT NULL,
    "id" BLOB NOT NULL,
    "aggregatetype" TEXT NOT NULL,
    "aggregateid" TEXT,
    "topic" TEXT NOT NULL,
    "payload" TEXT NOT NULL,
    "headers" TEXT NOT NULL,
    "occurred_at" TEXT NOT NULL,
    "ordered" BOOLEAN NOT NULL,
    "attempts" INTEGER NOT NULL,
    "last_error" TEXT NOT NULL,
    "created_at" TEXT NOT NULL,
    "reason" TEXT NOT NULL,
    "blocks_aggregate" BOOLEAN NOT NULL,
    "dead_at" TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%f+00:00', 'now'))
);

CREATE INDEX IF NOT EXISTS "outbox_dead_blocks_idx" ON "outbox_dead" ("seq") WHERE "blocks_aggregate";

CREATE INDEX IF NOT EXISTS "outbox_dead_at_idx" ON "outbox_dead" ("dead_at") WHERE "blocks_aggregate" = FALSE;

CREATE INDEX IF NOT EXISTS "outbox_dead_id_idx" ON "outbox_dead" ("id");

CREATE INDEX IF NOT EXISTS "outbox_dead_aggregate_idx" ON "outbox_dead" ("aggregatetype", "aggregateid") WHERE "blocks_aggregate";

CREATE TABLE IF NOT EXISTS "outbox_delivered" (
    "seq" INTEGER PRIMARY KEY NOT NULL,
    "id" BLOB NOT NULL,
    "aggregatetype" TEXT NOT NULL,
    "aggregateid" TEXT,
    "topic" TEXT NOT NULL,
    "payload" TEXT NOT NULL,
    "headers" TEXT NOT NULL,
    "occurred_at" TEXT NOT NULL,
    "ordered" BOOLEAN NOT NULL,
    "attempts" INTEGER NOT NULL,
    "created_at" TEXT NOT NULL,
    "delivered_at" TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%f+00:00', 'now'))
);

-- For deleting what is old, by age; and for finding an event by its id.
CREATE INDEX IF NOT EXISTS "outbox_delivered_at_idx" ON "outbox_delivered" ("delivered_at");

CREATE INDEX IF NOT EXISTS "outbox_delivered_id_idx" ON "outbox_delivered" ("id");

CREATE TABLE IF NOT EXISTS "outbox_shard" (
    "shard" INTEGER PRIMARY KEY NOT NULL,
    "owner" BLOB,
    "epoch" INTEGER NOT NULL DEFAULT 0,
    "revision" INTEGER NOT NULL DEFAULT 0,
    "suspect_to" INTEGER NOT NULL DEFAULT 0
);

INSERT OR IGNORE INTO "outbox_shard" ("shard") VALUES (0);

CREATE TABLE IF NOT EXISTS "outbox_dispatcher" (
    "id" BLOB PRIMARY KEY NOT NULL,
    "lease_until" TEXT NOT NULL,
    "renewed_at" TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%f+00:00', 'now')),
    "place" TEXT NOT NULL,
    "handles" TEXT NOT NULL,
    "joined_at" TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%f+00:00', 'now'))
);

-- The topics that operators have paused.
CREATE TABLE IF NOT EXISTS "outbox_topic" (
    "topic" TEXT PRIMARY KEY NOT NULL,
    "paused_at" TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%f+00:00', 'now')),
    "paused_by" TEXT NOT NULL,
    "why" TEXT NOT NULL
);

-- What operators did, one row an event.
CREATE TABLE IF NOT EXISTS "outbox_operation" (
    "id" BLOB PRIMARY KEY NOT NULL,
    "act" TEXT NOT NULL,
    "who" TEXT NOT NULL,
    "why" TEXT NOT NULL,
    "topic" TEXT,
    "event_id" BLOB,
    "seq" INTEGER,
    "events" INTEGER NOT NULL DEFAULT 1,
    "done_at" TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%f+00:00', 'now'))
);

CREATE INDEX IF NOT EXISTS "outbox_operation_at_idx" ON "outbox_operation" ("done_at");

-- The keys of events that are not to be emitted twice.
CREATE TABLE IF NOT EXISTS "outbox_dedupe" (
    "dedupe_key" TEXT PRIMARY KEY NOT NULL,
    "event_id" BLOB NOT NULL,
    "expires_at" TEXT NOT NULL,
    "created_at" TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%f+00:00', 'now'))
);

CREATE INDEX IF NOT EXISTS "outbox_dedupe_expires_idx" ON "outbox_dedupe" ("expires_at");

-- What consumers have received. A nil replay is none.
CREATE TABLE IF NOT EXISTS "outbox_inbox" (
    "consumer" TEXT NOT NULL,
    "event_id" BLOB NOT NULL,
    "replay_id" BLOB NOT NULL,
    "claim" BLOB NOT NULL,
    "tries" INTEGER NOT NULL DEFAULT 1,
    "begun_at" TEXT NOT NULL,
    "lease_until" TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%f+00:00', 'now')),
    "done_at" TEXT,
    PRIMARY KEY ("consumer", "event_id", "replay_id")
);

CREATE INDEX IF NOT EXISTS "outbox_inbox_at_idx" ON "outbox_inbox" ("begun_at");

CREATE VIEW IF NOT EXISTS "outbox_status" AS
SELECT "id", "seq", "aggregatetype", "aggregateid", "topic",
    CASE WHEN "ordered" AND EXISTS (
        SELECT 1 FROM "outbox_dead" AS "b"
        WHERE "b"."blocks_aggregate" AND "b"."aggregatetype" = "e"."aggregatetype"
            AND "b"."aggregateid" = "e"."aggregateid"
    ) THEN 'blocked'
        WHEN "attempts" > 0 THEN 'retrying' ELSE 'pending' END AS "status",
    "attempts", "retry_at" AS "next_attempt_at", "last_error", "created_at", NULL AS "sent_at"
FROM "outbox_event" AS "e"
UNION ALL
SELECT "id", NULL, "aggregatetype", "aggregateid", "topic", 'scheduled',
    0, "due_at", NULL, "created_at", NULL
FROM "outbox_delayed"
UNION ALL
SELECT "id", "seq", "aggregatetype", "aggregateid", "topic", 'dead',
    "attempts", NULL, "last_error", "created_at", NULL
FROM "outbox_dead"
UNION ALL
SELECT "id", "seq", "aggregatetype", "aggregateid", "topic", 'delivered',
    "attempts" + 1, NULL, NULL, "created_at", "delivered_at"
FROM "outbox_delivered";
