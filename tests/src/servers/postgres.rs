use super::{command, free_port, hand_over, run};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A PostgreSQL server; it ends when this is dropped.
#[derive(Debug)]
pub struct PrivatePostgres {
    folder: TempDir,
    programs: PathBuf,
    port: u16,
}

const USER: &str = "postgres";

impl PrivatePostgres {
    /// One that is ready. A commit outlives the server's processes, not a crash of the machine.
    #[must_use]
    pub fn start() -> Self {
        let folder = TempDir::new().unwrap();
        hand_over(folder.path(), USER);
        let server = Self {
            folder,
            programs: programs(),
            port: free_port(),
        };
        let mut initdb = command(&server.programs.join("initdb"), USER);
        initdb.arg("-D").arg(server.data());
        initdb.args(["-U", "postgres", "-A", "trust", "-E", "UTF8"]);
        initdb.args(["--locale=C", "--no-sync"]);
        run(initdb);
        server.control("start");
        server
    }

    /// Where it is.
    #[must_use]
    pub fn url(&self) -> String {
        format!("postgres://postgres@127.0.0.1:{}/postgres", self.port)
    }

    /// Ends it without a word to its clients, and starts it again.
    pub fn restart(&self) {
        self.control("stop");
        self.control("start");
    }

    fn control(&self, what: &str) {
        let folder = self.folder.path().display();
        let options = format!(
            "-p {} -k {folder} -c listen_addresses=127.0.0.1 -c fsync=off",
            self.port
        );
        let mut control = command(&self.programs.join("pg_ctl"), USER);
        control.arg("-D").arg(self.data());
        control.arg("-l").arg(self.folder.path().join("log"));
        control.args(["-w", "-t", "60", "-m", "immediate", "-o", &options, what]);
        run(control);
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }
}

impl Drop for PrivatePostgres {
    fn drop(&mut self) {
        self.control("stop");
    }
}

/// The folder of the newest server programs: Debian keeps them off the path.
fn programs() -> PathBuf {
    let mut versions: Vec<(u32, PathBuf)> = Vec::new();
    for entry in std::fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
    {
        let entry = entry.unwrap();
        let version = entry.file_name().to_string_lossy().parse().unwrap_or(0);
        versions.push((version, entry.path().join("bin")));
    }
    versions.sort();
    let newest = versions.pop().map(|(_, path)| path);
    let on_path = || {
        let path = std::env::var_os("PATH").unwrap_or_default();
        std::env::split_paths(&path).find(|path: &PathBuf| has_initdb(path))
    };
    newest
        .filter(|path| has_initdb(path))
        .or_else(on_path)
        .unwrap()
}

fn has_initdb(folder: &Path) -> bool {
    folder.join("initdb").exists()
}
