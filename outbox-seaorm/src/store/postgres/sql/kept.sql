, kept AS (
    INSERT INTO "outbox_delivered" (seq, id, aggregatetype, aggregateid, topic, payload, headers,
        occurred_at, ordered, attempts, created_at)
    SELECT e.seq, e.id, e.aggregatetype, e.aggregateid, e.topic, e.payload, e.headers,
        e.occurred_at, e.ordered, e.attempts, e.created_at
    FROM removed AS e{unless}
)
