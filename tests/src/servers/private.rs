use super::until;
use std::{
    path::Path,
    process::{Command, Stdio},
    time::{Duration, Instant},
};
use tempfile::TempDir;

/// A server of a test's own, which it may restart; it ends when this is dropped. A commit outlives
/// its processes, not a crash of the machine.
#[derive(Debug)]
pub struct PrivateServer {
    kind: &'static str,
    folder: TempDir,
    url: String,
    /// When it was ready for the first time.
    ready: Instant,
}

impl PrivateServer {
    /// A PostgreSQL server that is ready.
    #[must_use]
    pub fn postgres() -> Self {
        Self::start("postgres", &[], "UTC")
    }

    /// A MariaDB server that is ready.
    #[must_use]
    pub fn mariadb() -> Self {
        Self::start("mariadb", &[], "UTC")
    }

    /// A MariaDB server on a machine in this time zone.
    #[must_use]
    pub fn mariadb_in(zone: &str) -> Self {
        Self::start("mariadb", &[], zone)
    }

    /// A MariaDB server with these options of its own.
    #[must_use]
    pub fn mariadb_with(options: &[&str]) -> Self {
        Self::start("mariadb", options, "UTC")
    }

    fn start(kind: &'static str, options: &[&str], zone: &str) -> Self {
        let folder = TempDir::new().unwrap();
        let mut told = vec![folder.path()];
        told.extend(options.iter().map(Path::new));
        let url = ask_in(zone, "start", kind, &told);
        let ready = Instant::now();
        Self {
            kind,
            folder,
            url,
            ready,
        }
    }

    /// Where its empty database is.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Ends it without a word to its clients, and starts it again, once: not within the second of its
    /// start, which is all that MariaDB tells of that.
    pub fn restart(&self) {
        until("its second is over", || {
            self.ready.elapsed() >= Duration::from_secs(1)
        });
        ask("restart", self.kind, &[self.folder.path()]);
    }

    /// Restores a dump of it on another one of its kind.
    pub fn copy_to(&self, other: &Self) {
        ask(
            "copy",
            self.kind,
            &[self.folder.path(), other.folder.path()],
        );
    }
}

impl Drop for PrivateServer {
    fn drop(&mut self) {
        ask("stop", self.kind, &[self.folder.path()]);
    }
}

/// Runs `tests/server`; returns what it prints.
fn ask(action: &str, kind: &str, rest: &[&Path]) -> String {
    ask_in("UTC", action, kind, rest)
}

fn ask_in(zone: &str, action: &str, kind: &str, rest: &[&Path]) -> String {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/server");
    let mut command = Command::new(script);
    command.args([action, kind]).args(rest).env("TZ", zone);
    let output = command.stdin(Stdio::null()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let complained = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {said}{complained}");
    said.trim().to_owned()
}
