use super::{clock::Clock, proxy::Proxy};
use outbox_tests::history::Log;
use std::{
    io,
    process::{Child, Command, ExitStatus},
    sync::{
        Mutex, MutexGuard,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

/// A dispatcher or a writer; killed when it is dropped.
#[derive(Debug)]
pub(crate) struct Process {
    pub(crate) name: String,
    pub(crate) pid: u32,
    pub(crate) log: Log,
    pub(crate) proxy: Option<Proxy>,
    pub(crate) clock: Option<Clock>,
    child: Mutex<Child>,
    /// One fault at a time befalls a process.
    is_busy: AtomicBool,
}

impl Process {
    pub(crate) fn new(
        child: Child,
        log: Log,
        name: &str,
        proxy: Option<Proxy>,
        clock: Option<Clock>,
    ) -> Self {
        Self {
            name: name.to_owned(),
            pid: child.id(),
            log,
            proxy,
            clock,
            child: Mutex::new(child),
            is_busy: AtomicBool::new(false),
        }
    }

    fn child(&self) -> MutexGuard<'_, Child> {
        self.child.lock().unwrap_or_else(|lock| lock.into_inner())
    }

    /// Whether nothing else befalls it; nothing does from now on.
    pub(crate) fn claim(&self) -> bool {
        !self.is_busy.swap(true, Ordering::Relaxed)
    }

    pub(crate) fn let_go(&self) {
        self.is_busy.store(false, Ordering::Relaxed);
    }

    pub(crate) fn is_claimed(&self) -> bool {
        self.is_busy.load(Ordering::Relaxed)
    }

    /// How it ended, if it has.
    pub(crate) fn ended(&self) -> io::Result<Option<ExitStatus>> {
        self.child().try_wait()
    }

    /// `kill -9`, and until it is gone.
    pub(crate) fn kill(&self) -> io::Result<()> {
        let mut child = self.child();
        child.kill()?;
        child.wait().map(|_| ())
    }

    pub(crate) fn freeze(&self) -> io::Result<()> {
        self.signal("-STOP")
    }

    pub(crate) fn thaw(&self) -> io::Result<()> {
        self.signal("-CONT")
    }

    fn signal(&self, signal: &str) -> io::Result<()> {
        let pid = self.pid.to_string();
        Command::new("kill")
            .args([signal, &pid])
            .status()
            .map(|_| ())
    }

    /// Ends it by ending its input.
    pub(crate) async fn stop(&self) -> Result<(), String> {
        drop(self.child().stdin.take());
        for _ in 0..1_200 {
            match self.ended() {
                Ok(Some(status)) if status.success() => return Ok(()),
                Ok(None) => tokio::time::sleep(Duration::from_millis(50)).await,
                other => return Err(format!("{} ended with {other:?}", self.name)),
            }
        }
        Err(format!("{} does not stop", self.name))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.kill();
    }
}
