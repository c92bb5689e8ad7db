//! A dump of one server on another one.

use super::{Scene, ok, scene::spawn};
use crate::conformance::Harness;
use outbox_core::{Delivery, HandlerError};
use std::time::Duration;

/// What waited goes on there, and what is emitted anew comes behind it: neither the positions nor the
/// transactions of the one server mean anything on the other. B064.
pub async fn what_is_restored_elsewhere_goes_on_in_its_order<H: Harness + 'static>(
    before: &Scene<H>,
    restored: impl Future<Output = H>,
) {
    for number in 1..=5 {
        before.emit("x", &number.to_string()).await;
        before.emit(&format!("y{number}"), "1").await;
    }
    let fails = |text: String, _: Delivery| async move {
        match &*text {
            "3" => Err(HandlerError::retry_after(
                Duration::from_millis(1),
                "not here",
            )),
            _ => Ok(()),
        }
    };
    let dispatcher = spawn(before.dispatcher("before", fails));
    before.settled(7).await;
    before.pending(3).await;
    dispatcher.shutdown().await;
    before.emit("x", "6").await;

    let after = before.moved_to(restored.await);
    after.emit("x", "7").await;
    let dispatcher = spawn(after.dispatcher("after", ok));
    after.pending(0).await;
    after.emit("x", "8").await;
    after.pending(0).await;
    dispatcher.shutdown().await;
    assert_eq!(after.seen("x"), ["1", "2", "3", "4", "5", "6", "7", "8"]);
    after.history().assert_clean();
}
