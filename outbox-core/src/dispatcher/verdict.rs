use super::{config::OnDead, failure::Failure};
use crate::{
    handler::Wish,
    retry::RetryPolicy,
    store::{DeadReason, Verdict},
};
use std::time::Duration;

/// What the decision depends on beside the result.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Case {
    /// How many deliveries have failed before.
    pub(crate) attempts: u32,
    pub(crate) ordered: bool,
    pub(crate) retry: RetryPolicy,
    pub(crate) on_dead: Option<OnDead>,
    /// In `[0, 1)`.
    pub(crate) random: f64,
}

/// As long as a retry policy may wait: what a receiver says is input.
const LONGEST: Duration = Duration::from_secs(366 * 24 * 60 * 60);

/// Decides what becomes of an event whose delivery failed.
pub(crate) fn failed(failure: Failure, case: &Case) -> Verdict {
    let failed = case.attempts.saturating_add(1);
    let delay = match failure.wish {
        Wish::Dead => return dead(DeadReason::Rejected, failure.text, case),
        // An outage that is the event's own is a failure.
        Wish::Retry | Wish::Outage => case.retry.delay(failed, case.random),
        // The receiver's word on the delay; the policy's on the number of attempts.
        Wish::RetryAfter(after) => case
            .retry
            .delay(failed, 0.0)
            .map(|_| case.retry.spread(after.min(LONGEST), case.random)),
    };
    let error = failure.text;
    match delay {
        Some(after) => Verdict::Retry {
            attempts: failed,
            after,
            error,
        },
        None => dead(DeadReason::Exhausted, error, case),
    }
}

/// A dead letter, blocking as the topic says.
pub(crate) fn dead(reason: DeadReason, error: String, case: &Case) -> Verdict {
    let default = if case.ordered {
        OnDead::Block
    } else {
        OnDead::Continue
    };
    Verdict::Dead {
        reason,
        error,
        // There is nothing behind an event without an order.
        blocks: case.ordered && case.on_dead.unwrap_or(default) == OnDead::Block,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::handler::HandlerError;

    const CASE: Case = Case {
        attempts: 0,
        ordered: true,
        retry: RetryPolicy::quick().retries(2),
        on_dead: None,
        random: 0.0,
    };

    fn after(error: HandlerError, case: Case) -> Verdict {
        failed(Failure::from(error), &case)
    }

    fn blocks(verdict: Verdict) -> (DeadReason, bool) {
        match verdict {
            Verdict::Dead { reason, blocks, .. } => (reason, blocks),
            other => panic!("not dead: {other:?}"),
        }
    }

    #[test]
    fn failures_are_retried_until_the_policy_gives_up() {
        let second = Verdict::Retry {
            attempts: 2,
            after: Duration::from_secs(2),
            error: "no".to_owned(),
        };
        assert_eq!(
            after(
                HandlerError::retry("no"),
                Case {
                    attempts: 1,
                    ..CASE
                }
            ),
            second
        );
        let last = after(
            HandlerError::retry("no"),
            Case {
                attempts: 2,
                ..CASE
            },
        );
        assert_eq!(blocks(last), (DeadReason::Exhausted, true));
    }

    #[test]
    fn the_receivers_delay_counts_but_attempts_are_limited() {
        let hour = Duration::from_secs(3_600);
        let error = || HandlerError::retry_after(hour, "later");
        assert!(matches!(after(error(), CASE), Verdict::Retry { after, .. } if after == hour));
        assert!(matches!(
            after(
                error(),
                Case {
                    attempts: 2,
                    ..CASE
                }
            ),
            Verdict::Dead { .. }
        ));
    }

    #[test]
    fn unordered_events_never_block() {
        let dead = || HandlerError::dead("no");
        assert_eq!(blocks(after(dead(), CASE)), (DeadReason::Rejected, true));
        assert!(
            !blocks(after(
                dead(),
                Case {
                    ordered: false,
                    ..CASE
                }
            ))
            .1
        );
        let asked = Case {
            ordered: false,
            on_dead: Some(OnDead::Block),
            ..CASE
        };
        assert!(!blocks(after(dead(), asked)).1);
        let go_on = Case {
            on_dead: Some(OnDead::Continue),
            ..CASE
        };
        assert!(!blocks(after(dead(), go_on)).1);
    }

    #[test]
    fn attempts_at_the_end_of_their_range_are_given_up() {
        let case = Case {
            attempts: u32::MAX,
            ..CASE
        };
        assert_eq!(
            blocks(after(HandlerError::retry("no"), case)).0,
            DeadReason::Exhausted
        );
    }
}
