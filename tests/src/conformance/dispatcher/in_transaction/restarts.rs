//! A server that dies under handlers with transactions open.

use super::{
    super::{Scene, scene::spawn},
    books::Books,
};
use crate::conformance::Harness;
use outbox_seaorm::SeaOrmStore;

/// Each transaction that was open is rolled back, and each that was committed is kept, whether or not
/// its answer came. No law: see [`restarts`](super::super::restarts).
pub async fn what_is_done_when_the_server_dies_is_done_once<H>(
    scene: &Scene<H>,
    restart: impl Fn() + Clone + Send + 'static,
) where
    H: Harness<Store = SeaOrmStore> + 'static,
{
    const ROUNDS: usize = 3;
    let mut books = Books::of(scene).await;
    let dispatcher = spawn(books.dispatcher().concurrency(4));
    for round in 1..=ROUNDS {
        for number in 0..150 {
            let text = ["fine", "fine", "error", "fine", "swallow"][number % 5];
            books.change(&format!("x{}", number % 7), text).await;
        }
        // In the middle of it.
        let some = (round - 1) * 150 + 20;
        let count = || async { books.booked().await.values().map(Vec::len).sum::<usize>() };
        let done = || async { count().await >= some };
        scene.until("some are booked", done).await;
        let restart = restart.clone();
        tokio::task::spawn_blocking(restart).await.unwrap();
    }
    scene.pending(0).await;
    dispatcher.shutdown().await;
    books.assert_right().await;
}
