-- ?1 JSON: [[seq, id in hex]], ?2 and ?3 the seq. Nobody else writes while this transaction is open.
SELECT e.seq FROM "outbox_event" AS e WHERE {settled}
