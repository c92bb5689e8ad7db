//! What a test sees of an outbox, and how it lets time pass: the trait [`TestStore`].

use super::{Actor, Harness, Noted, Thing, failure::dead};
use outbox_core::{
    Draft,
    headers::TENANT_ID,
    operator::EventState,
    store::{DeadReason, Kept, Liveness, Member, Store, Verdict},
    testing::TestStore,
};
use outbox_seaorm::testing::{assert_emitted, refute_emitted};
use sea_orm::TransactionTrait;
use std::time::Duration;

const HOUR: Duration = Duration::from_secs(3600);

fn retry() -> Verdict {
    Verdict::Retry {
        attempts: 1,
        after: HOUR,
        error: "busy".to_owned(),
    }
}

/// Each event is there once, as it was emitted, in whatever table.
pub async fn what_was_emitted_is_told_whatever_became_of_it<H: Harness>(harness: &H) {
    let store = harness.store();
    refute_emitted!(&store);
    let said = [
        ("a", "delivered"),
        ("b", "dead"),
        ("c", "retrying"),
        ("d", "pending"),
    ];
    for (key, text) in said {
        let event = Thing::of(key, text).header(TENANT_ID, "acme");
        harness.emit(event).await;
    }
    let delay = Duration::from_millis(1_234_567);
    harness.emit(Thing::of("e", "scheduled").after(delay)).await;
    let text = "a \"quoted\" é 🙂 \\u0000".to_owned();
    harness.emit(Draft::new(&Noted { text })).await;
    let owner = Actor::owner(harness).await;
    let mut rows = owner.rows().await;
    rows.sort_by_key(|row| row.position);
    let verdicts = [Verdict::Done, dead(DeadReason::Rejected, true), retry()];
    for (row, verdict) in rows.iter().zip(verdicts) {
        owner.settle(row, verdict).await;
    }

    let states = [
        EventState::Delivered,
        EventState::Dead,
        EventState::Retrying,
        EventState::Pending,
        EventState::Scheduled,
    ];
    for state in states {
        let found = assert_emitted!(&store, Thing { text, .. } if text == state.as_str());
        let (emitted, envelope) = (&found.emitted, &found.emitted.envelope);
        assert_eq!(emitted.state, state);
        assert_eq!(envelope.key.as_deref(), Some(&*found.event.key));
        let row = rows.iter().find(|row| row.id == envelope.id);
        assert_eq!(envelope.position, row.map_or(0, |row| row.position));
        let delayed = (state == EventState::Scheduled).then_some(delay);
        assert_eq!(emitted.delay, delayed);
    }
    assert_emitted!(&store, Thing { text, .. } if text == "dead", TENANT_ID => "acme");
    let noted = assert_emitted!(&store, Noted { text } if text.contains('🙂'));
    assert!(!noted.emitted.envelope.ordered);
    assert_emitted!(
        &store,
        [
            Thing { .. },
            ..,
            Thing { text, .. } if text == "scheduled",
            Noted { .. },
        ]
    );
}

/// Before the commit it is seen in there; after a rollback it never was.
pub async fn a_transaction_shows_what_it_has_emitted<H: Harness>(harness: &H) {
    let tables = harness.tables().unwrap();
    let txn = tables.db.begin().await.unwrap();
    tables.outbox.emit(&txn, Thing::said("one")).await.unwrap();
    let inner = txn.begin().await.unwrap();
    let later = Thing::said("two").after(HOUR);
    tables.outbox.emit(&inner, later).await.unwrap();
    let [one, two] = ["one", "two"];
    assert_emitted!(
        tables.outbox.on(&inner),
        [
            Thing { text, .. } if text == one,
            Thing { text, .. } if text == two,
        ]
    );
    inner.rollback().await.unwrap();
    assert_emitted!(tables.outbox.on(&txn), [Thing { .. }]);
    refute_emitted!(tables.outbox.on(&txn), Thing { text, .. } if text == two);
    txn.rollback().await.unwrap();
    refute_emitted!(tables.outbox.on(&tables.db));
}

/// A delay, a pause before a retry, and what is kept for a time.
pub async fn time_that_is_let_pass_has_passed<H: Harness>(harness: &H) {
    let store = harness.store();
    let later = harness.emit(Thing::of("a", "later").after(HOUR)).await;
    harness.emit(Thing::of("b", "again")).await;
    harness.emit(Thing::of("c", "kept")).await;
    let owner = Actor::owner(harness).await;
    let mut rows = owner.rows().await;
    rows.sort_by_key(|row| row.position);
    owner.settle(&rows[0], retry()).await;
    owner.settle(&rows[1], Verdict::Done).await;
    let before = owner.fetch().await.shards;

    let minute = Duration::from_secs(60);
    store.advance(HOUR - minute).await.unwrap();
    assert_eq!(owner.move_due(10).await, Some(0));
    let waits = owner.rows().await[0].retry_in.unwrap();
    assert!(waits <= minute && waits > minute / 2, "{waits:?}");
    assert_eq!(prune(&owner).await, 0);
    let after = owner.fetch().await.shards;
    let changed = before.iter().zip(&after);
    assert!(
        changed
            .clone()
            .all(|(before, after)| before.revision != after.revision)
    );

    store.advance(minute).await.unwrap();
    assert_eq!(owner.rows().await[0].retry_in, Some(Duration::ZERO));
    assert_eq!(owner.move_due(10).await, Some(1));
    let rows = owner.rows().await;
    assert!(rows.iter().any(|row| row.id == later));
    assert_eq!(prune(&owner).await, 1);
    // What happened has not moved.
    let found = assert_emitted!(&store, Thing { text, .. } if text == "again");
    let again = found.emitted.envelope.occurred_at;
    let later = assert_emitted!(&store, Thing { text, .. } if text == "later");
    let apart = again - later.emitted.envelope.occurred_at;
    assert!(apart.num_minutes() == 0, "{apart}");
}

/// As long as the window lasts, and not longer.
pub async fn a_dedupe_key_is_forgotten_in_the_time_that_is_let_pass<H: Harness>(harness: &H) {
    let store = harness.store();
    let once = |text| {
        let event = Thing::said(text);
        event.dedupe_key("once").dedupe_window(HOUR)
    };
    let first = harness.emit(once("one")).await;
    store.advance(HOUR / 2).await.unwrap();
    assert_eq!(harness.emit(once("two")).await, first);
    store.advance(HOUR / 2).await.unwrap();
    assert_ne!(harness.emit(once("three")).await, first);
    let said = ["one", "three"];
    assert_emitted!(
        &store,
        [
            Thing { text, .. } if text == said[0],
            Thing { text, .. } if text == said[1],
        ]
    );
}

async fn prune<S: Store>(owner: &Actor<S>) -> usize {
    let prune = owner.store.prune(Kept::Delivered, HOUR, 10);
    prune.await.unwrap()
}

/// Who lives renews; who does not is seen to be gone.
pub async fn a_lease_runs_out_in_the_time_that_is_let_pass<H: Harness>(harness: &H) {
    let (store, member) = (harness.store(), Member::new("here:1", ""));
    store.join(&member, HOUR).await.unwrap();
    let liveness = async || {
        let members = store.members().await.unwrap();
        members[0].liveness
    };
    assert_eq!(liveness().await, Liveness::Alive);
    store.advance(HOUR).await.unwrap();
    assert_eq!(liveness().await, Liveness::Expired);
    assert!(store.renew(member.id, HOUR).await.unwrap());
    assert_eq!(liveness().await, Liveness::Alive);
}
