use tokio_util::sync::CancellationToken;

/// How a dispatcher is asked to stop.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stop {
    /// Let running handlers finish.
    pub(crate) graceful: CancellationToken,
    /// Drop them.
    pub(crate) hard: CancellationToken,
}
