use std::{
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
    thread,
};

/// The consumer as a process of its own.
pub(crate) struct Process {
    child: Child,
    /// Where it listens.
    pub(crate) address: String,
}

impl Process {
    /// Starts it on the database in a folder, and waits until it listens.
    pub(crate) fn start(folder: &Path, listen: &str, mail_url: &str) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_consumer"))
            .args(["--listen", listen, "--mail-url", mail_url])
            .args(["--mail-lease", "2"])
            .current_dir(folder)
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let address = loop {
            let line = lines.next().unwrap().unwrap();
            if let Some(address) = line.strip_prefix("listening on http://") {
                break address.to_owned();
            }
        };
        // Or it would stop when the pipe is full.
        thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                eprintln!("{line}");
            }
        });
        Self { child, address }
    }

    /// `kill -9`: no destructor, no signal handler.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}
