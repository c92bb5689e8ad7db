SELECT seq, aggregatetype, aggregateid FROM "outbox_dead" WHERE blocks_aggregate ORDER BY seq
