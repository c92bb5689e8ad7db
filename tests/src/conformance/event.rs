use outbox_core::{
    __private::{Contract, Shape, TopicSpec},
    Draft, OutboxEvent,
};
use serde::{Deserialize, Serialize};

/// An ordered event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Thing {
    /// The aggregate.
    pub key: String,
    /// What there is to say.
    pub text: String,
}

/// An unordered event without a key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Noted {
    /// What there is to say.
    pub text: String,
}

impl Thing {
    /// An event of the aggregate `a`: in all laws where order matters it is the only one.
    pub fn said(text: &str) -> Draft {
        Self::of("a", text)
    }

    /// An event of an aggregate.
    pub fn of(key: &str, text: &str) -> Draft {
        Draft::new(&Self {
            key: key.to_owned(),
            text: text.to_owned(),
        })
    }
}

impl OutboxEvent for Thing {
    const CONTRACT: Contract = Contract::new(
        "Thing",
        "thing",
        Shape::Struct,
        &[TopicSpec::new("thing.said", "Thing").version(3)],
    );

    fn topic_index(&self) -> usize {
        0
    }

    fn key(&self) -> Option<String> {
        Some(self.key.clone())
    }
}

impl OutboxEvent for Noted {
    const CONTRACT: Contract = Contract::new(
        "Noted",
        "note",
        Shape::Struct,
        &[TopicSpec::new("note.noted", "Noted").unordered()],
    );

    fn topic_index(&self) -> usize {
        0
    }

    fn key(&self) -> Option<String> {
        None
    }
}
