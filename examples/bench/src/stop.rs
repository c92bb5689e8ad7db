//! The signals that end a run early: what was measured is shown, and what was made is removed.

use std::io;
use tokio::signal;

/// Waits for Ctrl-C or SIGTERM.
#[cfg(unix)]
pub(crate) async fn signal() -> io::Result<()> {
    let mut terminate = signal::unix::signal(signal::unix::SignalKind::terminate())?;
    tokio::select! {
        interrupted = signal::ctrl_c() => interrupted,
        _ = terminate.recv() => Ok(()),
    }
}

/// Waits for Ctrl-C.
#[cfg(not(unix))]
pub(crate) async fn signal() -> io::Result<()> {
    signal::ctrl_c().await
}
