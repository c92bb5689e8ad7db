use outbox_core::store::{Outcomes, Position};

/// One call of a verb.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Call<'a> {
    /// Which verb.
    pub verb: Verb,
    /// Whether it is about to be done, or has been.
    pub moment: Moment,
    /// What a settle writes; empty for other verbs.
    pub outcomes: &'a [Outcomes],
}

impl Call<'_> {
    /// Whether it writes the outcome of the event at this position.
    #[must_use]
    pub fn settles(&self, position: Position) -> bool {
        let mut settlements = self.outcomes.iter().flat_map(|shard| &shard.settlements);
        settlements.any(|settlement| settlement.position == position)
    }
}

/// When a call is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// Before it is done.
    Before,
    /// After it was done.
    After,
}

/// The verbs of a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "each is the verb of its name")]
pub enum Verb {
    Check,
    InProcess,
    ConnectApart,
    SetSleeping,
    Join,
    Renew,
    Members,
    Evict,
    Leave,
    Shards,
    Take,
    Release,
    Blocked,
    Paused,
    Fetch,
    Read,
    Settle,
    Claim,
    Complete,
    RollBack,
    MoveDue,
    MarkCrashes,
    Prune,
    Expired,
    Forget,
}
