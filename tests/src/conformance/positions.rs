//! A position names one event for ever.

use super::{Actor, Harness, Thing};
use outbox_core::store::Verdict;

/// What is written later stands later.
pub async fn positions_grow<H: Harness>(harness: &H) {
    let mut last = 0;
    for text in ["one", "two", "three"] {
        let id = harness.emit(Thing::said(text)).await;
        let pending = harness.pending().await;
        let position = pending.iter().find(|row| row.id == id).unwrap().position;
        assert!(position > last);
        last = position;
    }
}

/// Also when the table was empty in between.
pub async fn no_position_is_used_twice<H: Harness>(harness: &H) {
    let owner = Actor::owner(harness).await;
    let mut last = 0;
    for text in ["one", "two", "three"] {
        harness.emit(Thing::said(text)).await;
        let row = owner.rows().await.remove(0);
        assert!(row.position > last);
        last = row.position;
        owner.settle(&row, Verdict::Done).await;
        assert_eq!(harness.pending().await, []);
    }
}
