#![expect(missing_docs, reason = "the derive writes items without docs")]

use outbox_core::{Draft, OutboxEvent};
use serde::{Deserialize, Serialize};

/// What happens to an account.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, OutboxEvent)]
#[outbox(aggregate = "account", crate = outbox_core)]
pub enum Account {
    /// Most laws need no other.
    Changed {
        #[outbox(key)]
        key: String,
        text: String,
    },
    /// For laws about topics.
    Closed {
        #[outbox(key)]
        key: String,
        text: String,
    },
    /// For events without an order.
    #[outbox(unordered)]
    Noted {
        #[outbox(key)]
        key: String,
        text: String,
    },
}

impl Account {
    /// An event of the aggregate `key`.
    pub fn changed(key: &str, text: &str) -> Draft {
        let (key, text) = (key.to_owned(), text.to_owned());
        Draft::new(&Self::Changed { key, text })
    }

    /// An event of the same aggregate with another topic.
    pub fn closed(key: &str, text: &str) -> Draft {
        let (key, text) = (key.to_owned(), text.to_owned());
        Draft::new(&Self::Closed { key, text })
    }

    /// An event of the same aggregate that has no place among the others.
    pub fn noted(key: &str, text: &str) -> Draft {
        let (key, text) = (key.to_owned(), text.to_owned());
        Draft::new(&Self::Noted { key, text })
    }

    /// What is said.
    pub fn text(&self) -> &str {
        match self {
            Self::Changed { text, .. } | Self::Closed { text, .. } | Self::Noted { text, .. } => {
                text
            }
        }
    }
}
