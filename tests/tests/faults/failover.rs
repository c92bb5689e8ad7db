//! The server is read-only for a while, as after a failover to a replica.

use super::{
    chaos::crashing::Crashing,
    server::{Server, connect},
    site::{Site, pause},
};
use outbox_tests::history::What;
use sea_orm::{ConnectionTrait, DatabaseConnection};

/// Dispatchers go on when the server can be written again, and have lost and reordered nothing.
async fn is_survived(site: Site, admin: &DatabaseConnection, begin: &[&str], end: &[&str]) {
    let emitter = site.start("emit", "emitter");
    let dispatchers = ["d0", "d1"].map(|name| site.start("deliver", name));
    for dispatcher in &dispatchers {
        site.delivers(dispatcher).await;
    }
    let all = site.log.by("*");
    for round in 0..2 {
        let name = format!("read-only-{round}");
        all.about(What::Outage, &name);
        for sql in begin {
            admin.execute_unprepared(sql).await.unwrap();
        }
        // What was being committed is.
        pause(round, 300..500).await;
        let before = site.count("outbox_delivered").await;
        pause(round, 2_500..3_500).await;
        let after = site.count("outbox_delivered").await;
        assert_eq!(before, after, "nobody can write");
        for sql in end {
            admin.execute_unprepared(sql).await.unwrap();
        }
        for dispatcher in &dispatchers {
            site.delivers(dispatcher).await;
        }
        all.about(What::Over, &name);
    }
    emitter.stop();
    site.drained().await;
    for dispatcher in dispatchers {
        dispatcher.stop();
    }
    let report = site.check().await;
    assert!(report.events > 100, "{report:?}");
}

/// All sessions begin anew, as with another server; SQLSTATE 25006.
#[tokio::test]
async fn a_failover_to_a_read_only_postgres_is_survived() {
    let site = Site::on(Server::Postgres).await;
    let admin = site.db.clone();
    let name = site.database_name();
    let read_only =
        |value| format!("ALTER DATABASE {name} SET default_transaction_read_only = {value}");
    let begin_anew = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
        WHERE datname = current_database() AND pid <> pg_backend_pid()";
    let (on, off) = (read_only("on"), read_only("off"));
    is_survived(site, &admin, &[&on, begin_anew], &[&off, begin_anew]).await;
}

/// Error 1290, for whoever is no administrator.
#[tokio::test]
async fn a_failover_to_a_read_only_mariadb_is_survived() {
    let server = Crashing::start("mariadb");
    let admin = connect(server.url()).await;
    for sql in [
        "CREATE USER app IDENTIFIED BY 'app'",
        "GRANT ALL ON chaos.* TO app",
    ] {
        admin.execute_unprepared(sql).await.unwrap();
    }
    let url = server.url().replace("root@", "app:app@");
    let directory = tempfile::tempdir().unwrap();
    let site = Site::at(url, Server::MariaDb, 500, directory).await;
    let read_only = |value| format!("SET GLOBAL read_only = {value}");
    let (on, off) = (read_only("ON"), read_only("OFF"));
    is_survived(site, &admin, &[&on], &[&off]).await;
    admin.close().await.unwrap();
}
