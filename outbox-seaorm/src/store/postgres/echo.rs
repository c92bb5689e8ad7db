use std::time::Duration;
use tokio::time::Instant;

/// Whether pings come back: decides without IO.
#[derive(Debug)]
pub(super) struct Echo {
    sent: bool,
    heard: bool,
    /// When to ping, or to miss the answer.
    pub(super) next: Instant,
}

/// How often the connection is tried.
const PING: Duration = Duration::from_secs(10);

/// How long the answer to a ping may take.
const ANSWER: Duration = Duration::from_secs(5);

impl Echo {
    /// A ping is to be sent at once.
    pub(super) fn new(now: Instant) -> Self {
        Self {
            sent: false,
            heard: false,
            next: now,
        }
    }

    /// A ping is about to be sent.
    pub(super) fn send(&mut self) {
        (self.sent, self.heard) = (false, false);
    }

    /// It was sent, or could not be, which says nothing of the connection that listens.
    pub(super) fn sent(&mut self, sent: bool, now: Instant) {
        self.sent = sent;
        // It may have been heard before it is known to be sent.
        self.next = now + if self.heard { PING } else { ANSWER };
    }

    /// It was heard.
    pub(super) fn heard(&mut self, now: Instant) {
        self.heard = true;
        self.next = now + PING;
    }

    /// Whether a ping that was sent was not heard in time, asked when it is time.
    pub(super) fn is_missing(&self) -> bool {
        self.sent && !self.heard
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_ping_that_is_not_heard_in_time_is_missing() {
        let now = Instant::now();
        let mut echo = Echo::new(now);
        assert!(!echo.is_missing());
        echo.send();
        echo.sent(true, now);
        assert_eq!((echo.is_missing(), echo.next), (true, now + ANSWER));
        echo.heard(now);
        assert_eq!((echo.is_missing(), echo.next), (false, now + PING));
    }

    #[tokio::test]
    async fn it_may_be_heard_before_it_is_known_to_be_sent() {
        let now = Instant::now();
        let mut echo = Echo::new(now);
        echo.send();
        echo.heard(now);
        echo.sent(true, now);
        assert_eq!((echo.is_missing(), echo.next), (false, now + PING));
    }

    #[tokio::test]
    async fn a_ping_that_could_not_be_sent_is_sent_again() {
        let now = Instant::now();
        let mut echo = Echo::new(now);
        echo.send();
        echo.sent(false, now);
        assert_eq!((echo.is_missing(), echo.next), (false, now + ANSWER));
    }
}
