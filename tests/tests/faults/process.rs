use outbox_tests::history::Log;
use std::process::{Child, Command};

/// A process of `outbox-worker`; killed when it is dropped.
pub(crate) struct Process {
    pub(crate) name: String,
    child: Child,
    log: Log,
}

impl Process {
    pub(crate) fn new(name: &str, child: Child, log: &Log) -> Self {
        Self {
            name: name.to_owned(),
            child,
            log: log.by(name),
        }
    }

    /// `kill -9`.
    pub(crate) fn kill(mut self) {
        // Before as well: on a server the next one may be quicker than this line.
        self.log.fault();
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        self.log.fault();
    }

    /// Waits until it has ended by itself, badly.
    pub(crate) async fn crashed(mut self) {
        while self.child.try_wait().unwrap().is_none() {
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
        self.log.fault();
        assert!(!self.child.wait().unwrap().success(), "{}", self.name);
    }

    /// Stops the process as it is.
    pub(crate) fn freeze(&self) {
        self.signal("-STOP");
        self.log.fault();
    }

    /// Lets it go on.
    pub(crate) fn thaw(&self) {
        // Again: what it had started before it was stopped is explained, and so is what it does
        // until it notices.
        self.log.fault();
        self.signal("-CONT");
    }

    /// Ends it by ending its input.
    pub(crate) fn stop(mut self) {
        drop(self.child.stdin.take());
        assert!(self.child.wait().unwrap().success(), "{}", self.name);
    }

    fn signal(&self, signal: &str) {
        let pid = self.child.id().to_string();
        let sent = Command::new("kill").args([signal, &pid]).status();
        assert!(sent.unwrap().success());
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
