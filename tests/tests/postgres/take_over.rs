//! Taking shards while others do something with them. Interleavings 3 and 30.

use super::harness::Postgres;
use outbox_core::store::Store;
use outbox_tests::conformance::{Actor, Harness, Thing};
use sea_orm::TransactionTrait;

/// Interleaving 3: the statement's snapshot knows neither the member nor that it took the shard.
#[tokio::test]
async fn a_shard_that_was_taken_after_the_snapshot_is_not_stolen() {
    let harness = Postgres::<false>::fresh().await;
    let late = Actor::join(&harness).await;
    let seen = late.store.shards().await.unwrap();
    // Stops the statement where it looks for members.
    let sql = "ALTER TABLE outbox_dispatcher RENAME TO members; \
        CREATE FUNCTION stop(key text) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN \
        PERFORM pg_advisory_xact_lock(hashtextextended(key, 0)); RETURN true; END $$; \
        CREATE VIEW outbox_dispatcher AS SELECT * FROM members WHERE stop(current_schema())";
    super::database::run(&harness.0.db, sql).await;
    let stop = harness.0.db.begin().await.unwrap();
    let lock = "SELECT pg_advisory_xact_lock(hashtextextended(current_schema(), 0))";
    super::database::run(&stop, lock).await;
    let (store, member) = (late.store.clone(), late.member.id);
    let stalled = tokio::spawn(async move { store.take(member, &seen).await.unwrap() });
    harness.0.wait_for_advisory_waiter().await;

    // Another one joins and takes ten shards.
    let sql = "WITH joined AS (INSERT INTO members (id, lease_until, place, handles) \
        VALUES (gen_random_uuid(), now() + INTERVAL '1 hour', '', '') RETURNING id) \
        UPDATE outbox_shard SET owner = joined.id, epoch = epoch + 1 FROM joined WHERE shard < 10";
    harness.0.execute(sql, []).await;
    stop.rollback().await.unwrap();
    let won = stalled.await.unwrap();
    assert_eq!(won.len(), 54);
    assert!(won.iter().all(|owned| owned.shard >= 10));
}

/// The same with the rows themselves changing under the statement.
#[tokio::test]
async fn a_row_that_changes_under_the_statement_is_compared_again() {
    let harness = Postgres::<false>::fresh().await;
    let late = Actor::join(&harness).await;
    let other = Actor::join(&harness).await;
    let seen = late.store.shards().await.unwrap();
    // As another's take-over that has not committed: its shards are locked, and left alone.
    let txn = harness.0.db.begin().await.unwrap();
    let sql = "UPDATE outbox_shard SET owner = $1, epoch = epoch + 1 WHERE shard < 10";
    super::database::execute(&txn, sql, [other.member.id.into()]).await;
    let won = late.store.take(late.member.id, &seen[..20]).await.unwrap();
    assert_eq!(won.len(), 10);
    txn.commit().await.unwrap();
    let won = late.store.take(late.member.id, &seen).await.unwrap();
    assert_eq!(won.len(), 44);
}

/// Interleaving 30: a session that stopped while it held a shard stops nobody else.
#[tokio::test]
async fn one_locked_shard_holds_back_itself_only() {
    let harness = Postgres::<false>::fresh().await;
    let stopped = harness.0.db.begin().await.unwrap();
    let sql = "SELECT 1 FROM outbox_shard WHERE shard = 7 FOR SHARE";
    super::database::execute(&stopped, sql, []).await;
    let mut actor = Actor::join(&harness).await;
    assert_eq!(actor.take().await, 63);
    stopped.rollback().await.unwrap();
    assert_eq!(actor.take().await, 1);
}

/// Suspicion ends with the shard: other shards have higher positions.
#[tokio::test]
async fn suspects_are_those_of_the_shard() {
    let harness = Postgres::<false>::fresh().await;
    for key in 0..200 {
        harness.emit(Thing::of(&key.to_string(), "said")).await;
    }
    let dead = Actor::owner(&harness).await;
    let rows = dead.rows().await;
    let mut heir = Actor::join(&harness).await;
    heir.evict(&dead).await;
    heir.take().await;
    for owned in &heir.owned {
        let of_shard = rows.iter().filter(|row| row.shard == owned.shard);
        let last = of_shard.map(|row| row.position).max();
        assert_eq!(owned.suspect_to, last.unwrap_or(0));
    }
}
