//! What operators do while events are delivered.

use super::{Account, Scene, ok, scene::spawn};
use crate::conformance::{Harness, operators::operator};
use outbox_core::{
    Delivery, Due,
    operator::{Answer, Bulk, HistoryFilter},
    store::Delivered,
};
use outbox_seaorm::Inbox;
use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};
use uuid::Uuid;

/// Its aggregates wait in their order, others go on, and it goes on where it stood.
pub async fn a_paused_topic_stands_still_and_others_go_on<H: Harness + 'static>(scene: &Scene<H>) {
    let operator = operator(&*scene.harness);
    let dispatcher = spawn(scene.dispatcher("d1", ok));
    scene.emit("x", "1").await;
    scene.pending(0).await;
    assert!(operator.pause("account.closed", "a test").await.unwrap());
    // Whoever has read this aggregate has also read that the topic is paused, or will throw it away.
    let closed = scene
        .emit_draft(Account::closed("x", "closed"), "closed")
        .await;
    scene.log.emitted("x", closed);
    scene.emit("x", "behind").await;
    let other = scene
        .emit_draft(Account::closed("y", "closed"), "closed")
        .await;
    scene.log.emitted("y", other);
    scene.emit("z", "other").await;
    scene.pending(3).await;
    // The next owner knows of it too.
    dispatcher.shutdown().await;
    let next = spawn(scene.dispatcher("d2", ok));
    scene.emit("z", "another").await;
    scene.pending(3).await;
    assert_eq!(scene.seen("x"), ["1"]);
    assert!(operator.resume("account.closed", "over").await.unwrap());
    scene.pending(0).await;
    next.shutdown().await;
    assert_eq!(scene.seen("x"), ["1", "closed", "behind"]);
    assert_eq!(scene.seen("y"), ["closed"]);
    scene.history().assert_clean();
}

/// The dispatcher sees that it falls due earlier than it thought.
pub async fn a_rescheduled_event_is_delivered_in_time<H: Harness + 'static>(scene: &Scene<H>) {
    let hour = Duration::from_secs(3_600);
    let draft = Account::changed("x", "later").after(hour);
    let id = scene.emit_draft(draft, "later").await;
    scene.emit("y", "now").await;
    let dispatcher = spawn(scene.dispatcher("d1", ok));
    scene.settled(1).await;
    let operator = operator(&*scene.harness);
    let moved = operator.reschedule(id, Due::Now, "hurry").await;
    assert_eq!(moved.unwrap(), Answer::Done);
    scene.settled(2).await;
    dispatcher.shutdown().await;
    assert_eq!(scene.seen("x"), ["later"]);
}

/// It takes no part any more, whatever the dispatcher knows of it.
pub async fn a_discarded_event_lets_its_successors_go<H: Harness + 'static>(scene: &Scene<H>) {
    scene.emit_draft(Account::changed("x", "bad"), "bad").await;
    let dispatcher = spawn(scene.dispatcher("d1", |text, _| async move {
        if text == "bad" {
            return Err(outbox_core::HandlerError::retry("no"));
        }
        Ok(())
    }));
    let failed = || async { scene.harness.pending().await[0].attempts > 0 };
    scene.until("a failure", failed).await;
    scene
        .emit_draft(Account::changed("x", "good"), "good")
        .await;
    let position = scene.harness.pending().await[0].position;
    let operator = operator(&*scene.harness);
    let gone = operator.discard(position, "poison").await.unwrap();
    assert_eq!(gone, Answer::Done);
    scene.pending(0).await;
    dispatcher.shutdown().await;
    assert_eq!(scene.seen("x"), ["good"]);
}

/// By the one dispatcher whose turn it is, a batch at a time.
pub async fn history_is_kept_as_long_as_is_said<H: Harness + 'static>(scene: &Scene<H>) {
    for number in 0..25 {
        scene.emit(&format!("x{}", number % 7), "1").await;
    }
    let forgetful = |config: &mut outbox_core::Config| {
        config.retention.delivered = Some(Duration::ZERO);
        config.retention.every = Duration::from_millis(50);
        config.retention.batch = 10;
    };
    let dispatcher = spawn(scene.dispatcher("d1", ok).configure(forgetful));
    scene.pending(0).await;
    let gone = || async { scene.harness.delivered().await.is_empty() };
    scene.until("the history is gone", gone).await;
    dispatcher.shutdown().await;
    assert_eq!(scene.history().assert_clean().events, 25);
}

/// Also where it delivers nothing.
pub async fn inboxes_and_dedupe_keys_are_pruned<H: Harness + 'static>(scene: &Scene<H>) {
    let Some(tables) = scene.harness.tables() else {
        return;
    };
    let inbox = Inbox::builder("mails").outbox(&tables.outbox);
    let inbox = inbox.lease(Duration::from_millis(1)).build().unwrap();
    inbox.begin(&tables.db, Uuid::now_v7()).await.unwrap();
    let event = Account::changed("x", "1").dedupe_key("x");
    let event = event.dedupe_window(Duration::from_millis(1));
    scene.emit_draft(event, "1").await;
    let forgetful = |config: &mut outbox_core::Config| {
        config.retention.inbox = Some(Duration::ZERO);
        config.retention.every = Duration::from_millis(50);
    };
    let dispatcher = spawn(scene.dispatcher("d1", ok).configure(forgetful));
    let gone = || async {
        let sql = "SELECT 'row' AS v FROM \"outbox_inbox\" \
            UNION ALL SELECT 'row' AS v FROM \"outbox_dedupe\"";
        tables.texts(sql).await.is_empty()
    };
    scene.until("they are gone", gone).await;
    dispatcher.shutdown().await;
}

/// It sees each event, and what it does not take stays.
pub async fn what_an_archive_refuses_stays<H: Harness + 'static>(scene: &Scene<H>) {
    for number in 0..12 {
        scene.emit(&number.to_string(), "1").await;
    }
    let archived = Arc::new(Mutex::new(Vec::new()));
    let (seen, calls) = (Arc::clone(&archived), Arc::new(AtomicUsize::new(0)));
    let archive = move |events: Vec<Delivered>| {
        let (seen, first) = (Arc::clone(&seen), calls.fetch_add(1, SeqCst) == 0);
        async move {
            if first {
                return Err("the archive is down".into());
            }
            seen.lock()
                .unwrap()
                .extend(events.iter().map(|row| row.event.id));
            Ok(())
        }
    };
    let forgetful = |config: &mut outbox_core::Config| {
        config.retention.delivered = Some(Duration::ZERO);
        config.retention.every = Duration::from_millis(50);
    };
    let builder = scene.dispatcher("d1", ok).configure(forgetful);
    let dispatcher = spawn(builder.archive(archive));
    scene.pending(0).await;
    let gone = || async { scene.harness.delivered().await.is_empty() };
    scene.until("the history is gone", gone).await;
    dispatcher.shutdown().await;
    let mut archived = archived.lock().unwrap().clone();
    archived.sort();
    archived.dedup();
    assert_eq!(archived.len(), 12);
}

/// Whoever runs it from time to time prunes then.
pub async fn a_run_until_idle_prunes_too<H: Harness + 'static>(scene: &Scene<H>) {
    for number in 0..12 {
        scene.emit(&number.to_string(), "1").await;
    }
    let forgetful = |config: &mut outbox_core::Config| {
        config.retention.delivered = Some(Duration::ZERO);
    };
    let dispatcher = scene.dispatcher("d1", ok).configure(forgetful);
    let dispatcher = dispatcher.build().unwrap();
    for _ in 0..2 {
        let minute = Duration::from_secs(60);
        dispatcher.run_until_idle(minute).await.unwrap();
    }
    assert!(scene.harness.delivered().await.is_empty());
}

/// Handlers get them again, in their order.
pub async fn replayed_events_are_delivered_again<H: Harness + 'static>(scene: &Scene<H>) {
    let replays = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&replays);
    for text in ["1", "2"] {
        scene.emit_draft(Account::changed("x", text), text).await;
    }
    let dispatcher = spawn(scene.dispatcher("d1", move |text, delivery: Delivery| {
        let replay = delivery.headers().text("replay_id").map(str::to_owned);
        seen.lock().unwrap().push((text, replay));
        async { Ok(()) }
    }));
    scene.pending(0).await;
    let operator = operator(&*scene.harness);
    let bulk = Bulk::new(10).per_second(1_000);
    let replayed = operator.replay(&HistoryFilter::all(), bulk, "lost").await;
    let id = replayed.unwrap().id.to_string();
    let again = || async { scene.harness.delivered().await.len() == 4 };
    scene.until("delivered again", again).await;
    dispatcher.shutdown().await;
    let again = |text: &str, id: Option<&str>| (text.to_owned(), id.map(str::to_owned));
    let expected = [
        again("1", None),
        again("2", None),
        again("1", Some(&id)),
        again("2", Some(&id)),
    ];
    assert_eq!(*replays.lock().unwrap(), expected);
}
