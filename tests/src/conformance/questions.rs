//! What operators ask.

use super::{
    Actor, Harness, Noted, Table, Tables, Thing,
    failure::{dead, retry, retry_of},
    operators::operator,
};
use outbox_core::{
    Draft,
    operator::{Count, EventFilter, EventState, EventStatus, LetterFilter, TopicCount},
    store::{DeadReason, Row, Verdict},
};
use outbox_seaorm::entity::status;
use sea_orm::ActiveEnum;
use std::time::Duration;

const HOUR: Duration = Duration::from_secs(3_600);

/// One event in every state.
async fn one_of_each<H: Harness>(harness: &H) -> (Actor<H::Store>, Vec<Row>) {
    let keys = ["dead", "delivered", "retrying", "dead", "pending"];
    for key in keys {
        harness.emit(Thing::of(key, "x")).await;
    }
    harness.emit(Thing::of("scheduled", "x").after(HOUR)).await;
    let text = "x".to_owned();
    harness.emit(Draft::new(&Noted { text })).await;
    let owner = Actor::owner(harness).await;
    let mut rows = owner.rows().await;
    rows.sort_by_key(|row| row.position);
    for (row, verdict) in
        rows.iter()
            .zip([dead(DeadReason::Rejected, true), Verdict::Done, retry(HOUR)])
    {
        owner.settle(row, verdict).await;
    }
    (owner, rows)
}

async fn status<H: Harness>(harness: &H, row: &Row) -> EventStatus {
    let mut found = operator(harness).status(row.id).await.unwrap();
    assert_eq!(found.len(), 1);
    let status = found.remove(0);
    assert_eq!(status.position, Some(row.position));
    assert_eq!((&status.aggregate, &status.key), (&row.aggregate, &row.key));
    assert_eq!(status.topic, row.topic);
    assert!(status.created_at > chrono::DateTime::UNIX_EPOCH);
    status
}

/// Is it sent, how often was it tried, when is the next try, what was the last error.
pub async fn each_event_tells_what_became_of_it<H: Harness>(harness: &H) {
    let (_, rows) = one_of_each(harness).await;
    let dead = status(harness, &rows[0]).await;
    assert_eq!((dead.state, dead.attempts), (EventState::Dead, 1));
    assert_eq!(
        (dead.last_error.as_deref(), dead.sent_at),
        (Some("never"), None)
    );
    let sent = status(harness, &rows[1]).await;
    assert_eq!((sent.state, sent.attempts), (EventState::Delivered, 1));
    assert!(sent.sent_at.unwrap() >= sent.created_at && sent.last_error.is_none());
    let retrying = status(harness, &rows[2]).await;
    assert_eq!(
        (retrying.state, retrying.attempts),
        (EventState::Retrying, 1)
    );
    assert_eq!(retrying.last_error.as_deref(), Some("it's \"down\""));
    assert!(retrying.next_attempt_at.unwrap() > retrying.created_at);
    let behind = status(harness, &rows[3]).await;
    assert_eq!((behind.state, behind.attempts), (EventState::Blocked, 0));
    let pending = status(harness, &rows[4]).await;
    assert_eq!((pending.state, pending.attempts), (EventState::Pending, 0));
    assert_eq!((pending.next_attempt_at, pending.sent_at), (None, None));
    assert_eq!(status(harness, &rows[5]).await.state, EventState::Pending);

    let delayed = harness.delayed().await[0];
    let found = operator(harness).status(delayed).await.unwrap();
    assert_eq!(
        (found[0].state, found[0].position),
        (EventState::Scheduled, None)
    );
    assert!(found[0].next_attempt_at.is_some());
    let unknown = operator(harness).status(uuid::Uuid::now_v7()).await;
    assert_eq!(unknown.unwrap(), []);
}

/// The view that people query says the same.
pub async fn the_status_view_agrees<H: Harness>(harness: &H) {
    one_of_each(harness).await;
    let Some(Tables { db, outbox }) = harness.tables() else {
        return;
    };
    let rows = outbox.find::<status::Entity>().all(&db).await.unwrap();
    assert_eq!(rows.len(), 7);
    for row in rows {
        let found = operator(harness).status(row.id).await.unwrap();
        assert_eq!(found.len(), 1);
        let mut told = EventStatus::new(row.id, found[0].state);
        assert_eq!(row.status.to_value(), found[0].state.as_str());
        told.position = row.seq;
        told.aggregate = row.aggregate_type;
        told.key = row.aggregate_id;
        told.topic = row.topic;
        told.attempts = u32::try_from(row.attempts).unwrap();
        told.next_attempt_at = row.next_attempt_at;
        told.last_error = row.last_error;
        told.created_at = row.created_at;
        told.sent_at = row.sent_at;
        assert_eq!(found[0], told);
    }
}

/// To a collation of MySQL it is no difference (B020).
pub async fn a_space_at_the_end_makes_another_key<H: Harness>(harness: &H) {
    harness.emit(Thing::of("a", "1")).await;
    let id = harness.emit(Thing::of("a ", "2")).await;
    let owner = Actor::owner(harness).await;
    let rows = owner.rows().await;
    let first = rows.iter().find(|row| row.id != id).unwrap();
    owner.settle(first, dead(DeadReason::Rejected, true)).await;
    let second = rows.iter().find(|row| row.id == id).unwrap();
    owner.settle(second, retry_of(2, HOUR)).await;
    let operator = operator(harness);
    let found = operator.status(id).await.unwrap();
    assert_eq!(found[0].state, EventState::Retrying);
    let (oldest, _) = operator.oldest().await.unwrap().unwrap();
    assert_eq!(oldest.state, EventState::Retrying);
    let failing = operator.failing(&EventFilter::all().key("a"), 0, 0).await;
    assert_eq!(failing.unwrap().items, []);
    let letters = LetterFilter::all().key("a ");
    assert_eq!(operator.count_letters(&letters).await.unwrap(), 0);
    assert_eq!(
        operator.blocked(0).await.unwrap().items[0].waiting,
        Count::Exact(0)
    );
    if let Some(Tables { db, outbox }) = harness.tables() {
        let shown = outbox.find::<status::Entity>().all(&db).await.unwrap();
        let shown = shown.iter().find(|row| row.id == id).unwrap();
        assert_eq!(shown.status.to_value(), EventState::Retrying.as_str());
    }
}

/// Exactly, where there are few.
pub async fn events_are_counted_by_topic_and_state<H: Harness>(harness: &H) {
    one_of_each(harness).await;
    let counts = operator(harness).counts().await.unwrap();
    let counts: Vec<_> = counts
        .iter()
        .map(|count| (&*count.topic, count.state, count.count))
        .collect();
    let expected = [
        ("note.noted", EventState::Pending, Count::Exact(1)),
        ("thing.said", EventState::Pending, Count::Exact(2)),
        ("thing.said", EventState::Retrying, Count::Exact(1)),
        ("thing.said", EventState::Scheduled, Count::Exact(1)),
        ("thing.said", EventState::Dead, Count::Exact(1)),
        ("thing.said", EventState::Delivered, Count::Exact(1)),
    ];
    assert_eq!(counts, expected);
}

/// Nobody counts millions of rows for a question: beyond ten thousand it is an estimate, and says so.
pub async fn large_tables_are_counted_roughly_and_say_so<H: Harness>(harness: &H) {
    let Some(tables) = harness.tables() else {
        return;
    };
    const ROWS: f64 = 30_000.0;
    tables.fill(Table::Dead, 10_000).await;
    for table in [Table::Event, Table::Delayed, Table::Delivered] {
        tables.fill(table, 30_000).await;
        tables.analyze(table).await;
    }
    let counts = operator(harness).counts().await.unwrap();
    let third = 1.0 / 3.0;
    for (topic, state, share) in [
        ("order.paid", EventState::Pending, third * 0.75),
        ("order.paid", EventState::Retrying, third * 0.25),
        ("order.paid", EventState::Scheduled, third),
        ("order.paid", EventState::Delivered, third),
        ("order.placed", EventState::Pending, third * 1.5),
        ("order.placed", EventState::Retrying, third * 0.5),
        ("order.placed", EventState::Scheduled, third * 2.0),
        ("order.placed", EventState::Delivered, third * 2.0),
    ] {
        let found = of(&counts, topic, state);
        let Count::About(number) = found else {
            unreachable!("{topic} {state}: {found}")
        };
        let ratio = number as f64 / (share * ROWS);
        assert!((0.5..2.0).contains(&ratio), "{topic} {state}: {found}");
    }
    // What can be counted is.
    let paid = of(&counts, "order.paid", EventState::Dead);
    assert_eq!(paid, Count::Exact(3_333));
}

/// Nor all that waits behind a letter: beyond what a look passes it is said that there may be more.
pub async fn what_waits_is_counted_as_far_as_a_look_goes<H: Harness>(harness: &H) {
    let Some(tables) = harness.tables() else {
        return;
    };
    // Each second letter blocks. Of 30 events of its aggregate the first has its position, or stands
    // behind it, as the database numbers them; one look passes a third of them.
    tables.fill(Table::Dead, 10).await;
    tables.fill(Table::Event, 30_000).await;
    let blocked = operator(harness).blocked(0).await.unwrap();
    assert_eq!(blocked.items.len(), 5);
    for blocked in blocked.items {
        match blocked.waiting {
            Count::Exact(waiting) => assert!((29..=30).contains(&waiting), "{waiting}"),
            Count::AtLeast(waiting) => assert!((9..=10).contains(&waiting), "{waiting}"),
            about => unreachable!("{about}"),
        }
    }
}

fn of(counts: &[TopicCount], topic: &str, state: EventState) -> Count {
    let mut counts = counts.iter();
    let found = counts.find(|count| (&*count.topic, count.state) == (topic, state));
    found.unwrap().count
}

/// What waits longest is the first in the outbox.
pub async fn the_oldest_event_and_its_age_are_told<H: Harness>(harness: &H) {
    assert_eq!(operator(harness).oldest().await.unwrap(), None);
    harness.emit(Thing::said("one")).await;
    harness.pass(Duration::from_millis(200)).await;
    harness.emit(Thing::said("two")).await;
    let (oldest, age) = operator(harness).oldest().await.unwrap().unwrap();
    assert_eq!(oldest.position, Some(harness.pending().await[0].position));
    assert!(age >= Duration::from_millis(190) && age < HOUR, "{age:?}");
}

/// Those that fail again and again.
pub async fn events_with_many_attempts_are_listed<H: Harness>(harness: &H) {
    let (owner, rows) = one_of_each(harness).await;
    owner.settle(&rows[4], retry_of(3, HOUR)).await;
    let operator = operator(harness);
    for (filter, attempts, expected) in [
        (EventFilter::all(), 0, vec![2, 4]),
        (EventFilter::all(), 1, vec![4]),
        (EventFilter::all().key("retrying"), 0, vec![2]),
        (EventFilter::all().topic("note.noted"), 0, vec![]),
        (EventFilter::all(), 3, vec![]),
    ] {
        let page = operator.failing(&filter, attempts, 0).await.unwrap();
        assert_eq!(page.next, None);
        let found: Vec<_> = page.items.iter().map(|event| event.position).collect();
        let expected: Vec<_> = expected
            .iter()
            .map(|row: &usize| Some(rows[*row].position))
            .collect();
        assert_eq!(found, expected);
    }
}

/// Who is there, and who owns what.
pub async fn dispatchers_are_listed_with_what_they_own<H: Harness>(harness: &H) {
    let owner = Actor::owner(harness).await;
    let other = Actor::join(harness).await;
    let found = operator(harness).dispatchers().await.unwrap();
    assert_eq!(found.len(), 2);
    for (actor, shards) in [(&owner, owner.owned.len()), (&other, 0)] {
        let view = found.iter().find(|view| view.id == actor.member.id);
        let view = view.unwrap();
        assert_eq!((&*view.place, &*view.handles), ("here:1", "thing.*"));
        assert_eq!((view.is_alive, view.shards.len()), (true, shards));
        assert!(view.joined_at > chrono::DateTime::UNIX_EPOCH);
    }
}
