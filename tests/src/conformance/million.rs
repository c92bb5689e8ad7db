//! Large tables. Too long for every run: each database has these laws as ignored tests,
//! `cargo nextest run -p outbox-tests --run-ignored only million`. The figures are printed.

/// Makes an ignored test of each, for a harness in scope.
#[macro_export]
macro_rules! million_laws {
    ($harness:ty) => {
        $crate::million_laws! { $harness =>
            a_million_rows_go_beside_emitters
            questions_are_answered_beside_a_million_rows
            a_hundred_thousand_events_of_a_blocked_aggregate_hold_up_nobody
            a_hundred_thousand_events_of_a_slow_aggregate_hold_up_nobody
        }
    };
    ($harness:ty => $($law:ident)*) => {
        $(#[tokio::test]
        #[ignore = "it takes a minute"]
        async fn $law() {
            let scene = $crate::conformance::dispatcher::Scene::<$harness>::new().await;
            $crate::conformance::million::$law(&scene).await;
        })*
    };
}

use super::{
    Actor, Harness, Table, Thing,
    dispatcher::{
        Scene,
        fairness::{Hot, beside_an_aggregate_of},
    },
    operators::operator,
};
use outbox_core::{
    operator::{Count, EventFilter, EventState, LetterFilter},
    store::{History, Kept, Settlement, Store, Verdict},
};
use std::{
    future::Future,
    time::{Duration, Instant},
};

const ROWS: u32 = 1_000_000;

/// How often something is done to see how long it takes.
const TIMES: usize = 500;

/// How long it takes to do something.
async fn timed<T>(took: &mut Vec<Duration>, work: impl Future<Output = T>) -> T {
    let began = Instant::now();
    let result = work.await;
    took.push(began.elapsed());
    result
}

/// How long single emits take, and the reading and settling of single events.
async fn emits_and_deliveries<H: Harness>(harness: &H, owner: &Actor<H::Store>) -> String {
    let (mut emits, mut deliveries) = (Vec::new(), Vec::new());
    for _ in 0..TIMES {
        timed(&mut emits, harness.emit(Thing::said("one"))).await;
        let delivery = async {
            let row = owner.fetch().await.rows.remove(0);
            let outcomes = [Settlement::new(row.position, row.id, Verdict::Done)];
            let settled = owner.try_settle(row.shard, &outcomes, History::Discard);
            settled.await.unwrap();
        };
        timed(&mut deliveries, delivery).await;
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    format!("emits {}; deliveries {}", told(emits), told(deliveries))
}

fn told(mut took: Vec<Duration>) -> String {
    took.sort_unstable();
    let part = |percent: usize| took[(took.len() - 1) * percent / 100];
    format!(
        "median {:?}, 99 % {:?}, longest {:?}",
        part(50),
        part(99),
        part(100)
    )
}

/// All of it goes, batch by batch, while emits and deliveries come through.
///
/// # Panics
/// When a row is left, or there are no tables.
pub async fn a_million_rows_go_beside_emitters<H: Harness + 'static>(scene: &Scene<H>) {
    let harness = &*scene.harness;
    let tables = harness.tables().unwrap();
    tables.fill(Table::Delivered, ROWS).await;
    let owner = Actor::owner(harness).await;
    let alone = emits_and_deliveries(harness, &owner).await;
    println!("{:?}, alone: {alone}", tables.backend());

    let store = harness.store();
    let pruning = async {
        let (mut batches, began) = (Vec::new(), Instant::now());
        let month = Duration::from_secs(30 * 24 * 3_600);
        loop {
            let batch = store.prune(Kept::Delivered, month, 1_000);
            let rows = timed(&mut batches, batch).await.unwrap();
            if rows < 1_000 {
                break;
            }
            tokio::time::sleep(batches[batches.len() - 1]).await;
        }
        let (number, took) = (batches.len(), began.elapsed());
        println!("{number} batches in {took:?}: {}", told(batches));
    };
    let ((), beside) = tokio::join!(pruning, emits_and_deliveries(harness, &owner));
    println!("beside it: {beside}");
    assert!(harness.delivered().await.is_empty());
    assert!(harness.pending().await.is_empty());
}

/// Everybody's questions, where a million events wait, a million were delivered and many died.
///
/// # Panics
/// When an answer is wrong, or there are no tables.
pub async fn questions_are_answered_beside_a_million_rows<H: Harness + 'static>(scene: &Scene<H>) {
    let harness = &*scene.harness;
    let tables = harness.tables().unwrap();
    for (table, rows) in [
        (Table::Event, ROWS),
        (Table::Delivered, ROWS),
        (Table::Dead, 100_000),
    ] {
        tables.fill(table, rows).await;
        tables.analyze(table).await;
    }
    let waits = harness.emit(Thing::said("one")).await;
    let operator = operator(harness);
    let mut took = Vec::new();
    let counts = timed(&mut took, operator.counts()).await.unwrap();
    let rough = |count: &&outbox_core::operator::TopicCount| matches!(count.count, Count::About(_));
    assert!(counts.iter().filter(rough).count() > 6, "{counts:?}");
    timed(&mut took, operator.oldest()).await.unwrap().unwrap();
    let paid = EventFilter::all().topic("order.paid");
    let failing = timed(&mut took, operator.failing(&paid, 0, 0)).await;
    assert_eq!(failing.unwrap().items.len(), 100);
    let letters = LetterFilter::all()
        .topic("order.paid")
        .error("no such thing");
    let letters = timed(&mut took, operator.letters(&letters, 0)).await;
    assert_eq!(letters.unwrap().items, []);
    let blocked = timed(&mut took, operator.blocked(0)).await.unwrap();
    assert_eq!(blocked.items.len(), 100);
    let status = timed(&mut took, operator.status(waits)).await.unwrap();
    assert_eq!(status[0].state, EventState::Pending);
    let questions = [
        "counts", "oldest", "failing", "letters", "blocked", "status",
    ];
    for (question, took) in questions.iter().zip(took) {
        println!("{:?}, {question}: {took:?}", tables.backend());
    }
}

/// Nobody waits for them, and they stay in the database.
///
/// # Panics
/// When somebody waits, or the process grows.
pub async fn a_hundred_thousand_events_of_a_blocked_aggregate_hold_up_nobody<
    H: Harness + 'static,
>(
    scene: &Scene<H>,
) {
    a_hundred_thousand(scene, Hot::Blocked).await;
}

/// The same where it goes on, slowly.
///
/// # Panics
/// When somebody waits, or the process grows.
pub async fn a_hundred_thousand_events_of_a_slow_aggregate_hold_up_nobody<H: Harness + 'static>(
    scene: &Scene<H>,
) {
    a_hundred_thousand(scene, Hot::Slow).await;
}

async fn a_hundred_thousand<H: Harness + 'static>(scene: &Scene<H>, hot: Hot) {
    let growth = beside_an_aggregate_of(scene, hot, 100_000, |_| ()).await;
    assert!(growth < 200, "{growth} MiB");
}
