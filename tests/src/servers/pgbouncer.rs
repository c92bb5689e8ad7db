use super::{free_port, is_root, until};
use std::{
    fs,
    net::TcpStream,
    process::{Child, Command, Stdio},
};
use tempfile::TempDir;

/// A pgbouncer in transaction mode before a PostgreSQL server: whoever has a transaction gets one of a
/// few sessions, another one each time. It ends when this is dropped.
#[derive(Debug)]
pub struct PgBouncer {
    port: u16,
    process: Child,
    _folder: TempDir,
}

/// The first version that follows prepared statements from session to session.
const PREPARES: (u32, u32) = (1, 21);

impl PgBouncer {
    /// One that is ready, before the server on this port.
    ///
    /// # Panics
    /// When there is no pgbouncer.
    #[must_use]
    pub fn start(server: u16) -> Self {
        let folder = TempDir::new().unwrap();
        let port = free_port();
        let mut settings = format!(
            "[databases]\n* = host=127.0.0.1 port={server} user=postgres\n\
             [pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\n\
             auth_type = any\npool_mode = transaction\nignore_startup_parameters = extra_float_digits\n\
             default_pool_size = 8\nserver_round_robin = 1\n"
        );
        if Self::follows_prepared_statements() {
            settings.push_str("max_prepared_statements = 200\n");
        }
        let path = folder.path().join("pgbouncer.ini");
        fs::write(&path, settings).unwrap();
        let mut command = program();
        // It does not run as root, and has read its settings before it is somebody else.
        if is_root() {
            command.args(["-u", "nobody"]);
        }
        let process = command.arg(&path).stderr(Stdio::null()).spawn();
        let pooler = Self {
            port,
            process: process.unwrap(),
            _folder: folder,
        };
        let address = ("127.0.0.1", port);
        until("the pooler listens", || TcpStream::connect(address).is_ok());
        pooler
    }

    /// Where it listens, on this machine.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Whether a statement that was prepared in one session can be executed in another one: before
    /// that, no program with sqlx works behind it.
    ///
    /// # Panics
    /// When there is no pgbouncer.
    #[must_use]
    pub fn follows_prepared_statements() -> bool {
        let output = program().arg("--version").output();
        let missing = |error| format!("no pgbouncer: {error}; run these tests with ./tests/run");
        let output = output.map_err(missing).unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        let version = text.split_whitespace().nth(1).unwrap_or_default();
        let mut numbers = version.split('.').map_while(|part| part.parse().ok());
        let version = (numbers.next(), numbers.next());
        version >= (Some(PREPARES.0), Some(PREPARES.1))
    }
}

impl Drop for PgBouncer {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Debian's, or another one.
fn program() -> Command {
    let path = std::env::var_os("OUTBOX_TEST_PGBOUNCER");
    Command::new(path.unwrap_or_else(|| "pgbouncer".into()))
}
