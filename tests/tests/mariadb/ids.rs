//! An event's id is its own, whatever position the server gives it. B017.

use super::database::Database;
use outbox_seaorm::{Emit, entity::event};
use outbox_tests::{conformance::Thing, servers::PrivateServer};
use sea_orm::{DatabaseConnection, EntityTrait, TransactionTrait};
use std::{collections::HashMap, sync::Arc};
use tokio::sync::Barrier;

#[tokio::test(flavor = "multi_thread")]
async fn ids_name_their_events_whatever_the_increment() {
    let database = Database::fresh().await;
    let first = "SET auto_increment_increment = 7, auto_increment_offset = 3";
    let db = database.open(EMITTERS, first).await;
    ids_name_their_events(&db).await;
}

/// Where statements do not wait for each other's positions, which is what MySQL defaults to.
#[tokio::test(flavor = "multi_thread")]
async fn ids_name_their_events_where_positions_interleave() {
    let server = PrivateServer::mariadb_with(&[
        "--innodb-autoinc-lock-mode=2",
        "--auto-increment-increment=7",
        "--auto-increment-offset=3",
    ]);
    let database = Database::at(server.url()).await;
    let mode = database.values::<i64>("SELECT CAST(@@innodb_autoinc_lock_mode AS SIGNED) AS v");
    assert_eq!(mode.await, [2]);
    let db = database.open(EMITTERS, "SELECT 1").await;
    ids_name_their_events(&db).await;
}

const EMITTERS: u32 = 8;

/// Emits a lot in several transactions at once, each in several statements.
async fn ids_name_their_events(db: &DatabaseConnection) {
    let together = Arc::new(Barrier::new(EMITTERS as usize));
    let mut emitters = Vec::new();
    for emitter in 0..EMITTERS {
        let (db, together) = (db.clone(), Arc::clone(&together));
        emitters.push(tokio::spawn(async move {
            let long = "x".repeat(3_000);
            let texts: Vec<_> = (0..500).map(|n| format!("{emitter}-{n} {long}")).collect();
            let key = emitter.to_string();
            let txn = db.begin().await.unwrap();
            together.wait().await;
            let things = texts.iter().map(|text| Thing::of(&key, text));
            let ids = txn.emit_all(things).await.unwrap();
            txn.commit().await.unwrap();
            (texts, ids)
        }));
    }
    let mut written = Vec::new();
    for emitter in emitters {
        written.push(emitter.await.unwrap());
    }
    let stored = event::Entity::find().all(db).await.unwrap();
    let stored: HashMap<_, _> = stored.into_iter().map(|row| (row.id, row)).collect();
    assert_eq!(stored.len(), EMITTERS as usize * 500);
    let mut ends = Vec::new();
    for (texts, ids) in written {
        let mut last = 0;
        for (text, id) in texts.iter().zip(&ids) {
            let row = &stored[&id.id()];
            assert!(row.payload["text"] == **text, "{}", id.id());
            assert!(row.seq > last && row.seq % 7 == 3);
            last = row.seq;
        }
        ends.push((stored[&ids[0].id()].seq, last));
    }
    ends.sort_unstable();
    let overlap = |pair: &[(i64, i64)]| pair[0].1 > pair[1].0;
    assert!(
        ends.windows(2).any(overlap),
        "one after the other: {ends:?}"
    );
}
