use std::sync::Arc;
use tokio::sync::watch;

/// What a store tells a dispatcher while it [listens](super::Store::listen). A clone is the same.
#[derive(Debug, Clone)]
pub struct Ear(Arc<watch::Sender<Heard>>);

/// What has been heard so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Heard {
    /// Whether every commit that somebody must be woken for is heard of now.
    pub(crate) listening: bool,
    /// Changes with each commit.
    commits: u64,
}

impl Ear {
    pub(crate) fn new() -> Self {
        Self(Arc::new(watch::Sender::new(Heard::default())))
    }

    /// From now on commits are heard of. The dispatcher looks for what it may have missed.
    pub fn open(&self) {
        self.0.send_modify(|heard| {
            heard.listening = true;
            heard.commits += 1;
        });
    }

    /// Events were committed.
    pub fn hear(&self) {
        self.0.send_modify(|heard| heard.commits += 1);
    }

    /// Commits may be missed from now on.
    pub fn close(&self) {
        self.0
            .send_if_modified(|heard| std::mem::take(&mut heard.listening));
    }

    pub(crate) fn subscribe(&self) -> watch::Receiver<Heard> {
        self.0.subscribe()
    }
}
