//! Whoever takes the customers' money.

use outbox_seaorm::async_trait;
use std::{collections::HashMap, fmt, sync::Mutex, time::Duration};

/// A payment service that takes an idempotency key, as all of them do.
#[async_trait]
pub trait Gateway: Send + Sync {
    /// Takes money and answers with a receipt. The same key again takes nothing and has the same
    /// answer.
    ///
    /// # Errors
    /// When the bank declines, or the service does not answer.
    async fn charge(&self, key: &str, cents: i64) -> Result<String, GatewayError>;
}

/// Why no money was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GatewayError {
    /// The bank said no, and will say so again.
    Declined,
    /// Nobody can pay at the moment.
    Unavailable,
}

impl fmt::Display for GatewayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Declined => "the bank declined the payment",
            Self::Unavailable => "the payment gateway does not answer",
        })
    }
}

impl std::error::Error for GatewayError {}

/// Pretends to be one. It declines what is too expensive.
#[derive(Debug)]
pub struct FakeGateway {
    latency: Duration,
    /// By idempotency key.
    receipts: Mutex<HashMap<String, String>>,
}

/// The most that the fake bank lends, in cents.
const LIMIT: i64 = 100_000;

impl FakeGateway {
    /// One that takes this long to answer.
    #[must_use]
    pub fn new(latency: Duration) -> Self {
        Self {
            latency,
            receipts: Mutex::default(),
        }
    }
}

#[async_trait]
impl Gateway for FakeGateway {
    async fn charge(&self, key: &str, cents: i64) -> Result<String, GatewayError> {
        tokio::time::sleep(self.latency).await;
        if cents > LIMIT {
            return Err(GatewayError::Declined);
        }
        let mut receipts = self
            .receipts
            .lock()
            .map_err(|_| GatewayError::Unavailable)?;
        let next = receipts.len() + 1;
        let receipt = receipts
            .entry(key.to_owned())
            .or_insert_with(|| format!("receipt-{next}"));
        Ok(receipt.clone())
    }
}
