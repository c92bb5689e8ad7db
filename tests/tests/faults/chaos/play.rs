use crate::server::Server;
use std::{path::PathBuf, process::Command};
use tempfile::TempDir;

/// One run of the chaos program.
pub(crate) struct Play {
    url: String,
    seed: u64,
    restart: Option<String>,
    /// Where the logs of a run that ends badly are kept.
    kept: Option<PathBuf>,
    folder: TempDir,
}

impl Play {
    pub(crate) async fn on(server: Server, seed: u64) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let url = server.create(folder.path()).await;
        Self {
            folder,
            ..Self::new(&url, seed)
        }
    }

    pub(crate) fn new(url: &str, seed: u64) -> Self {
        Self {
            url: url.to_owned(),
            seed,
            restart: None,
            kept: None,
            folder: tempfile::tempdir().unwrap(),
        }
    }

    pub(crate) fn restart(mut self, command: &str) -> Self {
        self.restart = Some(command.to_owned());
        self
    }

    /// It will end badly: nobody is to look for its logs.
    pub(crate) fn keeps_nothing(mut self) -> Self {
        self.kept = Some(self.folder.path().to_owned());
        self
    }

    /// Lets these faults strike, which nothing may suffer from.
    pub(crate) fn faults(self, faults: &str) {
        let size = "--dispatchers 3 --writers 2 --aggregates 30 --events 600 --seconds 8";
        let end = self.run(faults, size);
        assert_eq!(end.status, Some(0), "{}", end.complaint);
        let count = |name: &str| end.line[name].as_u64().unwrap();
        let line = &end.line;
        assert!(count("emitted") >= 600, "{line}");
        assert_eq!(
            count("delivered") + count("dead") + count("discarded"),
            count("emitted"),
            "{line}"
        );
        end.lost_and_reordered_nothing();
        assert!(count("faults") > 0 && count("dead") > 0, "{line}");
        assert!(
            line["duplicates"].is_u64() && line["max_takeover_ms"].is_u64(),
            "{line}"
        );
    }

    /// Runs the program with these faults and numbers.
    pub(crate) fn run(&self, faults: &str, numbers: &str) -> End {
        let mut chaos = Command::new(env!("CARGO_BIN_EXE_chaos"));
        chaos
            .args(["--database-url", &self.url, "--faults", faults])
            .args(["--seed", &self.seed.to_string(), "--lease-ms", "1000"])
            .args(numbers.split(' '));
        if let Some(folder) = &self.kept {
            chaos.env("TMPDIR", folder);
        }
        if let Some(command) = &self.restart {
            chaos.args(["--restart-command", command]);
        }
        let output = chaos.output().unwrap();
        let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
        let (said, complaint) = (text(&output.stdout), text(&output.stderr));
        println!("{said}");
        let Some(Ok(line)) = said.lines().last().map(serde_json::from_str) else {
            unreachable!("{complaint}")
        };
        End {
            status: output.status.code(),
            line,
            complaint,
        }
    }
}

/// How a run has ended.
pub(crate) struct End {
    pub(crate) status: Option<i32>,
    /// The last line.
    pub(crate) line: serde_json::Value,
    pub(crate) complaint: String,
}

impl End {
    pub(crate) fn lost_and_reordered_nothing(&self) {
        for name in ["lost", "reordered", "unexplained"] {
            assert_eq!(self.line[name].as_u64(), Some(0), "{}", self.line);
        }
    }
}
