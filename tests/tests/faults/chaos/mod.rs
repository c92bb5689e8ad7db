//! Short runs of the chaos program: each fault on each database where there is such a thing.

mod arguments;
pub(crate) mod crashing;
mod play;

use super::server::Server;
use crashing::Crashing;
use play::Play;

macro_rules! faults {
    ($server:ident, $module:ident) => {
        mod $module {
            use super::*;

            #[tokio::test]
            async fn kills_and_a_changing_fleet_lose_and_reorder_nothing() {
                Play::on(Server::$server, 1).await.faults("kill,scale");
            }

            #[tokio::test]
            async fn frozen_dispatchers_lose_and_reorder_nothing() {
                Play::on(Server::$server, 2).await.faults("freeze");
            }

            #[tokio::test]
            async fn bad_handlers_and_late_writers_lose_and_reorder_nothing() {
                let faults = "slow,hang,panic,rollback,late";
                Play::on(Server::$server, 3).await.faults(faults);
            }

            #[tokio::test]
            async fn operators_lose_and_reorder_nothing() {
                let faults = "operator,kill,rollback";
                Play::on(Server::$server, 6).await.faults(faults);
            }
        }
    };
}

macro_rules! server_faults {
    ($server:ident, $module:ident, $kind:literal) => {
        mod $module {
            use super::*;

            #[tokio::test]
            async fn cut_connections_and_wrong_clocks_lose_and_reorder_nothing() {
                Play::on(Server::$server, 4)
                    .await
                    .faults("disconnect,clock");
            }

            #[test]
            fn a_server_that_crashes_loses_and_reorders_nothing() {
                let server = Crashing::start($kind);
                let play = Play::new(server.url(), 5).restart(&server.restart());
                play.faults("restart,disconnect,kill");
            }
        }
    };
}

faults!(Sqlite, sqlite);
faults!(Postgres, postgres);
faults!(MariaDb, mariadb);
server_faults!(Postgres, postgres_connections, "postgres");
server_faults!(MariaDb, mariadb_connections, "mariadb");

/// The numbers of the seed let no handler hang among so few: the run has shown nothing.
#[tokio::test]
async fn a_fault_that_never_struck_in_work_fails_the_run() {
    let play = Play::on(Server::Sqlite, 7).await.keeps_nothing();
    let size = "--dispatchers 1 --writers 1 --aggregates 2 --events 6";
    let end = play.run("hang", size);
    assert_eq!(end.status, Some(1), "{}", end.complaint);
    let reason = "hang never struck while an event was in work";
    assert!(end.complaint.contains(reason), "{}", end.complaint);
    assert_eq!(end.line["faults"], 0, "{}", end.line);
    end.lost_and_reordered_nothing();
}
