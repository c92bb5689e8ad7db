-- What must have been emitted follows from the orders, what was delivered from the handlers' own
-- tables: the outbox is not asked about itself, except for what it gave up or still has.
WITH due (topic, emitted) AS (
    SELECT 'payment.charge', COUNT(*) FROM orders WHERE refund_of IS NULL
    UNION ALL SELECT 'payment.refund', COUNT(*) FROM orders WHERE refund_of IS NOT NULL
    UNION ALL SELECT 'order.ship', COUNT(*) FROM orders WHERE refund_of IS NULL AND NOT digital
    UNION ALL SELECT 'order.receipt', COUNT(*) FROM orders
),
effects (topic, event_id, order_id) AS (
    SELECT CASE WHEN amount > 0 THEN 'payment.charge' ELSE 'payment.refund' END, event_id, order_id
    FROM charges
    UNION ALL SELECT 'order.ship', event_id, order_id FROM parcels
    UNION ALL SELECT 'order.receipt', event_id, order_id FROM mails
)
SELECT due.topic, due.emitted,
    (SELECT COUNT(*) FROM effects
        WHERE effects.topic = due.topic
        AND effects.order_id IN (SELECT id FROM orders)
        AND effects.event_id NOT IN (SELECT id FROM outbox_dead)) AS delivered,
    (SELECT COUNT(*) FROM effects
        WHERE effects.topic = due.topic
        AND effects.order_id NOT IN (SELECT id FROM orders)) AS strays,
    (SELECT COUNT(*) FROM outbox_delivered
        WHERE outbox_delivered.topic = due.topic AND attempts > 0) AS retried,
    (SELECT COUNT(*) FROM outbox_dead WHERE outbox_dead.topic = due.topic) AS dead,
    (SELECT COUNT(*) FROM outbox_event WHERE outbox_event.topic = due.topic)
        + (SELECT COUNT(*) FROM outbox_delayed WHERE outbox_delayed.topic = due.topic) AS pending
FROM due
