use crate::{Outbox, SeaOrmStore, StoreError};
use outbox_core::{DispatcherBuilder, Retention};
use sea_orm::DatabaseConnection;

/// Delivers the events of an outbox in a SeaORM database.
///
/// `Dispatcher::builder(&db)` is for the default [`Outbox`]; [`Outbox::dispatcher`] for another.
///
/// ```
/// use outbox_seaorm::{CancellationToken, Delivery, Dispatcher, Emit, HandlerError, OutboxEvent, schema};
/// use sea_orm::{Database, TransactionTrait};
/// use serde::{Deserialize, Serialize};
/// use std::time::Duration;
///
/// #[derive(Serialize, Deserialize, OutboxEvent)]
/// #[outbox(aggregate = "order")]
/// struct Placed {
///     #[outbox(key)]
///     order_id: u32,
/// }
///
/// async fn ship(placed: Placed, _: Delivery) -> Result<(), HandlerError> {
///     println!("shipping order {}", placed.order_id);
///     Ok(())
/// }
///
/// # tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(async {
/// let db = Database::connect("sqlite::memory:").await?;
/// schema::create(&db).await?;
/// let txn = db.begin().await?;
/// txn.emit(Placed { order_id: 7 }).await?;
/// txn.commit().await?;
///
/// let dispatcher = Dispatcher::builder(&db).on(Placed::TOPIC, ship).build()?;
/// let summary = dispatcher.run_until_idle(Duration::from_secs(10)).await?;
/// assert_eq!(summary.delivered, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type Dispatcher = outbox_core::Dispatcher<SeaOrmStore>;

impl Outbox {
    /// Starts building a dispatcher for this outbox.
    pub fn dispatcher(&self, db: &DatabaseConnection) -> DispatcherBuilder<SeaOrmStore> {
        Dispatcher::builder(SeaOrmStore::new(db, self))
    }

    /// Deletes what has been kept for long enough, in batches, and returns how many rows: for a
    /// service that runs no dispatcher on these tables, such as one that only has an
    /// [`Inbox`](crate::Inbox), once in a while. A dispatcher does it by itself.
    ///
    /// ```
    /// use outbox_seaorm::{Outbox, Retention, schema};
    ///
    /// # tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(async {
    /// # let db = sea_orm::Database::connect("sqlite::memory:").await?;
    /// # schema::create(&db).await?;
    /// Outbox::default().prune(&db, &Retention::default()).await?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The database's; what was deleted before stays so.
    ///
    /// # Cancel safety
    /// Dropped, it has deleted some of the rows. What an archive has got it may get again.
    pub async fn prune(
        &self,
        db: &DatabaseConnection,
        retention: &Retention,
    ) -> Result<usize, StoreError> {
        outbox_core::prune(&SeaOrmStore::new(db, self), retention).await
    }
}
