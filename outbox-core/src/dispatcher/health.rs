use crate::store::StoreError;
use std::error::Error;
use tracing::{info, warn};

/// Logs that the database is away once, and that it is back.
#[derive(Debug)]
pub(crate) struct Health {
    doing: &'static str,
    down: bool,
}

impl Health {
    pub(crate) fn new(doing: &'static str) -> Self {
        Self { doing, down: false }
    }

    pub(crate) fn down(&mut self, error: &StoreError) {
        if !self.down {
            warn!(
                error = error as &dyn Error,
                doing = self.doing,
                "the outbox cannot go on"
            );
        }
        self.down = true;
    }

    pub(crate) fn up(&mut self) {
        if self.down {
            info!(doing = self.doing, "the outbox goes on");
        }
        self.down = false;
    }
}
