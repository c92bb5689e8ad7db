//! Servers of a test's own, which it may restart. A test leaves the one that all share alone.

mod mariadb;
mod postgres;
mod pgbouncer;

pub use mariadb::PrivateMariaDb;
pub use pgbouncer::PgBouncer;
pub use postgres::PrivatePostgres;

use std::{
    net::TcpListener,
    path::Path,
    process::{Command, Stdio},
    thread::sleep,
    time::Duration,
};

/// A command that runs as an unprivileged user: servers refuse root.
fn command(program: &Path, user: &str) -> Command {
    let mut command = match is_root() {
        true => {
            let mut command = Command::new("runuser");
            command.args(["-u", user, "--"]).arg(program);
            command
        }
        false => Command::new(program),
    };
    // A folder that everybody may be in.
    command.current_dir("/");
    command.stdin(Stdio::null());
    command.stdout(Stdio::null());
    command.stderr(Stdio::null());
    command
}

fn run(mut command: Command) {
    let status = command.status().unwrap();
    assert!(status.success(), "{command:?}");
}

/// Gives a folder to the user that the server runs as.
fn hand_over(folder: &Path, user: &str) {
    if is_root() {
        let mut chown = Command::new("chown");
        chown.arg(user).arg(folder);
        run(chown);
    }
}

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
