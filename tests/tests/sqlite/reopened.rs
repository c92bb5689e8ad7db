//! What stays when the file is opened again.

use super::{
    database::{Database, emit},
    harness::Sqlite,
};
use outbox_core::store::Verdict;
use outbox_tests::conformance::{Actor, Harness, Thing};

#[tokio::test]
async fn no_position_is_used_twice() {
    let database = Database::in_file().await;
    emit(&database.db, Thing::said("one")).await;
    let first = database.query("SELECT seq FROM outbox_event").await;
    let first: i64 = first[0].try_get("", "seq").unwrap();
    database.execute("DELETE FROM outbox_event", []).await;
    database.db.clone().close().await.unwrap();

    let db = database.open_again().await;
    emit(&db, Thing::said("two")).await;
    let database = Database::replace(database, db);
    let second = database.query("SELECT seq FROM outbox_event").await;
    let second: i64 = second[0].try_get("", "seq").unwrap();
    assert!(second > first);
}

#[tokio::test]
async fn a_letter_whose_position_is_taken_among_the_dead_is_not_lost() {
    let harness = Sqlite::<false>::fresh().await;
    harness.emit(Thing::said("one")).await;
    let owner = Actor::owner(&harness).await;
    let row = owner.rows().await.remove(0);
    let dead = Verdict::Dead {
        reason: outbox_core::store::DeadReason::Rejected,
        error: "no".to_owned(),
        blocks: false,
    };
    owner.settle(&row, dead.clone()).await;
    // As after a restore of the events without the dead letters.
    let other = harness.emit(Thing::said("other")).await;
    harness.move_event(other, row.position).await;
    let row = owner.rows().await.remove(0);
    assert_eq!(row.id, other);
    owner.settle(&row, dead).await;
    assert_eq!(owner.rows().await, [row]);
}
