//! A settle that is stopped between its fence and its end. Interleaving 4.

use super::{database::Database, harness::Postgres};
use outbox_core::store::{DeadReason, History, Outcomes, Row, Settled, Settlement, Store, Verdict};
use outbox_seaorm::SeaOrmStore;
use outbox_tests::conformance::{Actor, Harness, Thing};
use sea_orm::TransactionTrait;
use std::time::Duration;

struct Scene {
    harness: Postgres<false>,
    former: Actor<SeaOrmStore>,
    row: Row,
}

impl Scene {
    async fn new() -> Self {
        let harness = Postgres::<false>::fresh().await;
        harness.emit(Thing::said("one")).await;
        let former = Actor::owner(&harness).await;
        let row = former.rows().await.remove(0);
        Self {
            harness,
            former,
            row,
        }
    }

    fn database(&self) -> &Database {
        &self.harness.0
    }

    /// The former owner's settle, on its way.
    fn settle(&self, verdict: Verdict) -> tokio::task::JoinHandle<Vec<Settled>> {
        let outcome = Settlement::new(self.row.position, self.row.id, verdict);
        let outcomes = [Outcomes::new(self.former.of(self.row.shard), vec![outcome])];
        let former = self.former.clone();
        tokio::spawn(async move {
            let settled = former
                .store
                .settle(former.member.id, &outcomes, History::Keep);
            settled.await.unwrap()
        })
    }
}

fn dead() -> Verdict {
    Verdict::Dead {
        reason: DeadReason::Rejected,
        error: "no".to_owned(),
        blocks: true,
    }
}

fn retry() -> Verdict {
    Verdict::Retry {
        attempts: 1,
        after: Duration::from_secs(60),
        error: "no".to_owned(),
    }
}

/// Between the fence and its commit nobody takes the shard: the take-over leaves it for later.
#[tokio::test]
async fn a_settle_that_holds_the_fence_keeps_the_shard() {
    for verdict in [dead(), Verdict::Done] {
        the_shard_is_kept(verdict).await;
    }
}

async fn the_shard_is_kept(verdict: Verdict) {
    let scene = Scene::new().await;
    // Stops the settle between its fence and its end: a letter is written when the fence is locked,
    // and a constraint that is deferred is checked at the commit.
    let sql = "CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
        PERFORM pg_advisory_xact_lock(hashtextextended(NEW.id::text, 0)); RETURN NEW; END $$; \
        CREATE TRIGGER slow BEFORE INSERT ON outbox_dead FOR EACH ROW EXECUTE FUNCTION slow(); \
        CREATE CONSTRAINT TRIGGER slow AFTER INSERT ON outbox_delivered \
        DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION slow()";
    super::database::run(&scene.database().db, sql).await;
    let holder = scene.database().db.begin().await.unwrap();
    let lock = format!(
        "SELECT pg_advisory_xact_lock(hashtextextended('{}', 0))",
        scene.row.id
    );
    super::database::run(&holder, &lock).await;
    let is_letter = verdict != Verdict::Done;
    let settle = scene.settle(verdict);
    scene.database().wait_for_advisory_waiter().await;

    let mut heir = Actor::join(&scene.harness).await;
    heir.evict(&scene.former).await;
    assert_eq!(heir.take().await, scene.former.owned.len() - 1);
    holder.rollback().await.unwrap();
    assert_eq!(settle.await.unwrap(), [Settled::Written { gone: vec![] }]);
    assert_eq!(heir.take().await, 1);
    let blocked = heir.store.blocked(&[scene.row.shard]).await.unwrap();
    assert_eq!(blocked.len(), usize::from(is_letter));
    assert_eq!(heir.rows().await, []);
}

/// One statement for all shards, an answer for each.
#[tokio::test]
async fn shards_of_one_settle_are_answered_one_by_one() {
    let harness = Postgres::<false>::fresh().await;
    for key in 0..20 {
        harness.emit(Thing::of(&key.to_string(), "said")).await;
    }
    let owner = Actor::owner(&harness).await;
    let rows = owner.rows().await;
    let (kept, lost) = (rows[0].shard, rows[rows.len() - 1].shard);
    assert_ne!(kept, lost);
    let given_up = [owner.of(lost)];
    owner
        .store
        .release(owner.member.id, &given_up)
        .await
        .unwrap();
    let outcomes = [kept, lost].map(|shard| {
        let of_shard = rows.iter().filter(|row| row.shard == shard);
        let outcome = |row: &Row| Settlement::new(row.position, row.id, retry());
        Outcomes::new(owner.of(shard), of_shard.map(outcome).collect())
    });
    let settled = owner
        .store
        .settle(owner.member.id, &outcomes, History::Keep);
    let written = Settled::Written { gone: vec![] };
    assert_eq!(settled.await.unwrap(), [written, Settled::Lost]);
    let failed = harness.pending().await;
    let failed = failed.iter().filter(|row| row.attempts == 1).count();
    assert_eq!(failed, outcomes[0].settlements.len());
}

/// An error text is the application's, and PostgreSQL's texts hold no NUL. B001.
#[tokio::test]
async fn an_error_with_a_nul_is_kept_without_it() {
    let scene = Scene::new().await;
    let verdict = Verdict::Retry {
        attempts: 1,
        after: Duration::MAX,
        error: "a\0b".to_owned(),
    };
    scene.former.settle(&scene.row, verdict).await;
    let pending = scene.harness.pending().await;
    assert_eq!(pending[0].last_error.as_deref(), Some("a\u{fffd}b"));
}
