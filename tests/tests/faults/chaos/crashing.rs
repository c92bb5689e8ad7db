use std::{path::PathBuf, process::Command};
use uuid::Uuid;

/// A server of the test's own, which may be killed.
pub(crate) struct Crashing {
    kind: &'static str,
    folder: PathBuf,
    url: String,
}

const PROGRAM: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/server");

impl Crashing {
    pub(crate) fn start(kind: &'static str) -> Self {
        // Not a folder that only this user may enter: the server runs as another one.
        let name = format!("outbox-{kind}-{}", Uuid::now_v7().simple());
        let folder = std::env::temp_dir().join(name);
        let mut start = Command::new(PROGRAM);
        let output = start.args(["start", kind]).arg(&folder).output().unwrap();
        let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{complaint}");
        let url = String::from_utf8(output.stdout).unwrap().trim().to_owned();
        Self { kind, folder, url }
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// What ends the server as a crash does, and starts it again.
    pub(crate) fn restart(&self) -> String {
        format!(
            "'{PROGRAM}' restart {} '{}'",
            self.kind,
            self.folder.display()
        )
    }
}

impl Drop for Crashing {
    fn drop(&mut self) {
        let stop = Command::new(PROGRAM)
            .args(["stop", self.kind])
            .arg(&self.folder)
            .status();
        assert!(stop.is_ok_and(|status| status.success()) || std::thread::panicking());
    }
}
