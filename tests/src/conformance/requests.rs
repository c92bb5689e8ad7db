//! Whatever operators ask for: what nobody expects is done as said, or refused.

use super::{
    Actor, Harness, Thing,
    operators::{letters, operator},
};
use chrono::{DateTime, Utc};
use outbox_core::{
    Due,
    operator::{Answer, Bulk, EventFilter, HistoryFilter, LetterFilter},
    store::{StoreErrorKind, Verdict},
};
use std::time::Duration;
use uuid::Uuid;

/// A space at the end is a difference, whatever a collation thinks.
pub async fn texts_are_told_apart_by_every_byte<H: Harness>(harness: &H) {
    let keys = ["a", "a ", "A", "ä", "a%", "a\\", "🦀"];
    let things = keys.map(|key| Thing::of(key, "x")).into();
    let (_, rows) = letters(harness, things).await;
    let operator = operator(harness);
    let all = LetterFilter::all;
    for key in keys {
        let page = operator.letters(&all().key(key), 0).await.unwrap();
        let found: Vec<_> = page.items.iter().map(|one| one.key.as_deref()).collect();
        assert_eq!(found, [Some(key)]);
    }
    for filter in [
        all().key("a  "),
        all().key("_"),
        all().topic("thing.said "),
        all().topic(""),
        all().aggregate("thing "),
        all().error("never "),
    ] {
        let page = operator.letters(&filter, 0).await.unwrap();
        assert_eq!(page.items, [], "{filter:?}");
    }
    let bulk = Bulk::new(usize::MAX).per_second(u32::MAX);
    let of_a = all().key("a ");
    let done = operator.retry_all(&of_a, bulk, "one").await.unwrap();
    assert_eq!((done.done, done.more), (1, false));
    assert_eq!(harness.pending().await[0].id, rows[1].id);
}

/// Nobody would ever hear of it; and one that is not paused is not resumed.
pub async fn a_topic_that_cannot_be_is_not_paused<H: Harness>(harness: &H) {
    let operator = operator(harness);
    for topic in ["", "a\0b", &"x".repeat(201)] {
        let error = operator.pause(topic, "odd").await.unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::Refused);
    }
    assert!(operator.pause("a", "a").await.unwrap());
    assert!(!operator.resume("a ", "no").await.unwrap());
    assert!(!operator.resume("A", "no").await.unwrap());
    let paused = operator.paused().await.unwrap();
    assert_eq!((paused.len(), &*paused[0].topic), (1, "a"));
    assert_eq!(operator.operations(None).await.unwrap().items.len(), 1);
}

/// The last day that a database can keep is as good as never.
pub async fn an_event_is_rescheduled_to_any_time<H: Harness>(harness: &H) {
    let hour = Duration::from_secs(3_600);
    let id = harness.emit(Thing::said("one").after(hour)).await;
    let (operator, owner) = (operator(harness), Actor::owner(harness).await);
    let leap: DateTime<Utc> = "2116-12-31T23:59:60.5Z".parse().unwrap();
    let year_10_000 = DateTime::from_timestamp(253_402_300_800, 0).unwrap();
    for due in [
        Due::At(DateTime::<Utc>::MAX_UTC),
        Due::At(year_10_000),
        Due::At(leap),
        Due::After(Duration::MAX),
    ] {
        let moved = operator.reschedule(id, due, "later").await.unwrap();
        assert_eq!(moved, Answer::Done, "{due:?}");
        assert_eq!(owner.move_due(10).await, Some(0), "{due:?}");
        let page = operator.scheduled(&EventFilter::all(), Uuid::nil()).await;
        let due_at = page.unwrap().items[0].due_at;
        assert!(due_at > "2116-12-31T00:00:00Z".parse::<DateTime<Utc>>().unwrap());
        let status = operator.status(id).await.unwrap();
        assert_eq!(status[0].next_attempt_at, Some(due_at));
    }
    let past = Due::At(DateTime::<Utc>::MIN_UTC);
    let moved = operator.reschedule(id, past, "now").await.unwrap();
    assert_eq!(moved, Answer::Done);
    assert_eq!(owner.move_due(10).await, Some(1));
}

/// From the first to the last one that can be said.
pub async fn a_replay_is_bounded_by_any_time<H: Harness>(harness: &H) {
    harness.emit(Thing::said("one")).await;
    let owner = Actor::owner(harness).await;
    let row = owner.rows().await.remove(0);
    owner.settle(&row, Verdict::Done).await;
    let (min, max) = (DateTime::<Utc>::MIN_UTC, DateTime::<Utc>::MAX_UTC);
    let all = HistoryFilter::all;
    for (filter, expected) in [
        (all().since(min).until(max), 1),
        (all().since(max), 0),
        (all().until(min), 0),
    ] {
        let operator = operator(harness);
        let replayed = operator.replay(&filter, Bulk::new(10), "any").await;
        assert_eq!(replayed.unwrap().events, expected, "{filter:?}");
    }
}

/// What somebody else did stays as it was recorded.
pub async fn a_replay_is_no_other_operation<H: Harness>(harness: &H) {
    harness.emit(Thing::said("one")).await;
    let owner = Actor::owner(harness).await;
    let row = owner.rows().await.remove(0);
    owner.settle(&row, Verdict::Done).await;
    let operator = operator(harness);
    operator.pause("a", "first").await.unwrap();
    let before = operator.operations(None).await.unwrap();
    let id = before.items[0].id;
    let all = HistoryFilter::all();
    let replayed = operator.replay_on(id, &all, Bulk::new(1), "odd").await;
    assert_eq!(replayed.unwrap_err().kind(), StoreErrorKind::Refused);
    assert_eq!(operator.operations(None).await.unwrap(), before);
    assert!(harness.pending().await.is_empty());
}

/// Also when neither of them finds a record of it.
pub async fn of_two_that_start_one_replay_both_go_on<H: Harness>(harness: &H) {
    for key in ["a", "b", "c", "d", "e", "f"] {
        harness.emit(Thing::of(key, "x")).await;
    }
    let owner = Actor::owner(harness).await;
    for row in owner.rows().await {
        owner.settle(&row, Verdict::Done).await;
    }
    let (first, second) = (operator(harness), operator(harness));
    let before = Utc::now() - Duration::from_secs(24 * 3_600);
    let all = HistoryFilter::all();
    let bulk = Bulk::new(6).per_second(100);
    for round in 1..=5 {
        let replay = Uuid::now_v7();
        let (one, two) = tokio::join!(
            first.replay_on(replay, &all, bulk, "first"),
            second.replay_on(replay, &all, bulk, "second"),
        );
        assert_eq!((one.unwrap().events, two.unwrap().events), (6, 6));
        assert_eq!(harness.pending().await.len(), 6 * round);
    }
    let done = first.operations(None).await.unwrap().items;
    assert_eq!(done.len(), 5);
    assert!(
        done.iter()
            .all(|one| one.done_at > before || harness.tables().is_none())
    );
}

/// As after a restore: nothing stands twice at one place, and the others go on.
pub async fn a_letter_whose_place_is_taken_stays<H: Harness>(harness: &H) {
    let things = ["a", "b", "c"].map(|key| Thing::of(key, "x")).into();
    let (_, rows) = letters(harness, things).await;
    let (taken, tables) = (rows[1].position, harness.tables().unwrap());
    let copy = "INSERT INTO \"outbox_event\" (seq, id, aggregatetype, aggregateid, topic, payload, headers) \
        SELECT seq, id, aggregatetype, aggregateid, topic, payload, headers \
        FROM \"outbox_dead\" WHERE seq = ";
    tables.run(&format!("{copy}{taken}")).await;
    let operator = operator(harness);
    let late = operator.retry(taken, "late").await.unwrap();
    assert_eq!(late, Answer::TooLate);
    let bulk = Bulk::new(10);
    let done = operator.retry_all(&LetterFilter::all(), bulk, "all").await;
    let done = done.unwrap();
    assert_eq!((done.done, done.too_late, done.more), (2, 1, false));
    assert_eq!(harness.pending().await.len(), 3);
    let discarded = operator.discard(taken, "there twice").await.unwrap();
    assert_eq!(discarded, Answer::Done);
    assert!(harness.dead().await.is_empty());
    assert_eq!(harness.pending().await.len(), 3);
}
