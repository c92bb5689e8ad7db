use crate::{
    event::Kind,
    ground::{empty, source_outbox},
};
use outbox_seaorm::BoxError;
use sea_orm::{ConnectionTrait, DatabaseConnection, DbBackend, DbErr, TransactionTrait};

const COLUMNS: &str =
    "id, aggregatetype, aggregateid, topic, payload, headers, occurred_at, ordered";

/// Makes the events that [`fill`] copies.
pub(super) async fn source(
    db: &DatabaseConnection,
    kind: Kind,
    events: usize,
) -> Result<(), BoxError> {
    const AT_ONCE: usize = 4 * 1024 * 1024;
    let outbox = source_outbox()?;
    empty(db, &["source_outbox_event"]).await?;
    let txn = db.begin().await?;
    let batch = (AT_ONCE / kind.payload).clamp(1, 1_000);
    for first in (0..events).step_by(batch) {
        let some = first..(first + batch).min(events);
        outbox.emit_all(&txn, some.map(|n| kind.draft(n))).await?;
    }
    Ok(txn.commit().await?)
}

/// Puts the events into a table of the same columns, with fresh statistics.
pub(super) async fn fill(db: &DatabaseConnection, table: &str) -> Result<(), DbErr> {
    empty(db, &[table]).await?;
    copy(db, table).await?;
    analyze(db, table).await
}

/// Adds the events to a table of the same columns.
pub(super) async fn copy(db: &DatabaseConnection, table: &str) -> Result<(), DbErr> {
    let sql = format!(
        "INSERT INTO {table} ({COLUMNS}) SELECT {COLUMNS} FROM source_outbox_event ORDER BY seq"
    );
    db.execute_unprepared(&sql).await.map(drop)
}

pub(super) async fn analyze(db: &DatabaseConnection, table: &str) -> Result<(), DbErr> {
    let verb = match db.get_database_backend() {
        DbBackend::MySql => "ANALYZE TABLE",
        _ => "ANALYZE",
    };
    db.execute_unprepared(&format!("{verb} {table}"))
        .await
        .map(drop)
}
