//! Stops the work on Ctrl-C and SIGTERM: the library leaves signals to the application.

use outbox_seaorm::CancellationToken;
use std::{io, process};
use tokio::signal;

/// Cancelled by the first signal. The second one ends the process at once, which is safe: what was
/// not delivered stays in the outbox.
pub(crate) fn on_signal() -> io::Result<CancellationToken> {
    let stop = CancellationToken::new();
    let mut signals = Signals::new()?;
    let cancelled = stop.clone();
    tokio::spawn(async move {
        signals.recv().await;
        eprintln!("stopping: what is being delivered is finished first");
        cancelled.cancel();
        signals.recv().await;
        process::exit(130);
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
