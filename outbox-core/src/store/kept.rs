use super::{Body, Row};
use crate::envelope::Envelope;
use chrono::{DateTime, Utc};

/// Rows that are kept for a time and then deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kept {
    /// The history.
    Delivered,
    /// Dead letters that hold back nothing: what an aggregate waits for is never deleted by age.
    Dead,
    /// What operators did.
    Operations,
    /// What consumers have received, since it was begun last.
    Inbox,
    /// Dedupe keys, since they have run out.
    DedupeKeys,
}

/// An event of the history.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Delivered {
    /// The event; its attempts are those that failed.
    pub event: Envelope,
    /// When it was written.
    pub created_at: DateTime<Utc>,
    /// When it was delivered.
    pub delivered_at: DateTime<Utc>,
}

impl Delivered {
    /// An event of the history as it was read.
    #[must_use]
    pub fn new(
        row: Row,
        body: Body,
        created_at: DateTime<Utc>,
        delivered_at: DateTime<Utc>,
    ) -> Self {
        Self {
            event: row.into_envelope(body),
            created_at,
            delivered_at,
        }
    }
}
