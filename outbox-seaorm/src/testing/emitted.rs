use crate::{Outbox, store::store_error};
use outbox_core::{
    operator::EventState,
    store::{Body, Position, Row, StoreError},
    testing::{EmittedEvent, EmittedEvents},
};
use sea_orm::{
    ConnectionTrait, DbBackend, DbErr, QueryResult,
    prelude::{DateTime, DateTimeUtc},
    sea_query::{Expr, ExprTrait, Query, SelectStatement},
};
use std::{fmt, future::Future, time::Duration};
use uuid::Uuid;

/// Looks into the default [`Outbox`] through any connection: what a transaction has emitted can be
/// seen in it before it commits.
///
/// This is the function below [`assert_emitted!`](crate::testing::assert_emitted); [`Outbox::on`] is
/// for an outbox with other settings.
///
/// ```
#[doc = include_str!("../emit/doc_event.md")]
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use outbox_seaorm::{Emit, schema, testing::ReadEmitted};
/// use sea_orm::{Database, TransactionTrait};
///
/// let db = Database::connect("sqlite::memory:").await?;
/// schema::create(&db).await?;
/// let txn = db.begin().await?;
/// txn.emit(OrderPlaced { order_id: 7 }).await?;
/// let placed = txn.emitted().await?.of::<OrderPlaced>()?;
/// assert_eq!(placed[0].event.order_id, 7);
/// # Ok(())
/// # }
/// ```
pub trait ReadEmitted: ConnectionTrait {
    /// All events that this connection sees: to be delivered, delayed, dead letters, and the history
    /// as far as it is kept.
    ///
    /// # Errors
    /// When the database cannot answer.
    fn emitted(&self) -> impl Future<Output = Result<EmittedEvents, StoreError>> + Send {
        async { read(self, &Outbox::default()).await }
    }
}

impl<C: ConnectionTrait + ?Sized> ReadEmitted for C {}

/// An outbox as a connection sees it: see [`Outbox::on`].
pub struct On<'a, C: ?Sized> {
    outbox: &'a Outbox,
    conn: &'a C,
}

impl Outbox {
    /// Looks into this outbox through any connection.
    ///
    /// ```
    #[doc = include_str!("../emit/doc_event.md")]
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use outbox_seaorm::{Outbox, schema, testing::assert_emitted};
    /// use sea_orm::{Database, TransactionTrait};
    ///
    /// let billing = Outbox::builder().prefix("billing_").build()?;
    /// let db = Database::connect("sqlite::memory:").await?;
    /// schema::create_with(&billing, &db).await?;
    /// let txn = db.begin().await?;
    /// billing.emit(&txn, OrderPlaced { order_id: 7 }).await?;
    /// assert_emitted!(billing.on(&txn), OrderPlaced { order_id: 7 });
    /// # Ok(())
    /// # }
    /// ```
    pub fn on<'a, C: ConnectionTrait + ?Sized>(&'a self, conn: &'a C) -> On<'a, C> {
        On { outbox: self, conn }
    }
}

impl<C: ConnectionTrait + ?Sized> On<'_, C> {
    /// See [`ReadEmitted::emitted`].
    ///
    /// # Errors
    /// When the database cannot answer.
    pub async fn emitted(&self) -> Result<EmittedEvents, StoreError> {
        read(self.conn, self.outbox).await
    }
}

impl<C: ?Sized> fmt::Debug for On<'_, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("On")
            .field("outbox", self.outbox)
            .finish_non_exhaustive()
    }
}

/// In the direction in which events move, so that one that moves meanwhile is not missed.
const TABLES: [(&str, EventState); 4] = [
    ("outbox_delayed", EventState::Scheduled),
    ("outbox_event", EventState::Pending),
    ("outbox_dead", EventState::Dead),
    ("outbox_delivered", EventState::Delivered),
];

pub(super) async fn read<C: ConnectionTrait + ?Sized>(
    conn: &C,
    outbox: &Outbox,
) -> Result<EmittedEvents, StoreError> {
    let backend = conn.get_database_backend();
    let mut events = Vec::new();
    for (table, state) in TABLES {
        let query = select(backend, outbox, table, state);
        // A statement that is built: restricted transactions refuse others.
        let rows = conn.query_all(&query).await;
        let read = rows.and_then(|rows| rows.iter().map(|row| event(row, state)).collect());
        let read: Result<Vec<_>, _> = read;
        events
            .extend(read.map_err(|error| store_error(backend, "reading what was emitted", error))?);
    }
    Ok(EmittedEvents::new(events))
}

fn select(
    backend: DbBackend,
    outbox: &Outbox,
    table: &'static str,
    state: EventState,
) -> SelectStatement {
    let mut select = Query::select();
    select.from(outbox.names().table(table)).columns([
        "id",
        "aggregatetype",
        "aggregateid",
        "topic",
        "occurred_at",
        "ordered",
    ]);
    for json in ["payload", "headers"] {
        // As text: a large number is more than a `serde_json::Value` holds.
        let column = Expr::col(json);
        match backend {
            DbBackend::Postgres => select.expr_as(column.cast_as("text"), json),
            _ => select.expr_as(column, json),
        };
    }
    match state {
        EventState::Scheduled => select.columns(["due_at", "created_at"]),
        _ => select.columns(["seq", "attempts"]),
    };
    select.take()
}

fn event(found: &QueryResult, state: EventState) -> Result<EmittedEvent, DbErr> {
    let scheduled = state == EventState::Scheduled;
    let position: Position = if scheduled {
        0
    } else {
        found.try_get("", "seq")?
    };
    let id: Uuid = found.try_get("", "id")?;
    let mut row = Row::new(0, position, id);
    row.aggregate = found.try_get("", "aggregatetype")?;
    row.key = found.try_get("", "aggregateid")?;
    row.topic = found.try_get("", "topic")?;
    row.ordered = found.try_get("", "ordered")?;
    if !scheduled {
        let attempts: i32 = found.try_get("", "attempts")?;
        row.attempts = u32::try_from(attempts).unwrap_or_default();
    }
    let state = match state {
        EventState::Pending if row.attempts > 0 => EventState::Retrying,
        state => state,
    };
    let occurred_at: DateTime = found.try_get("", "occurred_at")?;
    let body = Body::new(
        found.try_get("", "payload")?,
        found.try_get("", "headers")?,
        occurred_at.and_utc(),
    );
    let mut emitted = EmittedEvent::new(row, body, state);
    if scheduled {
        let due_at: DateTimeUtc = found.try_get("", "due_at")?;
        let created_at: DateTimeUtc = found.try_get("", "created_at")?;
        emitted.delay = Some(round((due_at - created_at).to_std().unwrap_or_default()));
    }
    Ok(emitted)
}

/// To milliseconds: the two times are those of two looks at the clock.
fn round(delay: Duration) -> Duration {
    let half = Duration::from_micros(500);
    let millis = (delay + half).as_millis();
    Duration::from_millis(u64::try_from(millis).unwrap_or(u64::MAX))
}
