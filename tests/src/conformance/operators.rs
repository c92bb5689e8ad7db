//! What operators decide about dead letters.

use super::{Actor, Harness, Noted, Thing, failure::dead};
use outbox_core::{
    Draft, Operator,
    operator::{Answer, Bulk, Count, LetterFilter},
    store::{DeadReason, Position, Row, Store},
};
use std::time::Duration;

/// An operator of the harness's store.
pub fn operator<H: Harness>(harness: &H) -> Operator<H::Store> {
    Operator::new(harness.store(), "alice")
}

/// Brings a dead letter back.
pub async fn requeue<H: Harness>(harness: &H, position: Position) {
    let answer = operator(harness).retry(position, "repaired").await;
    assert_eq!(answer.unwrap(), Answer::Done);
}

/// Emits events, all of which become dead letters.
pub(super) async fn letters<H: Harness>(
    harness: &H,
    events: Vec<Draft>,
) -> (Actor<H::Store>, Vec<Row>) {
    for event in events {
        harness.emit(event).await;
    }
    let owner = Actor::owner(harness).await;
    let mut rows = owner.rows().await;
    rows.sort_by_key(|row| row.position);
    for row in &rows {
        let verdict = dead(DeadReason::Rejected, row.ordered);
        owner.settle(row, verdict).await;
    }
    (owner, rows)
}

async fn revision<S: Store>(owner: &Actor<S>, row: &Row) -> i64 {
    let fetched = owner.fetch().await;
    let seen = fetched.shards.iter().find(|seen| seen.shard == row.shard);
    seen.unwrap().revision
}

/// It has everything that it had, but for its failures.
pub async fn a_retried_letter_starts_over<H: Harness>(harness: &H) {
    let (owner, rows) = letters(harness, vec![Thing::said("one").header("a", "b")]).await;
    let before = revision(&owner, &rows[0]).await;
    requeue(harness, rows[0].position).await;
    assert_eq!(owner.rows().await, rows);
    assert!(harness.dead().await.is_empty());
    assert_ne!(revision(&owner, &rows[0]).await, before);
}

/// Nothing waits for it: readers come by its new place, and need not start anew.
pub async fn an_unordered_letter_gets_a_new_place<H: Harness>(harness: &H) {
    let text = "one".to_owned();
    let (owner, rows) = letters(harness, vec![Draft::new(&Noted { text })]).await;
    let last = harness.emit(Thing::said("two")).await;
    let before = revision(&owner, &rows[0]).await;
    requeue(harness, rows[0].position).await;
    let pending = harness.pending().await;
    let ids: Vec<_> = pending.iter().map(|row| row.id).collect();
    assert_eq!(ids, [last, rows[0].id]);
    assert_eq!(revision(&owner, &rows[0]).await, before);
}

/// Its aggregate goes on; it can still be looked at, and retried.
pub async fn a_skipped_letter_is_kept_and_blocks_no_more<H: Harness>(harness: &H) {
    let (owner, rows) = letters(harness, vec![Thing::said("one")]).await;
    let before = revision(&owner, &rows[0]).await;
    let operator = operator(harness);
    let skipped = operator.skip(rows[0].position, "a test order").await;
    assert_eq!(skipped.unwrap(), Answer::Done);
    assert_ne!(revision(&owner, &rows[0]).await, before);
    assert_eq!(owner.store.blocked(&[rows[0].shard]).await.unwrap(), []);
    let skipped = LetterFilter::all().skipped();
    let all = operator.letters(&skipped, 0).await.unwrap();
    assert!(!all.items[0].blocks);
    let again = operator.skip(rows[0].position, "again").await.unwrap();
    assert_eq!(again, Answer::TooLate);
    requeue(harness, rows[0].position).await;
}

/// It was done by hand: a retry of all must not do it again.
pub async fn what_was_skipped_is_left_to_those_who_ask_for_it<H: Harness>(harness: &H) {
    let things = ["one", "two"].map(Thing::said).into();
    let (_, rows) = letters(harness, things).await;
    let [first, second] = [rows[0].position, rows[1].position];
    let operator = operator(harness);
    let skipped = operator.skip(first, "was done by hand").await;
    assert_eq!(skipped.unwrap(), Answer::Done);
    let (others, skipped) = (LetterFilter::all(), LetterFilter::all().skipped());
    for (filter, position, reason) in [(&others, second, "rejected"), (&skipped, first, "skipped")]
    {
        let page = operator.letters(filter, 0).await.unwrap();
        let found: Vec<_> = page.items.iter().map(|letter| letter.position).collect();
        assert_eq!(found, [position]);
        assert_eq!(page.items[0].reason, reason);
        assert_eq!(operator.count_letters(filter).await.unwrap(), 1);
    }
    let done = operator.retry_all(&others, Bulk::new(10), "again").await;
    assert_eq!(done.unwrap().done, 1);
    let waiting = harness.pending().await;
    assert_eq!(waiting.len(), 1);
    assert_eq!(waiting[0].position, second);
    let done = operator
        .retry_all(&skipped, Bulk::new(10), "after all")
        .await;
    assert_eq!(done.unwrap().done, 1);
    assert_eq!(harness.pending().await[0].position, first);
}

/// It is nowhere any more.
pub async fn a_discarded_letter_is_gone<H: Harness>(harness: &H) {
    let (owner, rows) = letters(harness, vec![Thing::said("one")]).await;
    let before = revision(&owner, &rows[0]).await;
    let operator = operator(harness);
    let discarded = operator.discard(rows[0].position, "a duplicate").await;
    assert_eq!(discarded.unwrap(), Answer::Done);
    assert_ne!(revision(&owner, &rows[0]).await, before);
    assert_eq!(operator.letter(rows[0].position).await.unwrap(), None);
    assert!(harness.dead().await.is_empty() && harness.pending().await.is_empty());
}

/// So is an event that is discarded while it waits.
pub async fn an_event_that_waits_can_be_discarded<H: Harness>(harness: &H) {
    harness.emit(Thing::said("one")).await;
    harness.emit(Thing::said("two")).await;
    let owner = Actor::owner(harness).await;
    let rows = owner.rows().await;
    let before = revision(&owner, &rows[0]).await;
    let discarded = operator(harness).discard(rows[0].position, "wrong").await;
    assert_eq!(discarded.unwrap(), Answer::Done);
    assert_ne!(revision(&owner, &rows[0]).await, before);
    assert_eq!(owner.rows().await, rows[1..]);
}

/// Whoever comes second changes nothing, and is told.
pub async fn a_verb_is_too_late_the_second_time<H: Harness>(harness: &H) {
    let things = ["one", "two"].map(Thing::said).into();
    let (owner, rows) = letters(harness, things).await;
    let operator = operator(harness);
    requeue(harness, rows[0].position).await;
    let discarded = operator.discard(rows[1].position, "no").await.unwrap();
    assert_eq!(discarded, Answer::Done);
    let before = revision(&owner, &rows[0]).await;
    for position in [rows[0].position, rows[1].position, 1_000_000] {
        let late = operator.retry(position, "late").await.unwrap();
        assert_eq!(late, Answer::TooLate);
        let late = operator.skip(position, "late").await.unwrap();
        assert_eq!(late, Answer::TooLate);
    }
    let late = operator.discard(rows[1].position, "late").await.unwrap();
    assert_eq!(late, Answer::TooLate);
    assert_eq!(revision(&owner, &rows[0]).await, before);
    assert_eq!(harness.pending().await.len(), 1);
    let done = operator.operations(None).await.unwrap();
    assert_eq!(done.items.len(), 2, "what was not done is not recorded");
}

/// Of several who do the same at once, one has done it.
pub async fn of_two_that_retry_one_wins<H: Harness>(harness: &H) {
    let things = (0..10).map(|n| Thing::of(&n.to_string(), "x")).collect();
    let (_, rows) = letters(harness, things).await;
    let bulk = Bulk::new(100).per_second(1_000);
    let filter = LetterFilter::all();
    let (first, second) = (operator(harness), operator(harness));
    let both = tokio::join!(
        first.retry_all(&filter, bulk, "first"),
        second.retry_all(&filter, bulk, "second"),
    );
    let done = both.0.unwrap().done + both.1.unwrap().done;
    assert_eq!(done, rows.len());
    let pending = harness.pending().await;
    let positions: Vec<_> = pending.iter().map(|row| row.position).collect();
    let before: Vec<_> = rows.iter().map(|row| row.position).collect();
    assert_eq!(positions, before);
}

/// Each filter takes away what does not match.
pub async fn letters_are_found_by_what_is_asked_for<H: Harness>(harness: &H) {
    let text = "note".to_owned();
    let things = vec![
        Thing::of("a", "one"),
        Thing::of("b", "two"),
        Draft::new(&Noted { text }),
    ];
    let (_, rows) = letters(harness, things).await;
    harness.pass(Duration::from_millis(20)).await;
    let operator = operator(harness);
    let all = LetterFilter::all;
    let hour = Duration::from_secs(3_600);
    for (filter, expected) in [
        (all(), vec![0, 1, 2]),
        (all().topic("thing.said"), vec![0, 1]),
        (all().topic("thing.sai"), vec![]),
        (all().aggregate("note"), vec![2]),
        (all().aggregate("thing").key("b"), vec![1]),
        (all().key("B"), vec![]),
        (all().error("eve"), vec![0, 1, 2]),
        (all().error("EVE"), vec![]),
        (all().error("%"), vec![]),
        (all().dead_for(Duration::from_millis(1)), vec![0, 1, 2]),
        (all().dead_for(hour), vec![]),
    ] {
        let page = operator.letters(&filter, 0).await.unwrap();
        assert_eq!(page.next, None);
        let found: Vec<_> = page.items.iter().map(|letter| letter.position).collect();
        let expected: Vec<_> = expected.iter().map(|n: &usize| rows[*n].position).collect();
        assert_eq!(found, expected, "{filter:?}");
        let count = operator.count_letters(&filter).await.unwrap();
        assert_eq!(count, expected.len());
    }
}

/// Page by page, by position.
pub async fn letters_come_in_pages<H: Harness>(harness: &H) {
    let things = (0..105).map(|n| Thing::of(&n.to_string(), "x")).collect();
    let (_, rows) = letters(harness, things).await;
    let operator = operator(harness);
    let (mut after, mut found) = (Some(0), Vec::new());
    while let Some(from) = after {
        let page = operator.letters(&LetterFilter::all(), from).await.unwrap();
        assert!(page.items.len() <= 100);
        found.extend(page.items.iter().map(|letter| letter.position));
        after = page.next;
    }
    let expected: Vec<_> = rows.iter().map(|row| row.position).collect();
    assert_eq!(found, expected);
}

/// What was emitted, and what became of it.
pub async fn a_letter_is_shown_whole<H: Harness>(harness: &H) {
    let event = Thing::of("k:é 1", "18446744073709551616").header("tenant_id", "acme");
    let (_, rows) = letters(harness, vec![event]).await;
    let detail = operator(harness).letter(rows[0].position).await.unwrap();
    let detail = detail.unwrap();
    let letter = &detail.letter;
    assert_eq!((letter.position, letter.id), (rows[0].position, rows[0].id));
    assert_eq!(
        (&*letter.aggregate, &*letter.topic),
        ("thing", "thing.said")
    );
    assert_eq!(letter.key.as_deref(), Some("k:é 1"));
    assert_eq!((&*letter.reason, &*letter.error), ("rejected", "never"));
    assert_eq!(
        (letter.attempts, letter.ordered, letter.blocks),
        (1, true, true)
    );
    assert!(letter.created_at <= letter.dead_at);
    assert!(letter.created_at > chrono::DateTime::UNIX_EPOCH);
    let payload: serde_json::Value = serde_json::from_str(&detail.payload).unwrap();
    assert_eq!(payload["text"], "18446744073709551616");
    let headers: serde_json::Value = serde_json::from_str(&detail.headers).unwrap();
    assert_eq!(headers["tenant_id"], "acme");
}

/// No more than was said, and only those.
pub async fn letters_are_retried_as_far_as_is_said<H: Harness>(harness: &H) {
    let mut things: Vec<_> = (0..7).map(|n| Thing::of(&n.to_string(), "x")).collect();
    let text = "note".to_owned();
    things.push(Draft::new(&Noted { text }));
    letters(harness, things).await;
    let operator = operator(harness);
    let things = LetterFilter::all().topic("thing.said");
    let bulk = Bulk::new(4).per_second(300);
    let done = operator.retry_all(&things, bulk, "some").await.unwrap();
    assert_eq!((done.done, done.too_late, done.more), (4, 0, true));
    assert_eq!(harness.pending().await.len(), 4);
    let done = operator.retry_all(&things, bulk, "the rest").await.unwrap();
    assert_eq!((done.done, done.more), (3, false));
    assert_eq!(harness.dead().await.len(), 1);
}

/// Operators see what waits for them.
pub async fn a_blocked_aggregate_is_listed_with_what_waits<H: Harness>(harness: &H) {
    let things = vec![Thing::of("a", "one"), Thing::of("b", "one")];
    let (_, rows) = letters(harness, things).await;
    for _ in 0..3 {
        harness.emit(Thing::of("a", "behind")).await;
        harness.emit(Thing::of("c", "beside")).await;
    }
    let operator = operator(harness);
    let page = operator.blocked(0).await.unwrap();
    let blocked = page.items.iter();
    let blocked: Vec<_> = blocked
        .map(|blocked| (blocked.letter.position, blocked.waiting))
        .collect();
    let expected = [
        (rows[0].position, Count::Exact(3)),
        (rows[1].position, Count::Exact(0)),
    ];
    assert_eq!(blocked, expected);
    let skipped = operator.skip(rows[0].position, "go on").await.unwrap();
    assert_eq!(skipped, Answer::Done);
    assert_eq!(operator.blocked(0).await.unwrap().items.len(), 1);
}

/// Each letter of a page has its own number, whatever else stands in its shard.
pub async fn what_waits_is_counted_for_each_letter_of_a_page<H: Harness>(harness: &H) {
    let heads = (0..20).map(|n| Thing::of(&n.to_string(), "x"));
    let twice = ["first", "second"].map(|text| Thing::of("twice", text));
    let (_, rows) = letters(harness, heads.chain(twice).collect()).await;
    let behind = (0..20).flat_map(|n| std::iter::repeat_n(n, n % 4));
    let behind = behind.map(|n| Thing::of(&n.to_string(), "x"));
    harness.emit_all(behind.collect()).await;
    harness.emit(Thing::of("twice", "third")).await;
    let operator = operator(harness);
    let numbers = async || -> Vec<Count> {
        let page = operator.blocked(0).await.unwrap();
        page.items.iter().map(|blocked| blocked.waiting).collect()
    };
    let mut expected: Vec<_> = (0..20).map(|n| Count::Exact(n % 4)).collect();
    expected.extend([Count::Exact(1), Count::Exact(1)]);
    assert_eq!(numbers().await, expected);
    // What stands before a letter does not wait behind it.
    requeue(harness, rows[20].position).await;
    expected.remove(20);
    assert_eq!(numbers().await, expected);
}

/// Who, what, when and why, the latest first.
pub async fn what_operators_do_is_recorded<H: Harness>(harness: &H) {
    let things = ["one", "two"].map(Thing::said).into();
    let (_, rows) = letters(harness, things).await;
    let operator = operator(harness);
    requeue(harness, rows[0].position).await;
    let why = "it's \"wrong\"\0, é";
    let discarded = operator.discard(rows[1].position, why).await.unwrap();
    assert_eq!(discarded, Answer::Done);
    let operations = operator.operations(None).await.unwrap();
    assert_eq!(operations.next, None);
    let [last, first] = &operations.items[..] else {
        unreachable!("{operations:?}");
    };
    assert_eq!(
        (&*first.act, &*first.who, &*first.why),
        ("retry", "alice", "repaired")
    );
    assert_eq!(
        (&*last.act, &*last.why),
        ("discard", "it's \"wrong\"\u{fffd}, é")
    );
    assert_eq!(last.topic.as_deref(), Some("thing.said"));
    assert_eq!(
        (last.event, last.position),
        (Some(rows[1].id), Some(rows[1].position))
    );
    assert_eq!(last.events, 1);
    assert!(first.done_at <= last.done_at && first.done_at > chrono::DateTime::UNIX_EPOCH);
    let earlier = operator.operations(Some(last.id)).await.unwrap();
    assert_eq!(earlier.items, operations.items[1..]);
}
