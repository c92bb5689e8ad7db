//! More dispatchers than there is work for.

use super::{Scene, ok, scene::spawn};
use crate::conformance::Harness;

/// They settle, take shards over and fetch at once, and are in each other's way for no longer than a
/// statement takes: nothing is handled twice, and no attempt is counted (B035). No law: it needs
/// sessions of a kind.
pub async fn many_dispatchers_deliver_each_event_once<H: Harness + 'static>(scene: &Scene<H>) {
    const EVENTS: usize = 2_000;
    let names = (0..8).map(|number| format!("d{number}"));
    let dispatchers: Vec<_> = names
        .map(|name| spawn(scene.dispatcher(&name, ok)))
        .collect();
    for part in 0..EVENTS / 100 {
        let key = |number| format!("x{}", (7 * part + number) % 150);
        let events: Vec<_> = (0..100).map(|n| (key(n), "1".to_owned())).collect();
        scene.emit_all(&events).await;
    }
    scene.settled(EVENTS).await;
    scene.pending(0).await;
    for dispatcher in dispatchers {
        assert_eq!(dispatcher.stats().retried, 0);
        dispatcher.shutdown().await;
    }
    let run = scene.history().assert_clean();
    assert_eq!((run.starts, run.duplicates), (EVENTS, 0));
    let delivered = scene.harness.delivered().await;
    assert_eq!(delivered.len(), EVENTS);
    assert!(delivered.iter().all(|row| row.attempts == 0));
}
