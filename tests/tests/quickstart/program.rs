//! The quickstart program as a child process.

use crate::tables::Tables;
use std::{
    fmt,
    io::{BufRead, BufReader, Read, Write},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, Command, Stdio},
    sync::{OnceLock, mpsc},
    thread::{self, JoinHandle},
    time::Duration,
};
use tempfile::TempDir;

/// The orders that come with the example.
pub(crate) const SHIPPED: &str = include_str!("../../../examples/quickstart/orders.jsonl");

/// Long enough for a busy machine; only a hang lasts as long.
const PATIENCE: Duration = Duration::from_secs(60);

/// A folder with a database of its own.
pub(crate) struct Shop {
    folder: TempDir,
}

/// A run that has ended.
pub(crate) struct Finished {
    pub(crate) status: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// A run that goes on.
pub(crate) struct Running {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: JoinHandle<String>,
    stderr: mpsc::Receiver<String>,
    /// The lines of standard error that were waited for.
    seen: String,
}

impl Shop {
    pub(crate) fn new() -> Self {
        Self {
            folder: TempDir::new().unwrap(),
        }
    }

    pub(crate) async fn tables(&self) -> Tables {
        Tables::open(&self.folder.path().join("quickstart.db")).await
    }

    /// Runs it to its end, without standard input.
    pub(crate) fn run(&self, args: &[&str]) -> Finished {
        self.start(args).finish()
    }

    /// Starts it in the shop's folder: nothing of the repository is at hand there.
    pub(crate) fn start(&self, args: &[&str]) -> Running {
        let mut child = Command::new(binary())
            .args(args)
            .current_dir(self.folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdout = child.stdout.take().unwrap();
        let stderr = BufReader::new(child.stderr.take().unwrap());
        let (sender, receiver) = mpsc::channel();
        thread::spawn(move || {
            for line in stderr.lines().map_while(Result::ok) {
                let _ = sender.send(line);
            }
        });
        Running {
            stdin: child.stdin.take(),
            child,
            stdout: thread::spawn(move || {
                let mut text = String::new();
                stdout.read_to_string(&mut text).unwrap();
                text
            }),
            stderr: receiver,
            seen: String::new(),
        }
    }
}

impl Running {
    pub(crate) fn write(&mut self, lines: &[&str]) {
        for line in lines {
            self.write_bytes(format!("{line}\n").as_bytes());
        }
    }

    pub(crate) fn write_bytes(&mut self, bytes: &[u8]) {
        self.stdin.as_mut().unwrap().write_all(bytes).unwrap();
    }

    /// Waits until a line of standard error has this text.
    pub(crate) fn wait_for(&mut self, text: &str) {
        loop {
            let line = self.stderr.recv_timeout(PATIENCE);
            let Ok(line) = line else {
                let _ = self.child.kill();
                panic!("{text:?} was never said, only: {}", self.seen);
            };
            self.seen += &format!("{line}\n");
            if line.contains(text) {
                return;
            }
        }
    }

    /// `kill -9`: no destructor, no signal handler.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        let status = self.child.wait().unwrap();
        assert!(!status.success(), "it was killed before it was done");
    }

    #[cfg(unix)]
    pub(crate) fn terminate(&self) {
        let id = self.child.id().to_string();
        assert!(
            Command::new("kill")
                .args(["-TERM", &id])
                .status()
                .unwrap()
                .success()
        );
    }

    /// Ends its input and waits for its end.
    pub(crate) fn finish(mut self) -> Finished {
        drop(self.stdin.take());
        let mut stderr = self.seen;
        loop {
            match self.stderr.recv_timeout(PATIENCE) {
                Ok(line) => stderr += &format!("{line}\n"),
                Err(mpsc::RecvTimeoutError::Disconnected) => break,
                Err(mpsc::RecvTimeoutError::Timeout) => {
                    let _ = self.child.kill();
                    panic!("it hangs after: {stderr}");
                }
            }
        }
        Finished {
            status: self.child.wait().unwrap().code(),
            stdout: self.stdout.join().unwrap(),
            stderr,
        }
    }
}

impl Finished {
    pub(crate) fn last_line(&self) -> &str {
        self.stdout.lines().last().unwrap_or_default()
    }
}

impl fmt::Display for Finished {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "status {:?}\n{}\n{}",
            self.status, self.stderr, self.stdout
        )
    }
}

/// The program, built with the features that building the tests has chosen.
fn binary() -> &'static Path {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    BINARY.get_or_init(|| {
        let output = Command::new(env!("CARGO"))
            .args(["build", "--locked", "--workspace", "--message-format=json"])
            // Naming a test lets the development dependencies have their say in the features too,
            // or all dependencies would be built once more.
            .args(["--bin", "quickstart", "--test", "quickstart"])
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .stderr(Stdio::inherit())
            .output()
            .unwrap();
        assert!(output.status.success(), "quickstart does not build");
        String::from_utf8(output.stdout)
            .unwrap()
            .lines()
            .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok())
            .filter(|message| message["target"]["kind"][0] == "bin")
            // The package of the test has programs too.
            .filter(|message| message["target"]["name"] == "quickstart")
            .find_map(|message| message["executable"].as_str().map(PathBuf::from))
            .unwrap()
    })
}
