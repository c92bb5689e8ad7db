use super::schedule::Schedule;
use std::sync::{
    Mutex, MutexGuard, PoisonError,
    atomic::{AtomicBool, Ordering::SeqCst},
};
use tokio::sync::{Notify, futures::Notified};

/// Where the reader, the workers and the settler of one session meet.
pub(crate) struct Desk {
    schedule: Mutex<Schedule>,
    /// For the workers: something may be ready.
    work: Notify,
    /// A worker was called and has not looked yet: it sees what gets ready until it does.
    called: AtomicBool,
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
            called: AtomicBool::new(false),
            outcomes: Notify::new(),
            reading: Notify::new(),
        }
    }

    /// Calls a worker, as something may be ready; not a second one while the first is on its way.
    pub(crate) fn call_worker(&self) {
        if !self.called.swap(true, SeqCst) {
            self.work.notify_one();
        }
    }

    /// For a worker that is about to look: the next call, which may come while it does.
    pub(crate) fn next_call(&self) -> Notified<'_> {
        let called = self.work.notified();
        self.called.store(false, SeqCst);
        called
    }

    /// Never held across an await. No code of the application runs inside, so that a panic cannot
    /// leave it half changed.
    pub(crate) fn schedule(&self) -> MutexGuard<'_, Schedule> {
        self.schedule.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
