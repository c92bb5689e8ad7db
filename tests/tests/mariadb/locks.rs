//! Sessions that meet. Each test forces one interleaving by holding a transaction open.

use super::{
    database::{emit, execute},
    harness::MariaDb,
};
use outbox_core::store::{DeadReason, History, Outcomes, Settled, Settlement, Store, Verdict};
use outbox_seaorm::Emit;
use outbox_tests::conformance::{Actor, Harness, Thing};
use sea_orm::{IsolationLevel, TransactionTrait};
use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

fn dead() -> Verdict {
    Verdict::Dead {
        reason: DeadReason::Rejected,
        error: "no".to_owned(),
        blocks: true,
    }
}

/// Interleavings 4 and 31: an outcome that is under way when the shard gets its next owner.
#[tokio::test]
async fn an_outcome_waits_for_a_take_over_and_is_refused() {
    for verdict in [dead(), Verdict::Done] {
        let harness = MariaDb::fresh().await;
        harness.emit(Thing::said("one")).await;
        let owner = Actor::owner(&harness).await;
        let row = owner.rows().await.remove(0);
        let pending = harness.pending().await;

        let taker = harness.0.db.begin().await.unwrap();
        execute(&taker, "UPDATE outbox_shard SET epoch = epoch + 1", []).await;
        let settle = tokio::spawn(async move { owner.settle(&row, verdict).await });
        harness.0.wait_for_waiters().await;
        taker.commit().await.unwrap();
        assert_eq!(settle.await.unwrap(), Settled::Lost);
        assert_eq!(harness.pending().await, pending);
        assert_eq!(harness.dead().await, []);
        assert_eq!(harness.delivered().await, []);
    }
}

/// Interleaving 4: between the fence and its commit nobody takes the shard, the take-over leaves it for
/// later.
#[tokio::test]
async fn a_settle_that_holds_the_fence_keeps_the_shard() {
    for (verdict, table) in [(dead(), "dead"), (Verdict::Done, "delivered")] {
        let harness = MariaDb::fresh().await;
        harness.emit(Thing::said("one")).await;
        let former = Actor::owner(&harness).await;
        let row = former.rows().await.remove(0);
        // Stops it where it writes to a table that its fence comes before.
        let holder = harness.0.db.begin().await.unwrap();
        let place = format!("SELECT * FROM outbox_{table} WHERE seq >= 0 FOR UPDATE");
        execute(&holder, &place, []).await;
        let (settling, settled) = (former.clone(), row.clone());
        let settle = tokio::spawn(async move { settling.settle(&settled, verdict).await });
        harness.0.wait_for_waiters().await;

        let mut heir = Actor::join(&harness).await;
        heir.evict(&former).await;
        assert_eq!(heir.take().await, former.owned.len() - 1);
        assert!(heir.owned.iter().all(|owned| owned.shard != row.shard));
        holder.rollback().await.unwrap();
        assert_eq!(settle.await.unwrap(), Settled::Written { gone: vec![] });
        assert_eq!(heir.take().await, 1);
        let blocked = heir.store.blocked(&[row.shard]).await.unwrap();
        assert_eq!(blocked.len(), usize::from(table == "dead"));
        assert_eq!(heir.rows().await, []);
    }
}

/// Interleaving 3: another one takes shards at this moment, and then holds them.
#[tokio::test]
async fn a_shard_that_is_being_taken_is_left_alone() {
    let harness = MariaDb::fresh().await;
    let late = Actor::join(&harness).await;
    let other = Actor::join(&harness).await;
    let seen = late.store.shards().await.unwrap();
    // As a store takes them: without gap locks, which would reach to the next shard.
    let isolation = Some(IsolationLevel::ReadCommitted);
    let taker = harness.0.db.begin_with_config(isolation, None);
    let taker = taker.await.unwrap();
    let sql = "UPDATE outbox_shard SET owner = ?, epoch = epoch + 1 WHERE shard < 10";
    execute(&taker, sql, [other.member.id.into()]).await;
    let won = late.store.take(late.member.id, &seen[..20]).await.unwrap();
    assert_eq!(won.len(), 10);
    assert!(won.iter().all(|owned| owned.shard >= 10));
    taker.commit().await.unwrap();
    let won = late.store.take(late.member.id, &seen).await.unwrap();
    assert_eq!(won.len(), 44);
}

/// Interleaving 28: an operator is putting off what is about to move.
#[tokio::test]
async fn an_event_that_is_put_off_while_it_is_about_to_move_stays() {
    let harness = MariaDb::fresh().await;
    let soon = Duration::from_millis(1);
    let put_off = harness.emit(Thing::said("put off").after(soon)).await;
    let moved = harness.emit(Thing::said("moved").after(2 * soon)).await;
    harness.pass(20 * soon).await;
    let owner = Actor::owner(&harness).await;

    let operator = harness.0.db.begin().await.unwrap();
    let sql = "UPDATE outbox_delayed SET due_at = due_at + INTERVAL 1 HOUR WHERE id = ?";
    execute(&operator, sql, [put_off.into()]).await;
    let mover = owner.clone();
    let mover = tokio::spawn(async move { mover.move_due(10).await });
    harness.0.wait_for_waiters().await;
    operator.commit().await.unwrap();
    assert_eq!(mover.await.unwrap(), Some(1));
    assert_eq!(harness.delayed().await, [put_off]);
    let rows = owner.rows().await;
    assert_eq!(rows.iter().map(|row| row.id).collect::<Vec<_>>(), [moved]);
}

/// Interleaving 17: a verb that waits holds no gap into which an application writes.
#[tokio::test]
async fn a_mover_that_waits_holds_up_no_emit() {
    let harness = MariaDb::fresh().await;
    let soon = Duration::from_millis(1);
    harness.emit(Thing::said("first").after(soon)).await;
    let held = harness.emit(Thing::said("held").after(2 * soon)).await;
    harness.pass(20 * soon).await;
    let owner = Actor::owner(&harness).await;

    let holder = harness.0.db.begin().await.unwrap();
    let sql = "SELECT * FROM outbox_delayed WHERE id = ? FOR UPDATE";
    execute(&holder, sql, [held.into()]).await;
    let mover = tokio::spawn(async move { owner.move_due(10).await });
    harness.0.wait_for_waiters().await;
    let early = harness.0.now().await - Duration::from_secs(3600);
    let early = harness.emit(Thing::said("early").at(early));
    tokio::time::timeout(Duration::from_secs(20), early)
        .await
        .unwrap();
    holder.rollback().await.unwrap();
    assert_eq!(mover.await.unwrap(), Some(2));
}

/// Interleaving 30.
#[tokio::test]
async fn a_session_that_stopped_on_one_shard_holds_up_no_other() {
    let harness = MariaDb::fresh().await;
    let holder = harness.0.db.begin().await.unwrap();
    execute(
        &holder,
        "SELECT * FROM outbox_shard WHERE shard = 7 FOR UPDATE",
        [],
    )
    .await;
    let mut actor = Actor::join(&harness).await;
    assert_eq!(actor.take().await, 63);
    assert!(actor.owned.iter().all(|owned| owned.shard != 7));
    holder.rollback().await.unwrap();
}

/// A member that is renewing its lease at this moment is not taken for gone.
#[tokio::test]
async fn a_locked_member_is_a_member() {
    let harness = MariaDb::fresh().await;
    let owner = Actor::owner(&harness).await;
    let other = outbox_core::store::Member::new("here:2", "");
    let lease = Duration::from_secs(60);
    harness.store().join(&other, lease).await.unwrap();
    let renewing = harness.0.db.begin().await.unwrap();
    let sql = "SELECT * FROM outbox_dispatcher FOR UPDATE";
    execute(&renewing, sql, []).await;
    let seen = harness.store().shards().await.unwrap();
    let won = harness.store().take(other.id, &seen).await.unwrap();
    assert_eq!(won, []);
    renewing.rollback().await.unwrap();
    assert_eq!(owner.fetch().await.shards.len(), 64);
}

/// An application's open transaction holds up nothing but its own event, and no gap lock of the
/// dispatcher holds up the application.
#[tokio::test]
async fn an_open_emit_and_a_dispatcher_do_not_meet() {
    let harness = MariaDb::fresh().await;
    harness.emit(Thing::said("one")).await;
    let open = harness.0.db.begin().await.unwrap();
    open.emit(Thing::said("open")).await.unwrap();
    harness.emit(Thing::said("two")).await;

    let start = Instant::now();
    let owner = Actor::owner(&harness).await;
    let rows = owner.rows().await;
    assert_eq!(rows.len(), 2);
    owner.settle(&rows[0], Verdict::Done).await;
    owner.settle(&rows[1], dead()).await;
    assert_eq!(owner.move_due(10).await, Some(0));
    open.emit(Thing::said("open too")).await.unwrap();
    assert!(start.elapsed() < Duration::from_secs(20));
    open.commit().await.unwrap();
    assert_eq!(owner.rows().await.len(), 2);
}

/// Interleaving 17: a single SELECT locks nothing, also where transactions are serializable.
#[tokio::test]
async fn reading_does_not_wait_where_sessions_are_serializable() {
    let harness = MariaDb::fresh().await;
    harness.emit(Thing::said("one")).await;
    let mut owner = Actor::owner(&harness).await;
    let first = "SET SESSION tx_isolation = 'SERIALIZABLE', innodb_lock_wait_timeout = 1";
    owner.store = outbox_seaorm::SeaOrmStore::from(&harness.0.open(2, first).await);
    let open = harness.0.db.begin().await.unwrap();
    execute(&open, "UPDATE outbox_event SET last_error = 'x'", []).await;
    execute(&open, "UPDATE outbox_shard SET suspect_to = 7", []).await;
    let rows = owner.rows().await;
    assert_eq!(rows.len(), 1);
    let read = owner
        .store
        .read(&[rows[0].position], usize::MAX)
        .await
        .unwrap();
    assert_eq!(read.len(), 1);
    open.commit().await.unwrap();
    owner.settle(&rows[0], Verdict::Done).await;
}

/// Writers in the server's default isolation, REPEATABLE READ, beside every verb.
#[tokio::test(flavor = "multi_thread")]
async fn writers_and_dispatcher_do_not_deadlock() {
    const EACH: usize = 150;
    let harness = MariaDb::fresh().await;
    let done = std::sync::Arc::new(AtomicBool::new(false));
    let mut writers = Vec::new();
    for writer in 0..4 {
        let db = harness.0.open(1, "SET innodb_lock_wait_timeout = 10").await;
        writers.push(tokio::spawn(async move {
            for n in 0..EACH {
                let key = format!("{writer}-{}", n % 5);
                if n % 10 == 0 {
                    let soon = Duration::from_millis(1);
                    emit(&db, Thing::of(&key, "later").after(soon)).await;
                } else {
                    emit(&db, Thing::of(&key, "now")).await;
                }
            }
        }));
    }
    let finished = {
        let done = done.clone();
        tokio::spawn(async move {
            for writer in writers {
                writer.await.unwrap();
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
            done.store(true, Ordering::SeqCst);
        })
    };

    // Two sessions settle at once: the former owner, who is refused, and the new one.
    let former = Actor::owner(&harness).await;
    Actor::join(&harness).await.evict(&former).await;
    let owner = Actor::owner(&harness).await;
    loop {
        let last = done.load(Ordering::SeqCst);
        owner.move_due(100).await.unwrap();
        let rows = owner.rows().await;
        let mut outcomes = Vec::new();
        let mut again = Vec::new();
        for owned in &owner.owned {
            let of_shard = rows.iter().filter(|row| row.shard == owned.shard);
            let settle = |verdict: Verdict| {
                let of_shard = of_shard.clone();
                of_shard
                    .map(|row| Settlement::new(row.position, row.id, verdict.clone()))
                    .collect::<Vec<_>>()
            };
            let verdict = if owned.shard % 3 == 0 {
                dead()
            } else {
                Verdict::Done
            };
            outcomes.push(Outcomes::new(*owned, settle(verdict)));
            again.push(Outcomes::new(former.of(owned.shard), settle(Verdict::Done)));
        }
        let (one, two) = tokio::join!(
            owner
                .store
                .settle(owner.member.id, &outcomes, History::Keep),
            former.store.settle(former.member.id, &again, History::Keep),
        );
        one.unwrap();
        assert!(two.unwrap().iter().all(|settled| *settled == Settled::Lost));
        if last && rows.is_empty() && harness.delayed().await.is_empty() {
            break;
        }
    }
    finished.await.unwrap();
    let settled = harness.delivered().await.len() + harness.dead().await.len();
    assert_eq!(settled, 4 * EACH);
}
