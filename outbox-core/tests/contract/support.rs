use outbox_seaorm::{Draft, Headers, Limits, NewEvent, OutboxEvent, Topic};

/// What would be stored.
pub(crate) fn emitted<E: OutboxEvent>(event: &E) -> NewEvent {
    Draft::new(event)
        .finish(&Limits::default(), &Headers::new())
        .unwrap_or_else(|error| panic!("{error}: {:?}", std::error::Error::source(&error)))
}

/// The event after a way through the outbox.
pub(crate) fn delivered<E: OutboxEvent, T>(event: &E, topic: Topic<T>) -> T {
    let row = emitted(event);
    assert_eq!(row.topic, topic.name());
    topic
        .decode(&row.payload)
        .unwrap_or_else(|error| panic!("{error}: {:?}", std::error::Error::source(&error)))
}
