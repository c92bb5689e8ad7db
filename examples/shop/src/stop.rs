//! Ctrl-C and SIGTERM: the library leaves signals to the application.

use outbox_seaorm::CancellationToken;
use std::io;
use tokio::signal;
use tracing::{info, warn};

/// How the application is asked to stop.
#[derive(Debug, Clone, Default)]
pub struct Stop {
    /// Finish the requests and handlers under way.
    pub first: CancellationToken,
    /// Drop them. It loses nothing: their events are delivered again.
    pub second: CancellationToken,
}

/// The first signal cancels `first`, another one `second`.
///
/// # Errors
/// When the operating system does not let us listen.
pub fn on_signals() -> io::Result<Stop> {
    let stop = Stop::default();
    let mut signals = Signals::new()?;
    let asked = stop.clone();
    tokio::spawn(async move {
        signals.recv().await;
        info!("stopping: what is under way is finished first");
        asked.first.cancel();
        signals.recv().await;
        warn!("stopping at once");
        asked.second.cancel();
    });
    Ok(stop)
}

struct Signals {
    #[cfg(unix)]
    terminate: signal::unix::Signal,
}

impl Signals {
    fn new() -> io::Result<Self> {
        Ok(Self {
            #[cfg(unix)]
            terminate: signal::unix::signal(signal::unix::SignalKind::terminate())?,
        })
    }

    async fn recv(&mut self) {
        #[cfg(unix)]
        tokio::select! {
            _ = signal::ctrl_c() => {}
            _ = self.terminate.recv() => {}
        }
        #[cfg(not(unix))]
        let _ = signal::ctrl_c().await;
    }
}
