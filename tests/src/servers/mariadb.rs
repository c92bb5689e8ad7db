use super::{command, free_port, hand_over, is_root, run, until};
use std::{
    net::TcpStream,
    path::Path,
    process::{Child, Command},
    sync::Mutex,
    time::{Duration, Instant},
};
use tempfile::TempDir;

/// A MariaDB server; it ends when this is dropped.
#[derive(Debug)]
pub struct PrivateMariaDb {
    folder: TempDir,
    port: u16,
    process: Mutex<Child>,
    /// When it was ready for the first time.
    ready: Instant,
}

const USER: &str = "mysql";

impl PrivateMariaDb {
    /// One that is ready. A commit outlives the server's process, not a crash of the machine.
    #[must_use]
    pub fn start() -> Self {
        let folder = TempDir::new().unwrap();
        hand_over(folder.path(), USER);
        let data = folder.path().join("data");
        let mut install = command(Path::new("mariadb-install-db"), USER);
        install.arg("--no-defaults").arg(option("datadir", &data));
        install.args(["--skip-test-db", "--auth-root-authentication-method=normal"]);
        run(install);
        let port = free_port();
        let process = Mutex::new(spawn(folder.path(), port));
        let mut server = Self {
            folder,
            port,
            process,
            ready: Instant::now(),
        };
        server.wait();
        server.ready = Instant::now();
        server
    }

    /// Where it is.
    #[must_use]
    pub fn url(&self) -> String {
        format!("mysql://root@127.0.0.1:{}", self.port)
    }

    /// Kills it, and starts it again, once: not within the second of its start, which is all that a
    /// server tells of that.
    pub fn restart(&self) {
        until("its second is over", || {
            self.ready.elapsed() >= Duration::from_secs(1)
        });
        let mut process = self.process.lock().unwrap();
        process.kill().unwrap();
        process.wait().unwrap();
        *process = spawn(self.folder.path(), self.port);
        self.wait();
    }

    fn wait(&self) {
        let address = ("127.0.0.1", self.port);
        until("the server listens", || TcpStream::connect(address).is_ok());
    }
}

impl Drop for PrivateMariaDb {
    fn drop(&mut self) {
        let mut process = self.process.lock().unwrap();
        let _ = process.kill();
        let _ = process.wait();
    }
}

/// Not through a shell or another program: what is killed is the server itself.
fn spawn(folder: &Path, port: u16) -> Child {
    let mut server = Command::new("mariadbd");
    server.arg("--no-defaults");
    if is_root() {
        server.arg(format!("--user={USER}"));
    }
    server.arg(option("datadir", &folder.join("data")));
    server.arg(option("socket", &folder.join("socket")));
    server.arg(option("pid-file", &folder.join("pid")));
    server.args(["--bind-address=127.0.0.1", "--skip-name-resolve"]);
    server.arg(format!("--port={port}"));
    server.args([
        "--innodb-flush-log-at-trx-commit=2",
        "--innodb-doublewrite=0",
    ]);
    let log = std::fs::File::create(folder.join("log")).unwrap();
    server.stderr(log);
    server.spawn().unwrap()
}

fn option(name: &str, path: &Path) -> String {
    format!("--{name}={}", path.display())
}
