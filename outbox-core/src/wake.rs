use std::sync::Arc;
use tokio::sync::watch;

/// Tells the dispatchers of this process that something was emitted. Cheap to clone.
///
/// A hint, sent before the emitter's transaction commits: a dispatcher that gets it polls a few
/// times in short order. Nothing depends on it.
#[derive(Debug, Clone)]
pub struct Wake(Arc<watch::Sender<()>>);

impl Wake {
    /// A wake that nobody listens to yet.
    #[must_use]
    pub fn new() -> Self {
        Self(Arc::new(watch::Sender::new(())))
    }

    /// Something was emitted.
    pub fn notify(&self) {
        self.0.send_replace(());
    }

    pub(crate) fn subscribe(&self) -> watch::Receiver<()> {
        self.0.subscribe()
    }
}

impl Default for Wake {
    fn default() -> Self {
        Self::new()
    }
}
