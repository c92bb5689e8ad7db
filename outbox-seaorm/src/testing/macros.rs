/// Checks that an event was emitted: in a transaction that has not committed, a connection, an
/// outbox with settings of its own ([`Outbox::on`](crate::Outbox::on)), or a store. Awaits by itself,
/// and gives the event that was [`Found`](crate::testing::Found).
///
/// ```
/// use outbox_seaorm::{Emit, OutboxEvent, headers, schema};
/// use outbox_seaorm::testing::{assert_emitted, refute_emitted};
/// use sea_orm::{Database, TransactionTrait};
/// use serde::{Deserialize, Serialize};
/// use std::time::Duration;
///
/// #[derive(Debug, Serialize, Deserialize, OutboxEvent)]
/// #[outbox(aggregate = "order")]
/// enum OrderEvent {
///     Placed { #[outbox(key)] order_id: u32, cents: u64 },
///     Reminder { #[outbox(key)] order_id: u32 },
///     Cancelled { #[outbox(key)] order_id: u32 },
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let db = Database::connect("sqlite::memory:").await?;
/// # schema::create(&db).await?;
/// let txn = db.begin().await?;
/// // … in the code under test:
/// txn.emit(OrderEvent::Placed { order_id: 7, cents: 900 }).header("tenant_id", "acme").await?;
/// txn.emit(OrderEvent::Reminder { order_id: 7 }).after(Duration::from_secs(3600)).await?;
///
/// // A pattern, with a condition where it needs one; the fields are references.
/// let placed = assert_emitted!(&txn, OrderEvent::Placed { cents, .. } if *cents > 500);
/// assert_eq!(placed.emitted.envelope.key.as_deref(), Some("7"));
/// // With headers.
/// assert_emitted!(&txn, OrderEvent::Placed { .. }, headers::TENANT_ID => "acme");
/// let reminder = assert_emitted!(&txn, OrderEvent::Reminder { .. });
/// assert_eq!(reminder.emitted.delay, Some(Duration::from_secs(3600)));
/// // All events in their order; `..` stands for any number of others.
/// assert_emitted!(&txn, [OrderEvent::Placed { .. }, OrderEvent::Reminder { .. }]);
/// assert_emitted!(&txn, [.., OrderEvent::Reminder { .. }]);
/// // And what should not be there.
/// refute_emitted!(&txn, OrderEvent::Cancelled { .. });
/// txn.rollback().await?;
/// refute_emitted!(&db);
/// # Ok(())
/// # }
/// ```
///
/// # Panics
/// When there is no such event, with a list of those that there are.
#[macro_export]
macro_rules! assert_emitted {
    ($on:expr, $($expected:tt)+) => {{
        #[allow(unused_imports)]
        use $crate::testing::{ReadEmitted as _, TestStore as _};
        $crate::testing::__assert_emitted!(@find ($on.emitted().await) $($expected)+)
    }};
}

/// Checks that an event was not emitted, or nothing at all: the opposite of
/// [`assert_emitted!`](crate::testing::assert_emitted).
///
/// # Panics
/// When there is such an event.
#[macro_export]
macro_rules! refute_emitted {
    ($on:expr $(, $($expected:tt)*)?) => {{
        #[allow(unused_imports)]
        use $crate::testing::{ReadEmitted as _, TestStore as _};
        $crate::testing::__assert_emitted!(@refute ($on.emitted().await) $($($expected)*)?)
    }};
}
