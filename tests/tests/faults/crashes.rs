//! Events that bring their process down.

use super::{server::Server, site::Site};
use outbox_tests::worker::{Conduct, DEADLY};

/// The event becomes a dead letter after three processes have died of it; what stands behind it and
/// beside it is delivered.
async fn costs_three_processes(server: Server, mode: &str) {
    let site = Site::on(server).await;
    let deadly = site.emit_text("x0", DEADLY).await;
    // No handler comes to an end with it.
    site.log.discarded("x0", deadly);
    site.emit("x0").await;
    for number in 1..40 {
        site.emit(&format!("x{number}")).await;
    }
    let conduct = Conduct {
        crash_limit: 3,
        ..Conduct::default()
    };
    for number in 0..3 {
        let process = site.start_with(mode, &format!("d{number}"), &conduct);
        process.crashed().await;
    }
    let last = site.start_with(mode, "last", &conduct);
    site.drained().await;
    last.stop();
    let dead = site
        .query("SELECT id, reason, attempts FROM outbox_dead")
        .await;
    let [letter] = &*dead else {
        unreachable!("{} dead letters", dead.len());
    };
    assert_eq!(letter.try_get::<uuid::Uuid>("", "id").unwrap(), deadly);
    assert_eq!(letter.try_get::<String>("", "reason").unwrap(), "crashed");
    assert_eq!(letter.try_get::<i32>("", "attempts").unwrap(), 0);
    assert_eq!(site.count("outbox_delivered").await, 40);
    site.tell_emitted().await;
    site.log.history().assert_clean();
}

#[tokio::test]
async fn an_event_that_aborts_the_process_costs_three_on_sqlite() {
    costs_three_processes(Server::Sqlite, "abort").await;
}

#[tokio::test]
async fn an_event_that_aborts_the_process_costs_three_on_postgres() {
    costs_three_processes(Server::Postgres, "abort").await;
}

#[tokio::test]
async fn an_event_that_aborts_the_process_costs_three_on_mariadb() {
    costs_three_processes(Server::MariaDb, "abort").await;
}

#[tokio::test]
async fn an_event_that_overflows_the_stack_costs_three_on_sqlite() {
    costs_three_processes(Server::Sqlite, "overflow").await;
}

#[tokio::test]
async fn an_event_that_overflows_the_stack_costs_three_on_postgres() {
    costs_three_processes(Server::Postgres, "overflow").await;
}

#[tokio::test]
async fn an_event_that_overflows_the_stack_costs_three_on_mariadb() {
    costs_three_processes(Server::MariaDb, "overflow").await;
}
