//! Operators bring delivered events back.

use super::{Actor, Harness, Thing, operators::operator};
use outbox_core::{
    operator::{Bulk, HistoryFilter},
    store::{Row, Verdict},
};
use uuid::Uuid;

/// Delivers events of two aggregates.
async fn delivered<H: Harness>(harness: &H) -> (Actor<H::Store>, Vec<Row>) {
    for text in ["1", "2", "3"] {
        harness.emit(Thing::of("a", text).header("n", 7)).await;
        harness.emit(Thing::of("b", text)).await;
    }
    let owner = Actor::owner(harness).await;
    let mut rows = owner.rows().await;
    rows.sort_by_key(|row| row.position);
    for row in &rows {
        owner.settle(row, Verdict::Done).await;
    }
    (owner, rows)
}

async fn pending<H: Harness>(harness: &H) -> Vec<Uuid> {
    let pending = harness.pending().await;
    pending.iter().map(|row| row.id).collect()
}

/// In their old order, at new places, under their old ids, and told apart by a header.
pub async fn replayed_events_are_new_events_with_old_ids<H: Harness>(harness: &H) {
    let (owner, rows) = delivered(harness).await;
    let bulk = Bulk::new(100).per_second(1_000);
    let of_a = HistoryFilter::all().topic("thing.said").key("a");
    let replayed = operator(harness).replay(&of_a, bulk, "lost").await.unwrap();
    assert_eq!((replayed.events, replayed.ended), (3, true));
    let mut again = owner.rows().await;
    again.sort_by_key(|row| row.position);
    let ids: Vec<_> = again.iter().map(|row| row.id).collect();
    assert_eq!(ids, [rows[0].id, rows[2].id, rows[4].id]);
    assert!(again[0].position > rows[5].position);
    let (was, is) = (
        rows[0].body.as_ref().unwrap(),
        again[0].body.as_ref().unwrap(),
    );
    assert_eq!(
        (&is.payload, is.occurred_at),
        (&was.payload, was.occurred_at)
    );
    let mut headers: serde_json::Value = serde_json::from_str(&is.headers).unwrap();
    assert_eq!(headers["replay_id"], replayed.id.to_string());
    headers.as_object_mut().unwrap().remove("replay_id");
    let before: serde_json::Value = serde_json::from_str(&was.headers).unwrap();
    assert_eq!(headers, before);
    assert_eq!(harness.delivered().await.len(), 6, "the history stays");
}

/// No more than was said; what is left is brought back by going on, and nothing twice.
pub async fn an_interrupted_replay_goes_on_where_it_stopped<H: Harness>(harness: &H) {
    let (_, rows) = delivered(harness).await;
    let (operator, all) = (operator(harness), HistoryFilter::all());
    let bulk = |most| Bulk::new(most).per_second(200);
    let some = operator.replay(&all, bulk(4), "some").await.unwrap();
    assert_eq!((some.events, some.ended), (4, false));
    let again = operator.replay_on(some.id, &all, bulk(4), "some").await;
    assert_eq!(again.unwrap().events, 4);
    let rest = operator.replay_on(some.id, &all, bulk(100), "all").await;
    let rest = rest.unwrap();
    assert_eq!((rest.events, rest.ended), (6, true));
    let again = operator.replay_on(some.id, &all, bulk(100), "all").await;
    assert_eq!(again.unwrap(), rest);
    let expected: Vec<_> = rows.iter().map(|row| row.id).collect();
    assert_eq!(pending(harness).await, expected);
    let done = operator.operations(None).await.unwrap().items;
    let record = &done[0];
    assert_eq!(
        (done.len(), record.id, &*record.act),
        (1, some.id, "replay")
    );
    assert_eq!((record.events, &*record.why), (6, "some"));
}

/// By aggregate and by the time of their delivery.
pub async fn a_replay_takes_what_matches<H: Harness>(harness: &H) {
    let (owner, _) = delivered(harness).await;
    harness.pass(std::time::Duration::from_millis(50)).await;
    let id = harness.emit(Thing::of("a", "later")).await;
    let row = owner.rows().await.remove(0);
    owner.settle(&row, Verdict::Done).await;
    let operator = operator(harness);
    let sent_at = operator.status(id).await.unwrap()[0].sent_at.unwrap();
    let since = sent_at - chrono::TimeDelta::milliseconds(20);
    let bulk = Bulk::new(100).per_second(1_000);
    let of_b = HistoryFilter::all().aggregate("thing").key("b");
    for (filter, expected) in [
        (HistoryFilter::all().topic("thing"), 0),
        (of_b.until(since), 3),
        (HistoryFilter::all().since(since), 1),
        (HistoryFilter::all().until(since), 6),
        (HistoryFilter::all().since(since).until(since), 0),
    ] {
        let replayed = operator.replay(&filter, bulk, "a test").await.unwrap();
        assert_eq!(
            (replayed.events, replayed.ended),
            (expected, true),
            "{filter:?}"
        );
    }
}
