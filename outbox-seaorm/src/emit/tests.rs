use super::{EmitError, EmitErrorKind};
use outbox_core::{Contract, Draft, Due, Headers, Limits, NewEvent, OutboxEvent, Shape, TopicSpec};
use sea_orm::DbErr;
use serde::{Deserialize, Serialize};

#[derive(Debug, Serialize, Deserialize)]
#[serde(transparent)]
struct Any(String);

impl OutboxEvent for Any {
    const CONTRACT: Contract = Contract::new(
        "Any",
        "order",
        Shape::Struct,
        &[TopicSpec::new("order.any", "Any")],
    );

    fn topic_index(&self) -> usize {
        0
    }

    fn key(&self) -> Option<String> {
        Some("7".to_owned())
    }
}

/// An event with this payload and everything else fixed.
pub(super) fn event(payload: &str) -> NewEvent {
    let mut event = Draft::new(&Any(String::new()))
        .finish(&Limits::default(), &Headers::new())
        .unwrap();
    payload.clone_into(&mut event.payload);
    event.id = uuid::Uuid::from_u128(1);
    event.occurred_at = chrono::DateTime::UNIX_EPOCH;
    event.due = Due::Now;
    event
}

#[test]
fn an_error_becomes_a_db_err_with_all_it_knows() {
    let source = Draft::new(&Any("a\0b".to_owned()))
        .finish(&Limits::default(), &Headers::new())
        .unwrap_err();
    let error = EmitError::invalid(Some(3), source);
    assert!(matches!(error.kind(), EmitErrorKind::Invalid(_)));
    let DbErr::Custom(text) = DbErr::from(error) else {
        panic!("another kind of error")
    };
    assert!(text.contains("index 3") && text.contains("order.any") && text.contains("NUL"));
}
