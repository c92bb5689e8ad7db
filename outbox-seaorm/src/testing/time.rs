use crate::{Outbox, schema, store::store_error, wake};
use outbox_core::store::{StoreError, StoreErrorKind};
use sea_orm::{
    ConnectionTrait, DatabaseConnection, DbBackend, DbErr, SqliteTransactionMode,
    TransactionOptions, TransactionTrait,
};
use std::time::Duration;

/// Lets this much of the time of the default [`Outbox`] pass: delays, pauses before retries, leases,
/// and what is kept for a time, are nearer to their end by it. For another outbox see
/// [`Outbox::advance`].
///
/// The database's clock goes on as it does: every time that stands in the outbox's tables is set
/// back, which comes to the same, whatever the database. `occurred_at` stays; it is the event's own.
/// A dispatcher that runs looks again, as after an operator's change.
///
/// ```
#[doc = include_str!("../emit/doc_event.md")]
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # use outbox_seaorm::{Delivery, HandlerError};
/// # async fn remind(_: OrderPlaced, _: Delivery) -> Result<(), HandlerError> { Ok(()) }
/// use outbox_seaorm::{Dispatcher, Emit, schema, testing};
/// use sea_orm::{Database, TransactionTrait};
/// use std::time::Duration;
///
/// # let db = Database::connect("sqlite::memory:").await?;
/// # schema::create(&db).await?;
/// let dispatcher = Dispatcher::builder(&db).on(OrderPlaced::TOPIC, remind).build()?;
/// let txn = db.begin().await?;
/// txn.emit(OrderPlaced { order_id: 7 }).after(Duration::from_secs(86_400)).await?;
/// txn.commit().await?;
///
/// assert_eq!(dispatcher.drain().await?.summary.delivered, 0);
/// testing::advance(&db, Duration::from_secs(86_400)).await?;
/// assert_eq!(dispatcher.drain().await?.summary.delivered, 1);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// When the database cannot be changed.
pub async fn advance(db: &DatabaseConnection, time: Duration) -> Result<(), StoreError> {
    advance_with(&Outbox::default(), db, time).await
}

impl Outbox {
    /// Lets time of this outbox pass: see [`testing::advance`](crate::testing::advance).
    ///
    /// # Errors
    /// When the database cannot be changed.
    pub async fn advance(&self, db: &DatabaseConnection, time: Duration) -> Result<(), StoreError> {
        advance_with(self, db, time).await
    }
}

/// How often it is tried when another transaction is in the way.
const TRIES: u32 = 8;

pub(super) async fn advance_with(
    outbox: &Outbox,
    db: &DatabaseConnection,
    time: Duration,
) -> Result<(), StoreError> {
    let backend = db.get_database_backend();
    let statements = statements(outbox, backend, time);
    let mut tries = 1;
    while let Err(error) = run(db, backend, &statements).await {
        let error = store_error(backend, "letting time pass", error);
        if error.kind() != StoreErrorKind::Contention || tries == TRIES {
            return Err(error);
        }
        tries += 1;
    }
    wake::handle(outbox.names()).notify();
    Ok(())
}

async fn run(
    db: &DatabaseConnection,
    backend: DbBackend,
    statements: &[String],
) -> Result<(), DbErr> {
    let immediate = backend == DbBackend::Sqlite;
    let options = TransactionOptions {
        sqlite_transaction_mode: immediate.then_some(SqliteTransactionMode::Immediate),
        ..TransactionOptions::default()
    };
    let txn = db.begin_with_options(options).await?;
    for statement in statements {
        txn.execute_unprepared(statement).await?;
    }
    txn.commit().await
}

/// The shards come last, as everywhere: their new revision makes dispatchers read anew.
fn statements(outbox: &Outbox, backend: DbBackend, time: Duration) -> Vec<String> {
    let set_back = |(table, columns): (&str, Vec<&str>)| {
        let columns = columns.iter().map(|column| {
            let earlier = earlier(backend, column, time);
            format!("\"{column}\" = {earlier}")
        });
        let columns: Vec<_> = columns.collect();
        format!("UPDATE \"{table}\" SET {}", columns.join(", "))
    };
    let revise = "UPDATE \"outbox_shard\" SET \"revision\" = \"revision\" + 1".to_owned();
    let statements = schema::instants().into_iter().map(set_back).chain([revise]);
    let render = |sql: String| outbox.names().render(backend, &sql);
    statements.map(render).collect()
}

fn earlier(backend: DbBackend, column: &str, time: Duration) -> String {
    let micros = time.as_micros();
    match backend {
        DbBackend::Postgres => format!("\"{column}\" - {micros} * INTERVAL '1 microsecond'"),
        DbBackend::MySql => format!("\"{column}\" - INTERVAL {micros} MICROSECOND"),
        _ => {
            let (seconds, millis) = (time.as_secs(), time.subsec_millis());
            format!(
                "strftime('%Y-%m-%dT%H:%M:%f+00:00', \"{column}\", '-{seconds}.{millis:03} seconds')"
            )
        }
    }
}
