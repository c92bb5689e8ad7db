//! What a handler does in a transaction and the completion of its event are one.

use super::{Actor, Effects, Harness, Thing};
use outbox_core::store::{Claim, Completion, History, Row, Store, TransactionalStore, Verdict};
use outbox_seaorm::SeaOrmStore;
use sea_orm::{ConnectionTrait, TransactionTrait};
use std::{error::Error, time::Duration};
use uuid::Uuid;

/// An owner, and an event that it is about to handle.
struct Scene {
    owner: Actor<SeaOrmStore>,
    row: Row,
    effects: Effects,
}

impl Scene {
    async fn new<H: Harness<Store = SeaOrmStore>>(harness: &H) -> Self {
        harness.emit(Thing::said("one")).await;
        let owner = Actor::owner(harness).await;
        let row = owner.rows().await.remove(0);
        let effects = Effects::beside(harness.tables().unwrap()).await;
        Self {
            owner,
            row,
            effects,
        }
    }

    fn claim(&self) -> Claim {
        let (member, owned) = (self.owner.member.id, self.owner.of(self.row.shard));
        Claim::new(member, owned, self.row.position, self.row.id)
    }

    fn store(&self) -> &SeaOrmStore {
        &self.owner.store
    }

    async fn begin(&self) -> Option<<SeaOrmStore as TransactionalStore>::Transaction> {
        self.store().claim(&self.claim()).await.unwrap()
    }

    /// Where the connection that claimed it before is still rolling back, a moment later.
    async fn begin_again(&self) -> <SeaOrmStore as TransactionalStore>::Transaction {
        let claimed = async {
            loop {
                if let Some(txn) = self.begin().await {
                    return txn;
                }
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        let claimed = tokio::time::timeout(Duration::from_secs(20), claimed).await;
        claimed.unwrap()
    }

    async fn complete(
        &self,
        txn: <SeaOrmStore as TransactionalStore>::Transaction,
        history: History,
    ) -> Completion {
        let completed = self.store().complete(txn, &self.claim(), history).await;
        completed.unwrap()
    }

    async fn done(&self) -> Vec<Uuid> {
        self.effects.all().await.remove("a").unwrap_or_default()
    }
}

/// Its writes, what it emits, and the end of its event.
pub async fn what_a_handler_did_commits_with_its_event<H: Harness<Store = SeaOrmStore>>(
    harness: &H,
) {
    let scene = Scene::new(harness).await;
    let txn = scene.begin().await.unwrap();
    Effects::add_of(&txn, "a", scene.row.id).await.unwrap();
    let outbox = harness.tables().unwrap().outbox;
    let follow_up = outbox.emit(&txn, Thing::of("b", "two")).await.unwrap().id();
    let completed = scene.complete(txn, History::Keep).await;
    assert_eq!(completed, Completion::Written);
    assert_eq!(scene.done().await, [scene.row.id]);
    let pending: Vec<_> = harness.pending().await.iter().map(|row| row.id).collect();
    assert_eq!(pending, [follow_up]);
    let delivered = harness.delivered().await;
    assert_eq!(delivered.len(), 1);
    assert_eq!(delivered[0].id, scene.row.id);
    assert_eq!(delivered[0].position, scene.row.position);
}

/// Nothing of it remains, and the event can be claimed again.
pub async fn what_a_handler_did_is_rolled_back_with_its_event<H: Harness<Store = SeaOrmStore>>(
    harness: &H,
) {
    let scene = Scene::new(harness).await;
    let before = harness.pending().await;
    for dropped in [false, true] {
        let txn = scene.begin().await.unwrap();
        Effects::add_of(&txn, "a", scene.row.id).await.unwrap();
        let outbox = harness.tables().unwrap().outbox;
        outbox.emit(&txn, Thing::of("b", "two")).await.unwrap();
        if dropped {
            drop(txn);
        } else {
            scene.store().roll_back(txn).await.unwrap();
        }
        assert!(scene.done().await.is_empty());
        assert_eq!(harness.pending().await, before);
    }
}

/// As a settle does.
pub async fn a_completed_event_is_kept_as_long_as_is_said<H: Harness<Store = SeaOrmStore>>(
    harness: &H,
) {
    let scene = Scene::new(harness).await;
    let txn = scene.begin().await.unwrap();
    let completed = scene.complete(txn, History::Discard).await;
    assert_eq!(completed, Completion::Written);
    assert_eq!(harness.pending().await, []);
    assert_eq!(harness.delivered().await, []);
}

/// The fence is locked last of all.
pub async fn a_former_owner_completes_nothing<H: Harness<Store = SeaOrmStore>>(harness: &H) {
    let scene = Scene::new(harness).await;
    let before = harness.pending().await;
    Actor::join(harness).await.evict(&scene.owner).await;
    Actor::owner(harness).await;
    let txn = scene.begin().await.unwrap();
    Effects::add_of(&txn, "a", scene.row.id).await.unwrap();
    let completed = scene.complete(txn, History::Keep).await;
    assert_eq!(completed, Completion::Lost);
    assert!(scene.done().await.is_empty());
    assert_eq!(harness.pending().await, before);
    assert_eq!(harness.delivered().await, []);
}

/// Of two dispatchers that both believe to own it, one works on it; the other does not wait.
pub async fn an_event_is_claimed_by_one_at_a_time<H: Harness<Store = SeaOrmStore>>(harness: &H) {
    let scene = Scene::new(harness).await;
    if scene.store().room().exclusive {
        println!("skipped: only one can have a transaction that writes");
        return;
    }
    let txn = scene.begin().await.unwrap();
    assert!(scene.begin().await.is_none());
    assert_eq!(harness.pending().await.len(), 1, "it is there");
    scene.store().roll_back(txn).await.unwrap();
    assert!(scene.begin().await.is_some());
}

/// Whoever claims what is not there finds nothing.
pub async fn what_is_gone_is_not_claimed<H: Harness<Store = SeaOrmStore>>(harness: &H) {
    let scene = Scene::new(harness).await;
    let mut other = scene.claim();
    other.id = Uuid::now_v7();
    let claimed = scene.store().claim(&other).await.unwrap();
    assert!(claimed.is_none(), "another event's position");
    scene.owner.settle(&scene.row, Verdict::Done).await;
    assert!(scene.begin().await.is_none());
}

/// What comes after the end of a transaction would be committed one by one, the completion too.
pub async fn a_transaction_that_its_handler_ended_completes_nothing<
    H: Harness<Store = SeaOrmStore>,
>(
    harness: &H,
) {
    let scene = Scene::new(harness).await;
    let before = harness.pending().await;
    let txn = scene.begin().await.unwrap();
    Effects::add_of(&txn, "a", scene.row.id).await.unwrap();
    txn.execute_unprepared("ROLLBACK").await.unwrap();
    let completed = scene
        .store()
        .complete(txn, &scene.claim(), History::Keep)
        .await;
    let written = matches!(completed, Ok(Completion::Written | Completion::Lost));
    assert!(!written, "{completed:?}");
    assert_eq!(harness.pending().await, before);
    assert_eq!(harness.delivered().await, []);
    assert!(scene.done().await.is_empty());
}

/// A task that the handler has left behind may hold it: the commit would be no commit, and one of the
/// nested transaction would be that of everything around it.
pub async fn a_nested_transaction_that_is_left_open_completes_nothing<
    H: Harness<Store = SeaOrmStore>,
>(
    harness: &H,
) {
    let scene = Scene::new(harness).await;
    let before = harness.pending().await;
    for (completes, commits) in [(true, true), (true, false), (false, true), (false, false)] {
        let txn = scene.begin_again().await;
        Effects::add_of(&txn, "a", scene.row.id).await.unwrap();
        let nested = txn.begin().await.unwrap();
        Effects::add_of(&nested, "a", scene.row.id).await.unwrap();
        if completes {
            let completed = scene
                .store()
                .complete(txn, &scene.claim(), History::Keep)
                .await;
            let told = completed.unwrap_err().source().unwrap().to_string();
            assert!(told.contains("nested transaction"), "{told}");
        } else {
            scene.store().roll_back(txn).await.unwrap();
        }
        if commits {
            // What is left of it; or an error.
            let _ = nested.commit().await;
        } else {
            drop(nested);
        }
        assert!(scene.done().await.is_empty(), "{completes} {commits}");
        assert_eq!(harness.pending().await, before);
        assert_eq!(harness.delivered().await, []);
    }
    // One that has ended in time is none, whatever its end was.
    let txn = scene.begin_again().await;
    let nested = txn.begin().await.unwrap();
    Effects::add_of(&nested, "a", scene.row.id).await.unwrap();
    nested.commit().await.unwrap();
    let nested = txn.begin().await.unwrap();
    Effects::add_of(&nested, "a", scene.row.id).await.unwrap();
    drop(nested.begin().await.unwrap());
    nested.rollback().await.unwrap();
    drop(txn.begin().await.unwrap());
    let completed = scene.complete(txn, History::Keep).await;
    assert_eq!(completed, Completion::Written);
    assert_eq!(scene.done().await, [scene.row.id]);
}

/// After a take-over what may have been in work is marked, and the former owner may hold it still.
pub async fn who_marks_crashes_waits_for_no_handler<H: Harness<Store = SeaOrmStore>>(harness: &H) {
    let scene = Scene::new(harness).await;
    if scene.store().room().exclusive {
        println!("skipped: nobody writes while a transaction is open");
        return;
    }
    let txn = scene.begin().await.unwrap();
    let (member, owned) = (scene.owner.member.id, scene.owner.of(scene.row.shard));
    let marks = [(scene.row.position, 1)];
    let marked = scene.store().mark_crashes(member, &owned, &marks);
    let marked = tokio::time::timeout(Duration::from_secs(30), marked).await;
    assert!(marked.unwrap().unwrap());
    scene.store().roll_back(txn).await.unwrap();
    // And once nobody holds it, it is marked.
    let marked = scene.store().mark_crashes(member, &owned, &marks).await;
    assert!(marked.unwrap());
    assert_eq!(harness.pending().await[0].crashes, 1);
}

/// The process that holds a claim stands still: the server ends it, and what it has done is undone. No
/// law, as there is no server behind every store.
pub async fn a_claim_that_stands_idle_is_ended_by_the_server<H: Harness<Store = SeaOrmStore>>(
    harness: &H,
    idle: Duration,
) {
    let scene = Scene::new(harness).await;
    let claim = scene.claim().idle_for(idle);
    let frozen = scene.store().claim(&claim).await.unwrap().unwrap();
    // It may have been ended before this.
    let _ = Effects::add_of(&frozen, "a", scene.row.id).await;
    let heir = scene.begin_again().await;
    assert!(scene.store().roll_back(frozen).await.is_err());
    assert!(scene.done().await.is_empty());
    let completed = scene.complete(heir, History::Keep).await;
    assert_eq!(completed, Completion::Written);
}
