use super::{free_port, is_root, until};
use std::{
    fs,
    net::TcpStream,
    process::{Child, Command, Stdio},
};
use tempfile::TempDir;

/// For how long a client of a pgbouncer has one of its sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pooling {
    /// For a transaction, another one each time. There are few.
    Transaction,
    /// Until it disconnects.
    Session,
}

/// A pgbouncer before a PostgreSQL server. It ends when this is dropped.
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
    pub fn start(server: u16, pooling: Pooling) -> Self {
        let folder = TempDir::new().unwrap();
        let port = free_port();
        let settings = format!(
            "[databases]\n* = host=127.0.0.1 port={server} user=postgres\n\
             [pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\n\
             auth_type = any\nignore_startup_parameters = extra_float_digits\n\
             server_round_robin = 1\n{}",
            pooling.settings()
        );
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

    /// Whether a statement that was prepared in one session can be executed in another one.
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

impl Pooling {
    fn settings(self) -> &'static str {
        match self {
            Self::Session => "pool_mode = session\ndefault_pool_size = 80\n",
            Self::Transaction if PgBouncer::follows_prepared_statements() => {
                "pool_mode = transaction\ndefault_pool_size = 8\nmax_prepared_statements = 200\n"
            }
            // No name of a statement outlives a transaction, or the next client's could not be given.
            Self::Transaction => {
                "pool_mode = transaction\ndefault_pool_size = 8\n\
                 server_reset_query = DEALLOCATE ALL\nserver_reset_query_always = 1\n"
            }
        }
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
