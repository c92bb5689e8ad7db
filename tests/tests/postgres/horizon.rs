//! What a fetch proves about positions that it did not see. Two writers, in every bad order.

use super::{database::Database, harness::Postgres};
use outbox_core::store::{Cursor, Fetched, Horizon, Position, Shard};
use outbox_seaorm::SeaOrmStore;
use outbox_tests::conformance::{Actor, Harness, Thing};
use sea_orm::{ConnectionTrait, DatabaseTransaction, TransactionTrait};

type Owner = Actor<SeaOrmStore>;

/// A schema, and an owner of all its shards.
async fn owned() -> (Database, Owner) {
    let harness = Postgres::<false>::fresh().await;
    let owner = Actor::owner(&harness).await;
    (harness.0, owner)
}

async fn begin(database: &Database) -> DatabaseTransaction {
    database.db.begin().await.unwrap()
}

/// Emits an event of an aggregate.
async fn emit(database: &Database, txn: &DatabaseTransaction, key: &str) {
    let event = Thing::of(key, "said");
    database.outbox.emit(txn, event).await.unwrap();
}

fn ids(fetched: &Fetched) -> (u64, u64) {
    match fetched.horizon {
        Horizon::Transactions { next, oldest } => (next, oldest),
        other => panic!("{other:?}"),
    }
}

fn positions(fetched: &Fetched) -> Vec<Position> {
    fetched.rows.iter().map(|row| row.position).collect()
}

/// A reader's cursor after it has read up to a position.
fn read_to(owner: &Owner, shard: Shard, scan: Position) -> Cursor {
    let mut cursor = Cursor::new(shard, owner.of(shard).epoch, 10);
    cursor.scan = scan;
    cursor
}

/// Interleaving 1: X:1 is open while a later position commits and is read.
#[tokio::test]
async fn an_event_that_commits_late_comes_before_its_successor() {
    let (database, owner) = owned().await;
    let first = begin(&database).await;
    emit(&database, &first, "x").await;
    let second = begin(&database).await;
    emit(&database, &second, "x").await;
    second.commit().await.unwrap();
    let fetched = owner.fetch().await;
    let (shard, scan) = (fetched.rows[0].shard, fetched.rows[0].position);
    let (bound, oldest) = ids(&fetched);
    assert!(oldest < bound, "the first writer is open");
    first.commit().await.unwrap();

    // Nothing is proven yet, so that the next fetch reads from the old floor, and finds it.
    let fetched = owner.fetch_from(&[read_to(&owner, shard, scan)]).await;
    assert_eq!(fetched.again, [(shard, scan - 1), (shard, scan)]);
}

/// Interleaving 21: a transaction that has its id already, and no position yet, commits behind one
/// that is open. The end of its snapshot is not the next id.
#[tokio::test]
async fn the_bound_is_beyond_every_writer_that_may_hold_a_lower_position() {
    let (database, owner) = owned().await;
    let b = begin(&database).await;
    let business = "SELECT pg_current_xact_id()";
    b.execute_unprepared(business).await.unwrap();
    let a = begin(&database).await;
    emit(&database, &a, "x").await;
    let id = "SELECT pg_current_xact_id()::text::bigint AS n";
    let statement = sea_orm::Statement::from_string(sea_orm::DbBackend::Postgres, id);
    let row = a.query_one_raw(statement).await.unwrap().unwrap();
    let id_of_a: i64 = row.try_get("", "n").unwrap();
    emit(&database, &b, "y").await;
    b.commit().await.unwrap();

    let fetched = owner.fetch().await;
    assert_eq!(fetched.rows.len(), 1);
    let (bound, oldest) = ids(&fetched);
    assert!(bound > id_of_a.unsigned_abs(), "{bound} {id_of_a}");
    assert!(oldest <= id_of_a.unsigned_abs());
    // As long as it is open, no fetch proves the bound.
    assert!(ids(&owner.fetch().await).1 < bound);
    emit(&database, &a, "x").await;
    a.commit().await.unwrap();
    // Other tests have writers, too: at some time they all are younger.
    for _ in 0..6000 {
        let fetched = owner.fetch().await;
        if ids(&fetched).1 >= bound {
            assert_eq!(fetched.rows.len(), 3);
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    panic!("never proven");
}

/// Interleaving 7: the position is taken after the id, also by a statement whose row is long on its
/// way to the table.
#[tokio::test]
async fn a_position_is_taken_by_a_transaction_that_has_an_id() {
    let (database, owner) = owned().await;
    // For the first position, and then for each thirty-third, the sequence itself takes an id.
    database.emit(Thing::of("before", "0")).await;
    let sql = "CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
        IF NEW.aggregateid = 'slow' THEN PERFORM pg_advisory_xact_lock(NEW.seq); END IF; \
        RETURN NEW; END $$; \
        CREATE TRIGGER slow BEFORE INSERT ON outbox_event FOR EACH ROW EXECUTE FUNCTION slow()";
    super::database::run(&database.db, sql).await;
    // Whoever has the lock stops the writer between its position and its row.
    let holder = begin(&database).await;
    holder
        .execute_unprepared("SELECT pg_advisory_xact_lock(n) FROM generate_series(1, 9) AS n")
        .await
        .unwrap();
    let (db, outbox) = (database.db.clone(), database.outbox.clone());
    let stopped = tokio::spawn(async move {
        let txn = db.begin().await.unwrap();
        outbox.emit(&txn, Thing::of("slow", "1")).await.unwrap();
        txn.commit().await.unwrap();
    });
    database.wait_for_advisory_waiter().await;
    // Not by the horizon alone, which others hold back too.
    let with_id = "wait_event = 'advisory' AND backend_xid IS NOT NULL";
    assert_eq!(database.sessions(with_id).await, 1);
    database.emit(Thing::of("quick", "2")).await;

    let fetched = owner.fetch().await;
    assert_eq!(positions(&fetched), [1, 3]);
    let (bound, oldest) = ids(&fetched);
    assert!(oldest < bound, "the stopped writer has an id");
    assert!(ids(&owner.fetch().await).1 < bound);
    holder.rollback().await.unwrap();
    stopped.await.unwrap();
    assert_eq!(owner.rows().await.len(), 3);
}

/// Interleaving 7, too: a position that a session had kept for later would be lower than one that was
/// read, and belong to a transaction with a higher id.
#[tokio::test]
async fn no_session_keeps_positions_for_itself() {
    let (database, owner) = owned().await;
    let sessions = [database.open_again(1).await, database.open_again(1).await];
    let mut emitted = Vec::new();
    for db in sessions.iter().cycle().take(6) {
        let txn = db.begin().await.unwrap();
        let event = Thing::of("x", "said");
        emitted.push(database.outbox.emit(&txn, event).await.unwrap().id());
        txn.commit().await.unwrap();
    }
    let rows = owner.rows().await;
    assert_eq!(rows.iter().map(|row| row.id).collect::<Vec<_>>(), emitted);
}

/// A savepoint has an id of its own; the position belongs to the transaction.
#[tokio::test]
async fn a_savepoint_does_not_hide_its_transaction() {
    let (database, owner) = owned().await;
    let outer = begin(&database).await;
    let inner = outer.begin().await.unwrap();
    emit(&database, &inner, "x").await;
    inner.commit().await.unwrap();
    database.emit(Thing::of("x", "later")).await;
    let (bound, oldest) = ids(&owner.fetch().await);
    assert!(oldest < bound);
    assert!(ids(&owner.fetch().await).1 < bound);
    outer.commit().await.unwrap();
    assert_eq!(owner.rows().await.len(), 2);
}

/// Not the snapshot before which something was written, but what the server counts.
#[tokio::test]
async fn a_position_beyond_32_bits_is_read_and_settled() {
    use outbox_core::store::{Settled, Verdict};
    let (database, owner) = owned().await;
    let sql = "SELECT setval('outbox_event_seq', 5000000000)";
    super::database::run(&database.db, sql).await;
    database.emit(Thing::said("far")).await;
    let row = owner.rows().await.remove(0);
    assert_eq!(row.position, 5_000_000_001);
    let settled = owner.settle(&row, Verdict::Done).await;
    assert_eq!(settled, Settled::Written { gone: vec![] });
    assert_eq!(owner.rows().await, []);
}
