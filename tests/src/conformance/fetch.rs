//! A fetch reads what its reader owns, in order, and writes nothing.

use super::{Actor, Harness, Thing, operators::requeue};
use outbox_core::store::{
    Cursor, DeadReason, FetchRequest, Fetched, Position, Row, Store, Verdict,
};
use std::time::Duration;

async fn emit_five<H: Harness>(harness: &H) -> Vec<Position> {
    for text in ["one", "two", "three", "four", "five"] {
        harness.emit(Thing::said(text)).await;
    }
    let pending = harness.pending().await;
    pending.iter().map(|row| row.position).collect()
}

fn positions(fetched: &Fetched) -> Vec<Position> {
    fetched.rows.iter().map(|row| row.position).collect()
}

fn again(fetched: &Fetched) -> Vec<Position> {
    fetched
        .again
        .iter()
        .map(|(_, position)| *position)
        .collect()
}

/// The events of a shard are read by position.
pub async fn events_come_in_position_order<H: Harness>(harness: &H) {
    let expected = emit_five(harness).await;
    let fetched = Actor::owner(harness).await.fetch().await;
    assert_eq!(positions(&fetched), expected);
    assert!(expected.is_sorted() && expected[0] >= 1);
}

/// Another member reads nothing, and sees that it owns nothing.
pub async fn only_the_owner_reads<H: Harness>(harness: &H) {
    emit_five(harness).await;
    let owner = Actor::owner(harness).await;
    let mut other = Actor::join(harness).await;
    other.owned.clone_from(&owner.owned);
    let fetched = other.fetch().await;
    assert_eq!((fetched.shards, fetched.rows), (vec![], vec![]));
    assert_eq!(owner.fetch().await.shards.len(), owner.owned.len());
}

/// The owner itself reads nothing at an epoch that has passed.
pub async fn an_old_epoch_reads_nothing<H: Harness>(harness: &H) {
    emit_five(harness).await;
    let mut owner = Actor::owner(harness).await;
    let old = owner.cursors();
    owner.release().await;
    owner.take().await;
    let fetched = owner.fetch_from(&old).await;
    assert_eq!((fetched.shards, fetched.rows), (vec![], vec![]));
}

/// Owning is told apart from having events.
pub async fn an_empty_shard_is_seen<H: Harness>(harness: &H) {
    let owner = Actor::owner(harness).await;
    let fetched = owner.fetch().await;
    assert_eq!(fetched.rows, []);
    let mut seen: Vec<_> = fetched.shards.iter().map(|seen| seen.shard).collect();
    let mut owned: Vec<_> = owner.owned.iter().map(|owned| owned.shard).collect();
    seen.sort_unstable();
    owned.sort_unstable();
    assert_eq!(seen, owned);
    assert!(fetched.shards.iter().all(|seen| seen.due_in.is_none()));
}

/// Where there are events in (floor, scan] is told whatever the limit; the limit counts what lies
/// beyond.
pub async fn the_limit_counts_from_scan_on<H: Harness>(harness: &H) {
    let at = emit_five(harness).await;
    let owner = Actor::owner(harness).await;
    let shard = owner.rows().await[0].shard;
    let mut cursor = Cursor::new(shard, owner.of(shard).epoch, 2);
    let fetched = owner.fetch_from(&[cursor]).await;
    assert_eq!(
        (positions(&fetched), again(&fetched)),
        (at[..2].into(), vec![])
    );
    (cursor.scan, cursor.limit) = (at[2], 1);
    let fetched = owner.fetch_from(&[cursor]).await;
    assert_eq!(
        (positions(&fetched), again(&fetched)),
        (at[3..4].into(), at[..3].into())
    );
    cursor.limit = 0;
    let fetched = owner.fetch_from(&[cursor]).await;
    assert_eq!(
        (positions(&fetched), again(&fetched)),
        (vec![], at[..3].into())
    );
}

/// Each shard has a limit of its own.
pub async fn the_limits_of_shards_are_their_own<H: Harness>(harness: &H) {
    for number in 0..200 {
        let key = (number % 40).to_string();
        harness.emit(Thing::of(&key, "said")).await;
    }
    let owner = Actor::owner(harness).await;
    let all = owner.rows().await;
    let mut cursors = owner.cursors();
    for (limit, cursor) in cursors.iter_mut().enumerate() {
        cursor.limit = limit % 3;
    }
    let rows = owner.fetch_from(&cursors).await.rows;
    let of = |rows: &[Row], shard| -> Vec<Position> {
        let rows = rows.iter().filter(|row| row.shard == shard);
        rows.map(|row| row.position).collect()
    };
    for cursor in &cursors {
        let mut expected = of(&all, cursor.shard);
        expected.truncate(cursor.limit);
        assert_eq!(of(&rows, cursor.shard), expected);
    }
}

/// What lies below the floor is known to be done.
pub async fn nothing_at_or_below_the_floor_is_read<H: Harness>(harness: &H) {
    let at = emit_five(harness).await;
    let owner = Actor::owner(harness).await;
    let shard = owner.rows().await[0].shard;
    let mut cursor = Cursor::new(shard, owner.of(shard).epoch, 1);
    (cursor.floor, cursor.scan) = (at[1], at[2]);
    let fetched = owner.fetch_from(&[cursor]).await;
    assert_eq!(
        (positions(&fetched), again(&fetched)),
        (at[3..4].into(), at[2..3].into())
    );
    (cursor.floor, cursor.scan) = (at[4], at[4]);
    let fetched = owner.fetch_from(&[cursor]).await;
    assert_eq!((positions(&fetched), again(&fetched)), (vec![], vec![]));
    assert_eq!(fetched.shards.len(), 1);
}

/// Reading takes no lock that must be written, and marks nothing.
pub async fn fetching_writes_nothing<H: Harness>(harness: &H) {
    emit_five(harness).await;
    let owner = Actor::owner(harness).await;
    let before = (harness.pending().await, harness.changes().await);
    let request = FetchRequest::new(owner.member.id, &[], 0);
    assert_eq!(owner.store.fetch(&request).await.unwrap().rows, []);
    assert_eq!(owner.rows().await.len(), 5);
    assert_eq!((harness.pending().await, harness.changes().await), before);
}

/// The reader knows when to move the next delayed event.
pub async fn the_next_delayed_event_is_announced<H: Harness>(harness: &H) {
    let hour = Duration::from_secs(3600);
    harness.emit(Thing::said("later").after(2 * hour)).await;
    harness.emit(Thing::said("sooner").after(hour)).await;
    let owner = Actor::owner(harness).await;
    let due_in = || async {
        let fetched = owner.fetch().await;
        fetched.shards.iter().filter_map(|seen| seen.due_in).min()
    };
    let wait = due_in().await.unwrap();
    assert!(wait <= hour && wait > hour / 2, "{wait:?}");
    harness
        .emit(Thing::said("now").after(Duration::from_millis(1)))
        .await;
    harness.pass(Duration::from_millis(50)).await;
    assert_eq!(due_in().await, Some(Duration::ZERO));
}

/// Who has read a shard learns that an operator has brought something back.
pub async fn a_requeue_changes_the_revision<H: Harness>(harness: &H) {
    let at = emit_five(harness).await;
    let owner = Actor::owner(harness).await;
    let row = owner.rows().await.remove(0);
    let verdict = Verdict::Dead {
        reason: DeadReason::Rejected,
        error: "no".to_owned(),
        blocks: true,
    };
    owner.settle(&row, verdict).await;
    let revision = |fetched: Fetched| {
        let seen = fetched.shards.iter().find(|seen| seen.shard == row.shard);
        seen.unwrap().revision
    };
    let before = revision(owner.fetch().await);
    requeue(harness, at[0]).await;
    assert_ne!(revision(owner.fetch().await), before);
}
