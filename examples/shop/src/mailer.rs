//! Whoever sends mails.

use outbox_seaorm::async_trait;
use std::{
    collections::HashMap,
    fmt,
    sync::{Mutex, PoisonError},
};

/// A mail service that takes many mails in one call, each with an idempotency key.
#[async_trait]
pub trait Mailer: Send + Sync {
    /// Sends mails, and answers for each in their order. A key that was accepted before sends
    /// nothing, and has the same answer.
    ///
    /// # Errors
    /// When the service does not answer.
    async fn send(&self, mails: &[Mail]) -> Result<Vec<Answer>, Unavailable>;
}

/// A mail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mail {
    /// The same for the same mail.
    pub key: String,
    /// An address.
    pub recipient: String,
    /// What it says.
    pub text: String,
}

/// What becomes of a mail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// It is on its way.
    Accepted,
    /// It will never be.
    Refused,
}

/// Nobody can send mails at the moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unavailable;

impl fmt::Display for Unavailable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the mail service does not answer")
    }
}

impl std::error::Error for Unavailable {}

/// Pretends to be one, and keeps what it has sent. It knows that nobody reads mail at `.invalid`.
#[derive(Debug, Default)]
pub struct FakeMailer {
    /// By idempotency key.
    sent: Mutex<HashMap<String, Mail>>,
}

impl FakeMailer {
    /// What it has sent, in no order.
    #[must_use]
    pub fn sent(&self) -> Vec<Mail> {
        let sent = self.sent.lock().unwrap_or_else(PoisonError::into_inner);
        sent.values().cloned().collect()
    }
}

#[async_trait]
impl Mailer for FakeMailer {
    async fn send(&self, mails: &[Mail]) -> Result<Vec<Answer>, Unavailable> {
        let mut sent = self.sent.lock().map_err(|_| Unavailable)?;
        let answers = mails.iter().map(|mail| {
            if mail.recipient.ends_with(".invalid") {
                return Answer::Refused;
            }
            sent.entry(mail.key.clone()).or_insert_with(|| mail.clone());
            Answer::Accepted
        });
        Ok(answers.collect())
    }
}
