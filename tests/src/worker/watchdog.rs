use super::Conduct;
use crate::history::{Log, What};
use std::{
    thread,
    time::{Duration, Instant},
};

const TICK: Duration = Duration::from_millis(50);

/// Writes down when the machine did not let this process run for a third of its lease: what
/// follows is the machine's fault. It knows nothing of the dispatcher.
pub(super) fn start(log: &Log, conduct: &Conduct) {
    let log = log.clone();
    let limit = Duration::from_millis(conduct.lease_ms) / 3;
    thread::spawn(move || {
        for number in 0_u64.. {
            let before = Instant::now();
            thread::park_timeout(TICK);
            if before.elapsed() > TICK + limit {
                log.about(What::Fault, &format!("stall-{number}"));
            }
        }
    });
}
