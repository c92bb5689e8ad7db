-- The outbox on PostgreSQL (13 or later). Aggregates are divided into 64 shards by a hash that the
-- database computes, so that rows of any writer are where they belong. Keys compare by their bytes.

-- It belongs to no table: that would lock out writers whenever this is run again.
CREATE SEQUENCE IF NOT EXISTS "outbox_event_seq" AS BIGINT CACHE 1;

CREATE TABLE IF NOT EXISTS "outbox_event" (
    -- The transaction's id first, then the position: whoever may still commit a lower position than
    -- one that was read is seen to be running. A CASE is evaluated in its order. The sequence hands
    -- out one at a time: positions kept by a session would come late.
    "seq" BIGINT PRIMARY KEY DEFAULT CASE WHEN pg_current_xact_id() IS NOT NULL THEN nextval(E'"outbox_event_seq"') END,
    "id" UUID NOT NULL,
    "aggregatetype" TEXT COLLATE "C" NOT NULL,
    "aggregateid" TEXT COLLATE "C",
    "topic" TEXT COLLATE "C" NOT NULL,
    "payload" JSONB NOT NULL,
    "headers" JSONB NOT NULL DEFAULT '{}',
    "occurred_at" TIMESTAMP WITHOUT TIME ZONE NOT NULL DEFAULT (clock_timestamp() AT TIME ZONE 'UTC'),
    "ordered" BOOLEAN NOT NULL DEFAULT TRUE,
    "shard" SMALLINT NOT NULL GENERATED ALWAYS AS ((hashtextextended(CASE WHEN "ordered" AND "aggregateid" IS NOT NULL THEN "aggregatetype" || E'\n' || "aggregateid" ELSE "id"::TEXT END, 0) & 63)::SMALLINT) STORED,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "crashes" INTEGER NOT NULL DEFAULT 0,
    "retry_at" TIMESTAMP WITH TIME ZONE,
    "last_error" TEXT,
    "created_at" TIMESTAMP WITH TIME ZONE NOT NULL DEFAULT clock_timestamp()
) WITH (
    -- Rows live for a moment: their space is wanted back before the table has doubled. A retry finds
    -- room on its page.
    fillfactor = 90,
    autovacuum_vacuum_scale_factor = 0.01,
    autovacuum_vacuum_threshold = 1000,
    autovacuum_vacuum_cost_delay = 0,
    autovacuum_analyze_scale_factor = 0.05,
    autovacuum_analyze_threshold = 1000
);

-- The statistics of an outbox that was nearly empty when they were gathered know one shard, or two.
ALTER TABLE "outbox_event" ALTER COLUMN "shard" SET (n_distinct = 64);

CREATE INDEX IF NOT EXISTS "outbox_event_shard_idx" ON "outbox_event" ("shard", "seq");

-- For finding an event by its id.
CREATE INDEX IF NOT EXISTS "outbox_event_id_idx" ON "outbox_event" ("id");

CREATE TABLE IF NOT EXISTS "outbox_delayed" (
    "id" UUID PRIMARY KEY,
    "aggregatetype" TEXT COLLATE "C" NOT NULL,
    "aggregateid" TEXT COLLATE "C",
    "topic" TEXT COLLATE "C" NOT NULL,
    "payload" JSONB NOT NULL,
    "headers" JSONB NOT NULL DEFAULT '{}',
    "occurred_at" TIMESTAMP WITHOUT TIME ZONE NOT NULL DEFAULT (clock_timestamp() AT TIME ZONE 'UTC'),
    "ordered" BOOLEAN NOT NULL DEFAULT TRUE,
    "shard" SMALLINT NOT NULL GENERATED ALWAYS AS ((hashtextextended(CASE WHEN "ordered" AND "aggregateid" IS NOT NULL THEN "aggregatetype" || E'\n' || "aggregateid" ELSE "id"::TEXT END, 0) & 63)::SMALLINT) STORED,
    "due_at" TIMESTAMP WITH TIME ZONE NOT NULL CHECK (isfinite("due_at")),
    "created_at" TIMESTAMP WITH TIME ZONE NOT NULL DEFAULT clock_timestamp()
) WITH (
    autovacuum_vacuum_scale_factor = 0.01,
    autovacuum_vacuum_threshold = 1000
);

ALTER TABLE "outbox_delayed" ALTER COLUMN "shard" SET (n_distinct = 64);

CREATE INDEX IF NOT EXISTS "outbox_delayed_due_idx" ON "outbox_delayed" ("shard", "due_at", "id");

CREATE TABLE IF NOT EXISTS "outbox_dead" (
    "seq" BIGINT PRIMARY KEY,
    "id" UUID NOT NULL,
    "aggregatetype" TEXT COLLATE "C" NOT NULL,
    "aggregateid" TEXT COLLATE "C",
    "topic" TEXT COLLATE "C" NOT NULL,
    "payload" JSONB NOT NULL,
    "headers" JSONB NOT NULL,
    "occurred_at" TIMESTAMP WITHOUT TIME ZONE NOT NULL,
    "ordered" BOOLEAN NOT NULL,
    "shard" SMALLINT NOT NULL GENERATED ALWAYS AS ((hashtextextended(CASE WHEN "ordered" AND "aggregateid" IS NOT NULL THEN "aggregatetype" || E'\n' || "aggregateid" ELSE "id"::TEXT END, 0) & 63)::SMALLINT) STORED,
    "attempts" INTEGER NOT NULL,
    "last_error" TEXT NOT NULL,
    "created_at" TIMESTAMP WITH TIME ZONE NOT NULL,
    "reason" TEXT NOT NULL,
    "blocks_aggregate" BOOLEAN NOT NULL,
    "dead_at" TIMESTAMP WITH TIME ZONE NOT NULL DEFAULT clock_timestamp()
);

CREATE INDEX IF NOT EXISTS "outbox_dead_blocks_idx" ON "outbox_dead" ("shard") WHERE "blocks_aggregate";

CREATE INDEX IF NOT EXISTS "outbox_dead_at_idx" ON "outbox_dead" ("dead_at") WHERE "blocks_aggregate" = FALSE;

CREATE INDEX IF NOT EXISTS "outbox_dead_id_idx" ON "outbox_dead" ("id");

CREATE INDEX IF NOT EXISTS "outbox_dead_aggregate_idx" ON "outbox_dead" ("aggregatetype", "aggregateid") WHERE "blocks_aggregate";

CREATE TABLE IF NOT EXISTS "outbox_delivered" (
    "seq" BIGINT PRIMARY KEY,
    "id" UUID NOT NULL,
    "aggregatetype" TEXT COLLATE "C" NOT NULL,
    "aggregateid" TEXT COLLATE "C",
    "topic" TEXT COLLATE "C" NOT NULL,
    "payload" JSONB NOT NULL,
    "headers" JSONB NOT NULL,
    "occurred_at" TIMESTAMP WITHOUT TIME ZONE NOT NULL,
    "ordered" BOOLEAN NOT NULL,
    "attempts" INTEGER NOT NULL,
    "created_at" TIMESTAMP WITH TIME ZONE NOT NULL,
    "delivered_at" TIMESTAMP WITH TIME ZONE NOT NULL DEFAULT clock_timestamp()
) WITH (
    -- It is only added to and, at its old end, deleted from: the space of what was deleted is wanted
    -- back before a fifth of a large table is dead.
    autovacuum_vacuum_scale_factor = 0.02,
    autovacuum_vacuum_threshold = 10000,
    autovacuum_analyze_scale_factor = 0.05
);

-- For deleting what is old, by age; and for finding an event by its id.
CREATE INDEX IF NOT EXISTS "outbox_delivered_at_idx" ON "outbox_delivered" ("delivered_at");

CREATE INDEX IF NOT EXISTS "outbox_delivered_id_idx" ON "outbox_delivered" ("id");

CREATE TABLE IF NOT EXISTS "outbox_shard" (
    "shard" SMALLINT PRIMARY KEY,
    "owner" UUID,
    "epoch" BIGINT NOT NULL DEFAULT 0,
    "revision" BIGINT NOT NULL DEFAULT 0,
    "suspect_to" BIGINT NOT NULL DEFAULT 0
);

INSERT INTO "outbox_shard" ("shard") SELECT generate_series(0, 63) ON CONFLICT DO NOTHING;

CREATE TABLE IF NOT EXISTS "outbox_dispatcher" (
    "id" UUID PRIMARY KEY,
    "lease_until" TIMESTAMP WITH TIME ZONE NOT NULL,
    "renewed_at" TIMESTAMP WITH TIME ZONE NOT NULL DEFAULT clock_timestamp(),
    "place" TEXT NOT NULL,
    "handles" TEXT NOT NULL,
    "joined_at" TIMESTAMP WITH TIME ZONE NOT NULL DEFAULT clock_timestamp(),
    -- Whether it is to be woken.
    "sleeps" BOOLEAN NOT NULL DEFAULT FALSE
);

-- For tables made before there was the column.
ALTER TABLE "outbox_dispatcher" ADD COLUMN IF NOT EXISTS "sleeps" BOOLEAN NOT NULL DEFAULT FALSE;

-- Every emit looks whether somebody sleeps, however many versions heartbeats have left in the table.
CREATE INDEX IF NOT EXISTS "outbox_dispatcher_sleeps_idx" ON "outbox_dispatcher" ("sleeps") WHERE "sleeps";

-- The topics that operators have paused.
CREATE TABLE IF NOT EXISTS "outbox_topic" (
    "topic" TEXT COLLATE "C" PRIMARY KEY,
    "paused_at" TIMESTAMP WITH TIME ZONE NOT NULL DEFAULT clock_timestamp(),
    "paused_by" TEXT NOT NULL,
    "why" TEXT NOT NULL
);

-- What operators did, one row an event.
CREATE TABLE IF NOT EXISTS "outbox_operation" (
    "id" UUID PRIMARY KEY,
    "act" TEXT NOT NULL,
    "who" TEXT NOT NULL,
    "why" TEXT NOT NULL,
    "topic" TEXT COLLATE "C",
    "event_id" UUID,
    "seq" BIGINT,
    "events" BIGINT NOT NULL DEFAULT 1,
    "done_at" TIMESTAMP WITH TIME ZONE NOT NULL DEFAULT clock_timestamp()
);

CREATE INDEX IF NOT EXISTS "outbox_operation_at_idx" ON "outbox_operation" ("done_at");

-- The keys of events that are not to be emitted twice.
CREATE TABLE IF NOT EXISTS "outbox_dedupe" (
    "dedupe_key" TEXT COLLATE "C" PRIMARY KEY,
    "event_id" UUID NOT NULL,
    "expires_at" TIMESTAMP WITH TIME ZONE NOT NULL,
    "created_at" TIMESTAMP WITH TIME ZONE NOT NULL DEFAULT clock_timestamp()
) WITH (
    autovacuum_vacuum_scale_factor = 0.02,
    autovacuum_vacuum_threshold = 10000
);

CREATE INDEX IF NOT EXISTS "outbox_dedupe_expires_idx" ON "outbox_dedupe" ("expires_at");

-- What consumers have received. A nil replay is none.
CREATE TABLE IF NOT EXISTS "outbox_inbox" (
    "consumer" TEXT COLLATE "C" NOT NULL,
    "event_id" UUID NOT NULL,
    "replay_id" UUID NOT NULL,
    "claim" UUID NOT NULL,
    "tries" INTEGER NOT NULL DEFAULT 1,
    "begun_at" TIMESTAMP WITH TIME ZONE NOT NULL,
    "lease_until" TIMESTAMP WITH TIME ZONE NOT NULL DEFAULT clock_timestamp(),
    "done_at" TIMESTAMP WITH TIME ZONE,
    PRIMARY KEY ("consumer", "event_id", "replay_id")
) WITH (
    autovacuum_vacuum_scale_factor = 0.02,
    autovacuum_vacuum_threshold = 10000
);

CREATE INDEX IF NOT EXISTS "outbox_inbox_at_idx" ON "outbox_inbox" ("begun_at");

CREATE OR REPLACE VIEW "outbox_status" AS
SELECT "id", "seq", "aggregatetype", "aggregateid", "topic",
    CASE WHEN "ordered" AND EXISTS (
        SELECT 1 FROM "outbox_dead" AS "b"
        WHERE "b"."blocks_aggregate" AND "b"."aggregatetype" = "e"."aggregatetype"
            AND "b"."aggregateid" = "e"."aggregateid"
    ) THEN 'blocked'
        WHEN "attempts" > 0 THEN 'retrying' ELSE 'pending' END AS "status",
    "attempts", "retry_at" AS "next_attempt_at", "last_error", "created_at",
    NULL::TIMESTAMP WITH TIME ZONE AS "sent_at"
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
