//! What stands still holds up nobody else, however much of it there is.

use super::{Account, Scene, scene::spawn};
use crate::conformance::{Growth, Harness, Thing, operators::operator};
use outbox_core::{Config, Delivery, Draft, HandlerError};
use std::{
    collections::HashSet,
    sync::{Arc, Mutex},
    time::Duration,
};

type Seen = Arc<Mutex<Vec<String>>>;

/// Memory for few of the events that wait.
fn small(config: &mut Config) {
    (config.window, config.batch) = (60, 20);
}

/// Events of as many aggregates, in transactions of some length.
async fn emit<H: Harness>(harness: &H, count: usize, draft: impl Fn(usize) -> Draft) {
    let mut number = 0..count;
    loop {
        let some: Vec<_> = number.by_ref().take(1_000).map(&draft).collect();
        if some.is_empty() {
            return;
        }
        harness.emit_all(some).await;
    }
}

async fn hang() -> Result<(), HandlerError> {
    std::future::pending().await
}

/// Each has more events than there is memory for all of them: one topic hangs, an operator has paused
/// another one, a third one fails.
pub async fn topics_that_stand_still_leave_the_memory_to_another<H: Harness + 'static>(
    scene: &Scene<H>,
) {
    const EVENTS: usize = 300;
    let (harness, operator) = (&*scene.harness, operator(&*scene.harness));
    assert!(operator.pause("account.closed", "a test").await.unwrap());
    let key = |number: usize| format!("k{number}");
    // Those that stand still come first, and between them.
    for events in [EVENTS - 20, 20] {
        emit(harness, events, |n| Account::changed(&key(n), "slow")).await;
        let paused = |n| Account::closed(&format!("p{n}"), "paused");
        emit(harness, events, paused).await;
        emit(harness, events, |n| Account::noted(&key(n), "failing")).await;
    }
    emit(harness, 20, |n| Thing::of(&key(n), "good")).await;
    let (good, paused) = (Seen::default(), Seen::default());
    let (of_good, of_paused) = (Arc::clone(&good), Arc::clone(&paused));
    let dispatcher = scene
        .bare_dispatcher()
        .timeout(Duration::from_secs(3_600))
        .on(Account::CHANGED, |_: Account, _: Delivery| hang())
        .on(
            Account::CLOSED,
            move |event: Account, delivery: Delivery| {
                assert_eq!(event.text(), "paused");
                let key = delivery.key().unwrap().to_owned();
                of_paused.lock().unwrap().push(key);
                async { Ok(()) }
            },
        )
        .on(Account::NOTED, async |_: Account, _: Delivery| {
            Err::<(), _>(HandlerError::retry("it always fails"))
        })
        .on_event(move |event: Thing, _: Delivery| {
            of_good.lock().unwrap().push(event.key);
            async { Ok(()) }
        })
        .configure(small);
    let dispatcher = spawn(dispatcher);
    scene.pending(3 * EVENTS).await;
    // One that comes now is no worse off.
    emit(harness, 20, |n| Thing::of(&format!("l{n}"), "good")).await;
    scene.pending(3 * EVENTS).await;
    assert_eq!(good.lock().unwrap().len(), 40);
    assert!(dispatcher.stats().waiting <= 80);
    assert_eq!(*paused.lock().unwrap(), [] as [&str; 0]);
    // What was left out for the pause is not lost, and waits for none of the others.
    assert!(operator.resume("account.closed", "over").await.unwrap());
    scene.pending(2 * EVENTS).await;
    dispatcher.abort().await;
    let paused: HashSet<String> = paused.lock().unwrap().drain(..).collect();
    assert_eq!(paused.len(), EVENTS - 20);
    assert_eq!(harness.dead().await, []);
}

/// What one aggregate does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hot {
    /// It waits behind a dead letter.
    Blocked,
    /// Each of its events takes a second.
    Slow,
}

/// A hundred aggregates are delivered while one of so many events waits; returns by how many MiB the
/// process grew.
pub async fn beside_an_aggregate_of<H: Harness + 'static>(
    scene: &Scene<H>,
    hot: Hot,
    events: usize,
    configure: impl FnOnce(&mut Config),
) -> u64 {
    let harness = &*scene.harness;
    let text = |number: usize| number.to_string();
    emit(harness, events, |n| Account::changed("hot", &text(n))).await;
    let other = |n: usize| Account::changed(&format!("x{}", n % 100), &text(n / 100));
    emit(harness, 300, other).await;
    let (of_hot, of_others) = (Seen::default(), Seen::default());
    let (seen_hot, seen_others) = (Arc::clone(&of_hot), Arc::clone(&of_others));
    let handle = move |event: Account, delivery: Delivery| {
        let is_hot = delivery.key() == Some("hot");
        let seen = if is_hot { &seen_hot } else { &seen_others };
        let (seen, key) = (Arc::clone(seen), delivery.key().unwrap().to_owned());
        async move {
            if is_hot && hot == Hot::Blocked {
                return Err(HandlerError::dead("never"));
            }
            if is_hot {
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
            let text = event.text().to_owned();
            let said = if is_hot {
                text
            } else {
                format!("{key} {text}")
            };
            seen.lock().unwrap().push(said);
            Ok(())
        }
    };
    let mut most = 0;
    let builder = scene.bare_dispatcher().on_event(handle);
    let builder = builder.configure(|config| {
        configure(config);
        most = (config.window + config.batch) as u64;
    });
    let growth = Growth::begin();
    let dispatcher = spawn(builder);
    let delivered = || async { of_others.lock().unwrap().len() == 300 };
    scene.until("the others", delivered).await;
    // Those that come later too, wherever reading stands.
    emit(harness, 100, |n| Account::changed(&format!("x{n}"), "3")).await;
    let delivered = || async { of_others.lock().unwrap().len() == 400 };
    scene.until("those that came later", delivered).await;
    if hot == Hot::Blocked {
        let dead = || async { harness.dead().await.len() == 1 };
        scene.until("the dead letter", dead).await;
    }
    assert!(dispatcher.stats().waiting <= most);
    let growth = growth.told(&format!("{events} events of one aggregate, {hot:?}"));
    dispatcher.abort().await;
    let others = of_others.lock().unwrap().clone();
    for number in 0..100 {
        let key = format!("x{number} ");
        let said: Vec<_> = others
            .iter()
            .filter_map(|said| said.strip_prefix(&*key))
            .collect();
        assert_eq!(said, ["0", "1", "2", "3"], "{key}");
    }
    let of_hot = of_hot.lock().unwrap().clone();
    let in_order: Vec<_> = (0..of_hot.len()).map(text).collect();
    assert_eq!(of_hot, in_order);
    assert!(of_hot.len() < events / 2, "it waited");
    growth
}

fn tight(config: &mut Config) {
    (config.window, config.batch) = (300, 100);
}

/// Where it has many times as many events as there is memory for.
pub async fn a_long_aggregate_that_is_blocked_holds_up_nobody<H: Harness + 'static>(
    scene: &Scene<H>,
) {
    beside_an_aggregate_of(scene, Hot::Blocked, 5_000, tight).await;
}

/// And where it goes on, slowly.
pub async fn a_long_aggregate_that_is_slow_holds_up_nobody<H: Harness + 'static>(scene: &Scene<H>) {
    beside_an_aggregate_of(scene, Hot::Slow, 5_000, tight).await;
}
