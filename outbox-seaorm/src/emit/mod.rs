//! Emitting events: one INSERT inside the caller's transaction.

mod gate;
mod error;
mod statement;
mod lists;
mod chunk;
mod dedupe;
mod write;
mod one;
mod many;

pub use error::{EmitError, EmitErrorKind};
pub use gate::{InTransaction, MaybeInTransaction};
pub use many::EmitAll;
pub use one::EmitOne;

use crate::outbox::Outbox;
use outbox_core::IntoDraft;
use sea_orm::ConnectionTrait;

/// Emits events through a SeaORM transaction: bring it into scope and call
/// [`txn.emit(event)`](Self::emit).
///
/// This is for the default [`Outbox`]; one with other settings has the same functions as
/// [`Outbox::emit`] and so on.
///
/// # Order
/// Events of one aggregate are delivered in the order they were written, which is the order of
/// the commits when the writers of an aggregate exclude each other: lock or update the
/// aggregate's row *first*, then emit.
///
/// # Emitting once
/// An event with a [`dedupe_key`](EmitOne::dedupe_key) is written only if none with that key was
/// within the last 24 hours; [`Emitted`](outbox_core::Emitted) tells which it was, and the
/// transaction goes on in either case. It costs two statements more. While another transaction
/// that has emitted with the key is open, the emit waits for its end: under REPEATABLE READ and
/// SERIALIZABLE that may be an [`EmitErrorKind::Contention`], and two transactions that emit the
/// same keys one by one in opposite order are a deadlock, which one of them is told of likewise.
/// [`emit_all`](Self::emit_all) takes keys in their order. A key is that of the event as long as its
/// window, also when an operator cancels or discards the event. A role that may only emit must be
/// able to insert into `outbox_dedupe`, update it and read it.
///
/// # Traps of SeaORM's transactions
/// - Commit nested transactions before their parent, the last one begun first. A parent that is
///   committed while a nested one is alive reports success and stores nothing.
/// - After an error of the database that you swallow, PostgreSQL reports a successful commit and
///   stores nothing. Return the error.
/// - An emit waits for ever while a stream of the same transaction is open.
///
/// # Example
/// ```
#[doc = include_str!("doc_event.md")]
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use outbox_seaorm::{Emit, schema};
/// use sea_orm::{Database, TransactionTrait};
/// use std::time::Duration;
///
/// let db = Database::connect("sqlite::memory:").await?;
/// schema::create(&db).await?;
///
/// let txn = db.begin().await?;
/// // … the business change, through `&txn` …
/// let emitted = txn.emit(OrderPlaced { order_id: 7 }).header("tenant_id", "acme").await?;
/// txn.emit(OrderPlaced { order_id: 8 }).after(Duration::from_secs(180)).await?;
/// txn.commit().await?;
/// # let _ = emitted.id();
/// # Ok(())
/// # }
/// ```
///
/// A connection is not a transaction:
/// ```compile_fail,E0277
#[doc = include_str!("doc_event.md")]
/// use outbox_seaorm::Emit;
///
/// async fn outside(db: &sea_orm::DatabaseConnection) {
///     let _ = db.emit(OrderPlaced { order_id: 7 }).await;
/// }
/// ```
pub trait Emit: ConnectionTrait {
    /// Emits an event: one INSERT in this transaction. The output tells the event's id.
    ///
    /// The event is encoded at once; everything else happens when the result is awaited.
    ///
    /// # Errors
    /// [`EmitErrorKind::Invalid`] before anything is sent: the transaction stays usable. After a
    /// database error roll back; PostgreSQL would not commit anything any more.
    fn emit<D: IntoDraft>(&self, event: D) -> EmitOne<'_, Self>
    where
        Self: InTransaction,
    {
        Outbox::default().emit(self, event)
    }

    /// Emits any number of events, keeping their order, in as few INSERTs as the database's
    /// limits allow. The output tells their ids, in the order of the input.
    ///
    /// All events are checked before anything is sent. No event means no statement.
    ///
    /// # Errors
    /// As [`emit`](Self::emit). After a database error some of the events may be part of the
    /// transaction: roll back.
    fn emit_all<I>(&self, events: I) -> EmitAll<'_, Self>
    where
        Self: InTransaction,
        I: IntoIterator<Item: IntoDraft>,
    {
        Outbox::default().emit_all(self, events)
    }

    /// Emits an event through something that may be a transaction or a plain connection, such as
    /// a [`DatabaseExecutor`](sea_orm::DatabaseExecutor), and fails outside a transaction.
    ///
    /// # Errors
    /// [`EmitErrorKind::NotInTransaction`] before anything is sent; and as [`emit`](Self::emit).
    fn emit_checked<D: IntoDraft>(&self, event: D) -> EmitOne<'_, Self>
    where
        Self: MaybeInTransaction,
    {
        Outbox::default().emit_checked(self, event)
    }

    /// Emits an event through *any* connection, **without asking whether there is a transaction**.
    ///
    /// Outside a transaction the event is committed at once and alone: it is delivered even if the
    /// change that it tells of fails, and it is lost if the process dies before the emit. Use it
    /// only where the type cannot say what you know: in `before_save` and `after_save` hooks,
    /// which SeaORM calls with any connection and never for `insert_many`, `update_many` and
    /// `delete_many`. A dedupe key would be remembered even if the emit after it fails.
    ///
    /// # Errors
    /// As [`emit`](Self::emit).
    fn emit_unchecked<D: IntoDraft>(&self, event: D) -> EmitOne<'_, Self> {
        Outbox::default().emit_unchecked(self, event)
    }
}

#[diagnostic::do_not_recommend]
impl<C: ConnectionTrait + ?Sized> Emit for C {}

impl Outbox {
    /// Emits an event into this outbox; see [`Emit::emit`].
    ///
    /// ```
    #[doc = include_str!("doc_event.md")]
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use outbox_seaorm::{Outbox, schema};
    /// use sea_orm::{Database, TransactionTrait};
    ///
    /// let billing = Outbox::builder().prefix("billing_").build()?;
    /// let db = Database::connect("sqlite::memory:").await?;
    /// schema::create_with(&billing, &db).await?;
    ///
    /// let txn = db.begin().await?;
    /// billing.emit(&txn, OrderPlaced { order_id: 7 }).await?;
    /// txn.commit().await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Emit::emit`].
    pub fn emit<'a, C, D>(&self, txn: &'a C, event: D) -> EmitOne<'a, C>
    where
        C: ConnectionTrait + InTransaction + ?Sized,
        D: IntoDraft,
    {
        self.emit_unchecked(txn, event)
    }

    /// Emits events into this outbox; see [`Emit::emit_all`].
    ///
    /// # Errors
    /// As [`Emit::emit_all`].
    pub fn emit_all<'a, C, I>(&self, txn: &'a C, events: I) -> EmitAll<'a, C>
    where
        C: ConnectionTrait + InTransaction + ?Sized,
        I: IntoIterator<Item: IntoDraft>,
    {
        let drafts = events.into_iter().map(IntoDraft::into_draft).collect();
        EmitAll::new(txn, self.clone(), drafts)
    }

    /// Emits an event into this outbox unless the executor is outside a transaction; see
    /// [`Emit::emit_checked`].
    ///
    /// # Errors
    /// As [`Emit::emit_checked`].
    pub fn emit_checked<'a, C, D>(&self, executor: &'a C, event: D) -> EmitOne<'a, C>
    where
        C: ConnectionTrait + MaybeInTransaction + ?Sized,
        D: IntoDraft,
    {
        if executor.is_in_transaction() {
            self.emit_unchecked(executor, event)
        } else {
            EmitOne::failed(executor, self.clone(), EmitError::not_in_transaction())
        }
    }

    /// Emits an event into this outbox, **without asking whether there is a transaction**; read
    /// [`Emit::emit_unchecked`] first.
    ///
    /// # Errors
    /// As [`Emit::emit`].
    pub fn emit_unchecked<'a, C, D>(&self, conn: &'a C, event: D) -> EmitOne<'a, C>
    where
        C: ConnectionTrait + ?Sized,
        D: IntoDraft,
    {
        EmitOne::new(conn, self.clone(), event.into_draft())
    }
}

#[cfg(test)]
mod tests;
