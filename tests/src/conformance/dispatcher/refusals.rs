//! Outcomes that the database does not take: the failure is made in the database.

use super::{Scene, ok, scene::spawn};
use crate::{
    conformance::{Harness, Tables},
    watched::{Verb, Watched},
};
use outbox_core::{Delivery, HandlerError, store::Position};
use sea_orm::DbBackend;
use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

/// Long enough for a settle to have been tried, and its successors to be handled.
async fn a_moment() {
    tokio::time::sleep(Duration::from_millis(500)).await;
}

/// The handler has done its work, and does it again: both times with the same key, by which its effect
/// happens once (B054).
pub async fn a_settle_that_fails_after_the_delivery_delivers_again<H: Harness + 'static>(
    scene: &Scene<H>,
) {
    let Some(tables) = scene.harness.tables() else {
        return;
    };
    refuse(&tables, None).await;
    let id = scene.emit("x", "1").await;
    let keys = Arc::<Mutex<Vec<String>>>::default();
    let told = Arc::clone(&keys);
    let handle = move |_: String, delivery: Delivery| {
        assert_eq!((delivery.id(), delivery.attempt()), (id, 1));
        told.lock().unwrap().push(delivery.idempotency_key());
        async { Ok(()) }
    };
    let store = Watched::new(scene.harness.store());
    let first = spawn(scene.dispatcher_over(store.clone(), "d1", handle.clone()));
    let tried = || async { store.count(Verb::Settle) > 0 };
    scene.until("a settle", tried).await;
    scene.log.by("d1").fault();
    first.abort().await;
    assert_eq!(scene.harness.pending().await[0].id, id);
    assert_eq!(scene.harness.delivered().await, []);
    allow(&tables).await;
    let second = spawn(scene.dispatcher("d2", handle));
    scene.pending(0).await;
    second.shutdown().await;
    let keys = keys.lock().unwrap();
    assert_eq!(*keys, [keys[0].clone(), keys[0].clone()]);
    assert_eq!(scene.history().assert_clean().starts, 2);
}

/// What has been handled is not handled again (B055).
pub async fn a_refused_success_is_written_when_it_can_be<H: Harness + 'static>(scene: &Scene<H>) {
    let Some(tables) = scene.harness.tables() else {
        return;
    };
    refuse(&tables, None).await;
    for text in ["1", "2", "3"] {
        scene.emit("x", text).await;
    }
    let dispatcher = spawn(scene.dispatcher("d1", ok));
    scene.settled(1).await;
    a_moment().await;
    scene.pending(3).await;
    allow(&tables).await;
    scene.pending(0).await;
    dispatcher.shutdown().await;
    assert_eq!(scene.history().assert_clean().starts, 3, "none came twice");
}

/// And no other, whatever its outcomes share with it (interleaving 15).
pub async fn a_lasting_refusal_holds_back_its_own_aggregate<H: Harness + 'static>(
    scene: &Scene<H>,
) {
    let Some(tables) = scene.harness.tables() else {
        return;
    };
    scene.emit("x", "1").await;
    let position = scene.harness.pending().await[0].position;
    refuse(&tables, Some(position)).await;
    for number in 2..=200 {
        let key = if number % 50 == 0 { "x" } else { "y" };
        scene.emit(key, &number.to_string()).await;
    }
    let dispatcher = spawn(scene.dispatcher("d1", |text, delivery| async move {
        if text == "50" && delivery.attempt() == 1 {
            // Not before the first one's settle was refused.
            a_moment().await;
            return Err(HandlerError::retry("after it"));
        }
        Ok(())
    }));
    scene.pending(5).await;
    scene.emit("y", "more").await;
    scene.emit("z", "other").await;
    scene.pending(5).await;
    assert_eq!(scene.seen("x"), ["1"]);
    allow(&tables).await;
    scene.pending(0).await;
    dispatcher.shutdown().await;
    assert_eq!(scene.seen("x"), ["1", "50", "100", "150", "200"]);
    scene.history().assert_clean();
}

/// Lets no event go, or not the one at a position.
async fn refuse(tables: &Tables, position: Option<Position>) {
    let these = position.map_or("1 = 1".to_owned(), |position| {
        format!("OLD.seq = {position}")
    });
    let trigger = "CREATE TRIGGER refuse BEFORE DELETE ON \"outbox_event\" FOR EACH ROW";
    match tables.backend() {
        DbBackend::Postgres => {
            let function = "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
                RAISE EXCEPTION 'it must stay' USING ERRCODE = 'check_violation'; END $$";
            tables.run(function).await;
            let when = format!("{trigger} WHEN ({these}) EXECUTE FUNCTION refuse()");
            tables.run(&when).await;
        }
        DbBackend::MySql => {
            let signal = "SIGNAL SQLSTATE '23000' SET MYSQL_ERRNO = 4025, MESSAGE_TEXT = 'no'";
            let when = format!("{trigger} IF {these} THEN {signal}; END IF");
            tables.run(&when).await;
        }
        _ => {
            let abort = "BEGIN SELECT RAISE(ABORT, 'it must stay'); END";
            tables.run(&format!("{trigger} WHEN {these} {abort}")).await;
        }
    }
}

async fn allow(tables: &Tables) {
    match tables.backend() {
        DbBackend::Postgres => tables.run("DROP TRIGGER refuse ON \"outbox_event\"").await,
        _ => tables.run("DROP TRIGGER refuse").await,
    }
}
