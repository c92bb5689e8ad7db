-- The outbox on MySQL (8.0.16 or later) and MariaDB (10.6 or later). Nothing is left to the defaults
-- of server or database: engine, row format, character set (by the collation) and UTC stand with each
-- table and column. Ids are 16 bytes, as SeaORM binds them.
-- The shard is computed from the bytes of columns alone: a literal in it would be read again, under
-- whatever character set and SQL mode, each time a server opens the table.
-- Payloads have no JSON_VALID: MariaDB takes JSON of 32 levels for invalid, MySQL of 101.

CREATE TABLE IF NOT EXISTS "outbox_event" (
    "seq" BIGINT AUTO_INCREMENT PRIMARY KEY,
    "id" BINARY(16) NOT NULL,
    "aggregatetype" VARCHAR(200) COLLATE utf8mb4_bin NOT NULL,
    "aggregateid" VARCHAR(500) COLLATE utf8mb4_bin,
    "topic" VARCHAR(200) COLLATE utf8mb4_bin NOT NULL,
    "payload" LONGTEXT COLLATE utf8mb4_bin NOT NULL,
    "headers" LONGTEXT COLLATE utf8mb4_bin NOT NULL DEFAULT ('{}') CHECK (JSON_VALID("headers")),
    "occurred_at" DATETIME(6) NOT NULL DEFAULT (UTC_TIMESTAMP(6)),
    "ordered" BOOLEAN NOT NULL DEFAULT TRUE,
    "shard" SMALLINT GENERATED ALWAYS AS (CASE
        WHEN "ordered" AND "aggregateid" IS NOT NULL THEN CRC32("aggregatetype") + CRC32("aggregateid")
        ELSE CRC32("id")
    END MOD 64) STORED,
    "attempts" INT NOT NULL DEFAULT 0,
    "crashes" SMALLINT NOT NULL DEFAULT 0,
    "retry_at" DATETIME(6),
    "last_error" TEXT COLLATE utf8mb4_bin,
    "created_at" DATETIME(6) NOT NULL DEFAULT (UTC_TIMESTAMP(6)),
    INDEX "outbox_event_shard_idx" ("shard", "seq"),
    INDEX "outbox_event_id_idx" ("id")
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC;

CREATE TABLE IF NOT EXISTS "outbox_delayed" (
    "id" BINARY(16) NOT NULL PRIMARY KEY,
    "aggregatetype" VARCHAR(200) COLLATE utf8mb4_bin NOT NULL,
    "aggregateid" VARCHAR(500) COLLATE utf8mb4_bin,
    "topic" VARCHAR(200) COLLATE utf8mb4_bin NOT NULL,
    "payload" LONGTEXT COLLATE utf8mb4_bin NOT NULL,
    "headers" LONGTEXT COLLATE utf8mb4_bin NOT NULL DEFAULT ('{}') CHECK (JSON_VALID("headers")),
    "occurred_at" DATETIME(6) NOT NULL DEFAULT (UTC_TIMESTAMP(6)),
    "ordered" BOOLEAN NOT NULL DEFAULT TRUE,
    "shard" SMALLINT GENERATED ALWAYS AS (CASE
        WHEN "ordered" AND "aggregateid" IS NOT NULL THEN CRC32("aggregatetype") + CRC32("aggregateid")
        ELSE CRC32("id")
    END MOD 64) STORED,
    "due_at" DATETIME(6) NOT NULL,
    "created_at" DATETIME(6) NOT NULL DEFAULT (UTC_TIMESTAMP(6)),
    INDEX "outbox_delayed_due_idx" ("shard", "due_at", "id")
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC;

CREATE TABLE IF NOT EXISTS "outbox_dead" (
    "seq" BIGINT NOT NULL PRIMARY KEY,
    "id" BINARY(16) NOT NULL,
    "aggregatetype" VARCHAR(200) COLLATE utf8mb4_bin NOT NULL,
    "aggregateid" VARCHAR(500) COLLATE utf8mb4_bin,
    "topic" VARCHAR(200) COLLATE utf8mb4_bin NOT NULL,
    "payload" LONGTEXT COLLATE utf8mb4_bin NOT NULL,
    "headers" LONGTEXT COLLATE utf8mb4_bin NOT NULL,
    "occurred_at" DATETIME(6) NOT NULL,
    "ordered" BOOLEAN NOT NULL,
    "shard" SMALLINT GENERATED ALWAYS AS (CASE
        WHEN "ordered" AND "aggregateid" IS NOT NULL THEN CRC32("aggregatetype") + CRC32("aggregateid")
        ELSE CRC32("id")
    END MOD 64) STORED,
    "attempts" INT NOT NULL,
    "last_error" TEXT COLLATE utf8mb4_bin NOT NULL,
    "created_at" DATETIME(6) NOT NULL,
    "reason" VARCHAR(20) COLLATE utf8mb4_bin NOT NULL,
    "blocks_aggregate" BOOLEAN NOT NULL,
    "dead_at" DATETIME(6) NOT NULL DEFAULT (UTC_TIMESTAMP(6)),
    INDEX "outbox_dead_blocks_idx" ("shard", "blocks_aggregate", "seq"),
    INDEX "outbox_dead_at_idx" ("blocks_aggregate", "dead_at"),
    INDEX "outbox_dead_id_idx" ("id"),
    INDEX "outbox_dead_aggregate_idx" ("aggregatetype", "aggregateid")
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC;

CREATE TABLE IF NOT EXISTS "outbox_delivered" (
    "seq" BIGINT NOT NULL PRIMARY KEY,
    "id" BINARY(16) NOT NULL,
    "aggregatetype" VARCHAR(200) COLLATE utf8mb4_bin NOT NULL,
    "aggregateid" VARCHAR(500) COLLATE utf8mb4_bin,
    "topic" VARCHAR(200) COLLATE utf8mb4_bin NOT NULL,
    "payload" LONGTEXT COLLATE utf8mb4_bin NOT NULL,
    "headers" LONGTEXT COLLATE utf8mb4_bin NOT NULL,
    "occurred_at" DATETIME(6) NOT NULL,
    "ordered" BOOLEAN NOT NULL,
    "attempts" INT NOT NULL,
    "created_at" DATETIME(6) NOT NULL,
    "delivered_at" DATETIME(6) NOT NULL DEFAULT (UTC_TIMESTAMP(6)),
    INDEX "outbox_delivered_at_idx" ("delivered_at"),
    INDEX "outbox_delivered_id_idx" ("id")
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC;

CREATE TABLE IF NOT EXISTS "outbox_shard" (
    "shard" SMALLINT NOT NULL PRIMARY KEY,
    "owner" BINARY(16),
    "epoch" BIGINT NOT NULL DEFAULT 0,
    "revision" BIGINT NOT NULL DEFAULT 0,
    "suspect_to" BIGINT NOT NULL DEFAULT 0
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC;

INSERT IGNORE INTO "outbox_shard" ("shard") VALUES
    (0), (1), (2), (3), (4), (5), (6), (7), (8), (9), (10), (11), (12), (13), (14), (15), (16),
    (17), (18), (19), (20), (21), (22), (23), (24), (25), (26), (27), (28), (29), (30), (31),
    (32), (33), (34), (35), (36), (37), (38), (39), (40), (41), (42), (43), (44), (45), (46),
    (47), (48), (49), (50), (51), (52), (53), (54), (55), (56), (57), (58), (59), (60), (61),
    (62), (63);

CREATE TABLE IF NOT EXISTS "outbox_dispatcher" (
    "id" BINARY(16) NOT NULL PRIMARY KEY,
    "lease_until" DATETIME(6) NOT NULL,
    "renewed_at" DATETIME(6) NOT NULL DEFAULT (UTC_TIMESTAMP(6)),
    "place" TEXT COLLATE utf8mb4_bin NOT NULL,
    "handles" TEXT COLLATE utf8mb4_bin NOT NULL,
    "joined_at" DATETIME(6) NOT NULL DEFAULT (UTC_TIMESTAMP(6))
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC;

-- The topics that operators have paused.
CREATE TABLE IF NOT EXISTS "outbox_topic" (
    "topic" VARCHAR(200) COLLATE utf8mb4_bin NOT NULL PRIMARY KEY,
    "paused_at" DATETIME(6) NOT NULL DEFAULT (UTC_TIMESTAMP(6)),
    "paused_by" VARCHAR(200) COLLATE utf8mb4_bin NOT NULL,
    "why" TEXT COLLATE utf8mb4_bin NOT NULL
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC;

-- What operators did, one row an event.
CREATE TABLE IF NOT EXISTS "outbox_operation" (
    "id" BINARY(16) NOT NULL PRIMARY KEY,
    "act" VARCHAR(20) COLLATE utf8mb4_bin NOT NULL,
    "who" VARCHAR(200) COLLATE utf8mb4_bin NOT NULL,
    "why" TEXT COLLATE utf8mb4_bin NOT NULL,
    "topic" VARCHAR(200) COLLATE utf8mb4_bin,
    "event_id" BINARY(16),
    "seq" BIGINT,
    "events" BIGINT NOT NULL DEFAULT 1,
    "done_at" DATETIME(6) NOT NULL DEFAULT (UTC_TIMESTAMP(6)),
    INDEX "outbox_operation_at_idx" ("done_at")
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC;

-- The keys of events that are not to be emitted twice.
CREATE TABLE IF NOT EXISTS "outbox_dedupe" (
    "dedupe_key" VARCHAR(250) COLLATE utf8mb4_bin NOT NULL PRIMARY KEY,
    "event_id" BINARY(16) NOT NULL,
    "expires_at" DATETIME(6) NOT NULL,
    "created_at" DATETIME(6) NOT NULL DEFAULT (UTC_TIMESTAMP(6)),
    INDEX "outbox_dedupe_expires_idx" ("expires_at")
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC;

-- What consumers have received. A nil replay is none.
CREATE TABLE IF NOT EXISTS "outbox_inbox" (
    "consumer" VARCHAR(200) COLLATE utf8mb4_bin NOT NULL,
    "event_id" BINARY(16) NOT NULL,
    "replay_id" BINARY(16) NOT NULL,
    "claim" BINARY(16) NOT NULL,
    "tries" INT NOT NULL DEFAULT 1,
    "begun_at" DATETIME(6) NOT NULL,
    "lease_until" DATETIME(6) NOT NULL DEFAULT (UTC_TIMESTAMP(6)),
    "done_at" DATETIME(6),
    PRIMARY KEY ("consumer", "event_id", "replay_id"),
    INDEX "outbox_inbox_at_idx" ("begun_at")
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC;

-- To a comparison a space at the end is no difference: the lengths are compared too. The words have
-- the character set and collation of a column: they compare on every connection.
CREATE OR REPLACE SQL SECURITY INVOKER VIEW "outbox_status" AS
SELECT "id", "seq", "aggregatetype", "aggregateid", "topic",
    CASE WHEN "ordered" AND EXISTS (
        SELECT 1 FROM "outbox_dead" AS "b"
        WHERE "b"."blocks_aggregate" AND "b"."aggregatetype" = "e"."aggregatetype"
            AND "b"."aggregateid" = "e"."aggregateid"
            AND CHAR_LENGTH("b"."aggregateid") = CHAR_LENGTH("e"."aggregateid")
    ) THEN _utf8mb4'blocked' COLLATE utf8mb4_bin
        WHEN "attempts" > 0 THEN _utf8mb4'retrying' COLLATE utf8mb4_bin
        ELSE _utf8mb4'pending' COLLATE utf8mb4_bin END AS "status",
    "attempts", "retry_at" AS "next_attempt_at", "last_error", "created_at", NULL AS "sent_at"
FROM "outbox_event" AS "e"
UNION ALL
SELECT "id", NULL, "aggregatetype", "aggregateid", "topic", _utf8mb4'scheduled' COLLATE utf8mb4_bin,
    0, "due_at", NULL, "created_at", NULL
FROM "outbox_delayed"
UNION ALL
SELECT "id", "seq", "aggregatetype", "aggregateid", "topic", _utf8mb4'dead' COLLATE utf8mb4_bin,
    "attempts", NULL, "last_error", "created_at", NULL
FROM "outbox_dead"
UNION ALL
SELECT "id", "seq", "aggregatetype", "aggregateid", "topic", _utf8mb4'delivered' COLLATE utf8mb4_bin,
    "attempts" + 1, NULL, NULL, "created_at", "delivered_at"
FROM "outbox_delivered";
