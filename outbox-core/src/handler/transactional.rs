use super::{Delivery, HandlerError};
use std::future::Future;

/// Handles the events of a topic inside the transaction that completes them: an async function, an
/// async closure that captures nothing, or a type of one's own.
///
/// `X` is the transaction of the store: with SeaORM its `DatabaseTransaction`. What the handler
/// writes through it, the events it emits through it and the completion of its event commit
/// together, or nothing does. So whatever the handler does in this database happens exactly once,
/// however often it runs.
///
/// A handler that changes something elsewhere (a mail, a charge, another database) gains nothing
/// from this: use a plain [`Handler`](super::Handler) for that, with
/// [`Delivery::idempotency_key`].
///
/// - Use the transaction for everything. Who asks the pool for a second connection waits for
///   others who do the same, and for ever where the pool has only one.
/// - Be quick: a connection of the pool and a row lock are held meanwhile, on SQLite the only write
///   lock. At most two less than the pool has connections run at once.
/// - Do not commit, roll back or run DDL through it, nor leave a nested transaction open in a task of
///   its own: the event is then tried again.
///
/// An error, a panic or the end of the time limit rolls everything back; the event is tried again
/// as its retry policy says.
///
/// ```
/// use outbox_core::{Delivery, HandlerError, TransactionalHandler};
/// # struct Charge { cents: i64 }
/// # struct Transaction;
/// # impl Transaction { async fn book(&self, _: i64) -> Result<(), std::io::Error> { Ok(()) } }
///
/// async fn book(charge: Charge, _: Delivery, txn: &Transaction) -> Result<(), HandlerError> {
///     txn.book(charge.cents).await?;
///     Ok(())
/// }
///
/// // A closure that captures nothing does as well:
/// let book_all = async |charge: Charge, _: Delivery, txn: &Transaction| {
///     txn.book(charge.cents).await?;
///     Ok(())
/// };
///
/// // What has something of its own is a type:
/// struct Book {
///     factor: i64,
/// }
///
/// impl TransactionalHandler<Charge, Transaction> for Book {
///     async fn handle(
///         &self,
///         charge: Charge,
///         _: Delivery,
///         txn: &Transaction,
///     ) -> Result<(), HandlerError> {
///         txn.book(charge.cents * self.factor).await?;
///         Ok(())
///     }
/// }
/// # fn is_handler(_: impl TransactionalHandler<Charge, Transaction>) {}
/// # is_handler(book);
/// # is_handler(Book { factor: 2 });
/// # is_handler(book_all);
/// ```
///
/// # Cancel safety
/// A handler is dropped at an await when its time is over or the dispatcher loses its lease; the
/// transaction is rolled back then.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot handle `{E}` in a `{X}`",
    label = "not a transactional handler of `{E}`",
    note = "a transactional handler is `async fn({E}, Delivery, &{X}) -> Result<(), HandlerError>`, a closure of this kind that captures nothing, or a type that implements `TransactionalHandler<{E}, {X}>`"
)]
pub trait TransactionalHandler<E, X>: Send + Sync + 'static {
    /// Handles one event.
    ///
    /// # Errors
    /// What the handler wishes: see [`HandlerError`]. The transaction is rolled back.
    fn handle(
        &self,
        event: E,
        delivery: Delivery,
        txn: &X,
    ) -> impl Future<Output = Result<(), HandlerError>> + Send;
}

/// A function whose future may borrow the transaction. It has a lifetime of its own, since the
/// future is another type for each; see [`TransactionalHandler`], which it makes a function.
pub trait LendTo<'a, E, X: 'a>:
    Fn(E, Delivery, &'a X) -> <Self as LendTo<'a, E, X>>::Future
{
    /// What it returns.
    type Future: Future<Output = Result<(), HandlerError>> + Send + 'a;
}

impl<'a, E, X: 'a, F, Fut> LendTo<'a, E, X> for F
where
    F: Fn(E, Delivery, &'a X) -> Fut,
    Fut: Future<Output = Result<(), HandlerError>> + Send + 'a,
{
    type Future = Fut;
}

#[diagnostic::do_not_recommend]
impl<E, X, F> TransactionalHandler<E, X> for F
where
    F: for<'a> LendTo<'a, E, X> + Send + Sync + 'static,
    E: Send,
    X: Sync + 'static,
{
    fn handle(
        &self,
        event: E,
        delivery: Delivery,
        txn: &X,
    ) -> impl Future<Output = Result<(), HandlerError>> + Send {
        self(event, delivery, txn)
    }
}
