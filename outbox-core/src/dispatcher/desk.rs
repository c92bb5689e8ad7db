use super::schedule::Schedule;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// Where the reader, the workers and the settler of one session meet.
pub(crate) struct Desk {
    schedule: Mutex<Schedule>,
    /// For the workers: something may be ready.
    pub(crate) work: Notify,
    /// For the settler: something is to be written.
    pub(crate) outcomes: Notify,
    /// For the reader: there is room again, or a lane wants to be read again.
    pub(crate) reading: Notify,
}

impl Desk {
    pub(crate) fn new(schedule: Schedule) -> Self {
        Self {
            schedule: Mutex::new(schedule),
            work: Notify::new(),
            outcomes: Notify::new(),
            reading: Notify::new(),
        }
    }

    /// Never held across an await. No code of the application runs inside, so that a panic cannot
    /// leave it half changed.
    pub(crate) fn schedule(&self) -> MutexGuard<'_, Schedule> {
        self.schedule.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
