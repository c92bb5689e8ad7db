use crate::server::Server;
use std::process::Command;
use tempfile::TempDir;

/// One run of the chaos program.
pub(crate) struct Play {
    url: String,
    seed: u64,
    restart: Option<String>,
    _folder: TempDir,
}

impl Play {
    pub(crate) async fn on(server: Server, seed: u64) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let url = server.create(folder.path()).await;
        Self {
            _folder: folder,
            ..Self::new(&url, seed)
        }
    }

    pub(crate) fn new(url: &str, seed: u64) -> Self {
        Self {
            url: url.to_owned(),
            seed,
            restart: None,
            _folder: tempfile::tempdir().unwrap(),
        }
    }

    pub(crate) fn restart(mut self, command: &str) -> Self {
        self.restart = Some(command.to_owned());
        self
    }

    /// Lets these faults strike, which nothing may suffer from.
    pub(crate) fn faults(self, faults: &str) {
        let mut chaos = Command::new(env!("CARGO_BIN_EXE_chaos"));
        chaos
            .args(["--database-url", &self.url, "--faults", faults])
            .args(["--seed", &self.seed.to_string()])
            .args(["--dispatchers", "3", "--writers", "2", "--aggregates", "30"])
            .args(["--events", "600", "--seconds", "8", "--lease-ms", "1000"]);
        if let Some(command) = &self.restart {
            chaos.args(["--restart-command", command]);
        }
        let output = chaos.output().unwrap();
        let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
        let (said, complained) = (text(&output.stdout), text(&output.stderr));
        println!("{said}");
        assert!(output.status.success(), "{complained}");
        let line: serde_json::Value = serde_json::from_str(said.lines().last().unwrap()).unwrap();
        let count = |name: &str| line[name].as_u64().unwrap();
        assert!(count("emitted") >= 600, "{line}");
        assert_eq!(
            count("delivered") + count("dead") + count("discarded"),
            count("emitted"),
            "{line}"
        );
        for name in ["lost", "reordered", "unexplained"] {
            assert_eq!(count(name), 0, "{line}");
        }
        assert!(count("faults") > 0 && count("dead") > 0, "{line}");
        assert!(
            line["duplicates"].is_u64() && line["max_takeover_ms"].is_u64(),
            "{line}"
        );
    }
}
