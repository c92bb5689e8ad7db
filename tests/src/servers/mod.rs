//! Servers of a test's own, which it may restart. A test leaves the one that all share alone.

mod private;
mod pgbouncer;

pub use pgbouncer::{PgBouncer, Pooling};
pub use private::PrivateServer;

use std::{net::TcpListener, process::Command, thread::sleep, time::Duration};

fn is_root() -> bool {
    let id = Command::new("id").arg("-u").output().unwrap();
    id.stdout.trim_ascii() == b"0"
}

fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

/// Waits until something holds; only a hang exhausts it.
#[expect(
    clippy::disallowed_methods,
    reason = "a test does nothing else while its server starts"
)]
fn until(what: &str, holds: impl Fn() -> bool) {
    for _ in 0..1_200 {
        if holds() {
            return;
        }
        sleep(Duration::from_millis(50));
    }
    unreachable!("never: {what}");
}
