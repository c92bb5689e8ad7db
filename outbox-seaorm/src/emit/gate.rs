use sea_orm::{DatabaseConnection, DatabaseExecutor, DatabaseTransaction, TransactionSession};

/// A connection that is inside a transaction by its type.
///
/// It is implemented for every SeaORM transaction: plain, nested, restricted, and wrappers of
/// your own that implement [`TransactionSession`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not inside a transaction, so an event could survive a failed write",
    label = "events are emitted inside a transaction only",
    note = "begin a transaction and emit there: `let txn = db.begin().await?;` … `txn.emit(event).await?;` … `txn.commit().await?;`",
    note = "for a `DatabaseExecutor` use `emit_checked`; where you know of the transaction and the type does not say so, `emit_unchecked`"
)]
pub trait InTransaction {}

#[diagnostic::do_not_recommend]
impl<T: TransactionSession + ?Sized> InTransaction for T {}

/// A connection that can tell at run time whether it is inside a transaction.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot tell whether it is inside a transaction",
    note = "pass the `DatabaseExecutor` or `DatabaseTransaction` itself and use `emit_checked` or `emit`"
)]
pub trait MaybeInTransaction {
    /// Whether statements on this connection are part of an open transaction.
    fn is_in_transaction(&self) -> bool;
}

impl MaybeInTransaction for DatabaseExecutor<'_> {
    fn is_in_transaction(&self) -> bool {
        self.is_transaction()
    }
}

impl MaybeInTransaction for DatabaseTransaction {
    fn is_in_transaction(&self) -> bool {
        true
    }
}

impl MaybeInTransaction for DatabaseConnection {
    fn is_in_transaction(&self) -> bool {
        false
    }
}
