//! Behind pgbouncer, which gives a server to whoever has a transaction. B095.

use super::sleeper::{Sleeper, sleeping};
use crate::database::{self, Database};
use outbox_seaorm::SeaOrmStore;
use outbox_tests::{conformance::Thing, watched::Watched};
use std::{
    fs,
    net::TcpListener,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};
use tempfile::TempDir;

/// A pgbouncer in transaction mode, ended with this.
struct Pooler {
    port: u16,
    process: Child,
    _folder: TempDir,
}

impl Pooler {
    async fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let free = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = free.local_addr().unwrap().port();
        let path = folder.path().join("pgbouncer.ini");
        let server = database::port();
        let settings = format!(
            "[databases]\n* = host=127.0.0.1 port={server} user=postgres\n\
             [pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\n\
             auth_type = any\npool_mode = transaction\nignore_startup_parameters = extra_float_digits\n"
        );
        fs::write(&path, settings).unwrap();
        drop(free);
        let mut command = Command::new("pgbouncer");
        // It does not run as root, and has read its settings before it is somebody else.
        if fs::metadata("/proc/self")
            .is_ok_and(|own| std::os::unix::fs::MetadataExt::uid(&own) == 0)
        {
            command.args(["-u", "nobody"]);
        }
        let process = command.arg(&path).stderr(Stdio::null()).spawn();
        let process = process.unwrap_or_else(|error| {
            panic!("pgbouncer does not start: {error}; run these tests with ./tests/run")
        });
        let pooler = Self {
            port,
            process,
            _folder: folder,
        };
        for _ in 0..6000 {
            if std::net::TcpStream::connect(("127.0.0.1", port)).is_ok() {
                return pooler;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("pgbouncer does not answer");
    }
}

impl Drop for Pooler {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The connection that listens is given up, for nothing is heard on it, and polling goes on. Only this
/// goes through the pooler: what is prepared is lost there before pgbouncer 1.21.
#[tokio::test]
async fn behind_a_pooler_in_transaction_mode_it_polls() {
    let database = Database::hostile().await;
    let pooler = Pooler::start().await;
    let db = database.open_through(pooler.port, 1).await;
    let pooled = SeaOrmStore::new(&db, &database.outbox);
    let store = Watched::new(database.store()).listening_through(pooled);
    let poll = (Duration::from_millis(1), Duration::from_millis(50));
    let mut sleeper = Sleeper::over(store, poll);
    // For longer than it takes to know that nothing is heard.
    let end = Instant::now() + Duration::from_secs(8);
    let mut emitted = 0;
    while Instant::now() < end {
        emitted += 1;
        let text = format!("event {emitted}.");
        database.emit(Thing::said(&text)).await;
        sleeper.delivers(&text).await;
        assert_eq!(sleeping(&database).await, 0);
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    sleeper.stop().await;
}
