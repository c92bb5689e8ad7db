use serde::{Deserialize, Serialize};

/// How a process behaves. Chances are out of a thousand.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Conduct {
    /// The dispatcher's lease.
    pub lease_ms: u64,
    /// How long a delivery may take.
    pub timeout_ms: u64,
    /// The longest that a handler usually takes.
    pub work_ms: u64,
    /// The chance that a handler takes longer than a lease.
    pub slow: u32,
    /// The chance that a handler never returns.
    pub hang: u32,
    /// The chance that a handler panics.
    pub panic: u32,
    /// How many events a writer emits before it ends; 0 for as many as it can.
    pub quota: u64,
    /// How long a writer pauses after a transaction, at most.
    pub pause_ms: u64,
    /// The chance that a writer's transaction is rolled back.
    pub rollback: u32,
    /// The chance that a writer's transaction stays open for seconds.
    pub late: u32,
    /// How many owners may die with an event in work.
    pub crash_limit: u32,
    /// Whether a dead letter holds back its aggregate, for an operator to decide.
    pub blocking: bool,
    /// Whether there are delayed and unordered events, other topics, and large payloads.
    pub mixed: bool,
}

impl Default for Conduct {
    fn default() -> Self {
        Self {
            lease_ms: 1_000,
            timeout_ms: 60_000,
            work_ms: 15,
            slow: 0,
            hang: 0,
            panic: 0,
            quota: 0,
            pause_ms: 25,
            rollback: 200,
            late: 0,
            // Whatever was in work is killed again and again, through no fault of its own.
            crash_limit: 1_000,
            blocking: false,
            mixed: false,
        }
    }
}
