use outbox_seaorm::BoxError;
use sea_orm::{
    ConnectionTrait, DatabaseConnection, DbBackend, DbErr, QueryResult, Statement,
    TransactionTrait, Value,
};
use uuid::Uuid;

/// One consumer that reads events and deletes them, or moves them to the history, in turns. It keeps
/// no order of aggregates, knows no retry, and can have no second consumer.
pub(crate) struct Loop {
    backend: DbBackend,
    select: String,
    keep: bool,
}

impl Loop {
    pub(crate) fn new(backend: DbBackend, batch: usize, keep: bool) -> Self {
        let (payload, headers) = match backend {
            DbBackend::Postgres => ("payload::text", "headers::text"),
            _ => ("payload", "headers"),
        };
        Self {
            backend,
            select: format!(
                "SELECT seq, id, aggregatetype, aggregateid, topic, {payload}, {headers}, \
                 occurred_at, ordered, attempts FROM plain_outbox_event ORDER BY seq LIMIT {batch}"
            ),
            keep,
        }
    }

    /// Goes on until nothing is left, or this many events are gone.
    pub(crate) async fn run(&self, db: &DatabaseConnection, most: usize) -> Result<(), BoxError> {
        let mut left = most;
        while left > 0 {
            let select = Statement::from_string(self.backend, &self.select);
            let rows = db.query_all_raw(select).await?;
            if rows.is_empty() {
                return Ok(());
            }
            let positions: Vec<i64> = rows.iter().map(position).collect::<Result<_, _>>()?;
            left = left.saturating_sub(positions.len());
            self.remove(db, positions).await?;
        }
        Ok(())
    }

    async fn remove(&self, db: &DatabaseConnection, positions: Vec<i64>) -> Result<(), DbErr> {
        const COLUMNS: &str = "seq, id, aggregatetype, aggregateid, topic, payload, headers, \
            occurred_at, ordered, attempts, created_at";
        if self.backend == DbBackend::Postgres {
            let sql = if self.keep {
                format!(
                    "WITH gone AS (DELETE FROM plain_outbox_event WHERE seq = ANY ($1) RETURNING *) \
                     INSERT INTO plain_outbox_delivered ({COLUMNS}) SELECT {COLUMNS} FROM gone"
                )
            } else {
                "DELETE FROM plain_outbox_event WHERE seq = ANY ($1)".to_owned()
            };
            let values: [Value; 1] = [positions.into()];
            return run(db, self.backend, &sql, values).await;
        }
        let list = format!("WHERE seq IN (?{})", ", ?".repeat(positions.len() - 1));
        let values: Vec<Value> = positions.into_iter().map(Value::from).collect();
        let delete = format!("DELETE FROM plain_outbox_event {list}");
        if !self.keep {
            return run(db, self.backend, &delete, values).await;
        }
        let keep = format!(
            "INSERT INTO plain_outbox_delivered ({COLUMNS}) \
             SELECT {COLUMNS} FROM plain_outbox_event {list}"
        );
        let txn = db.begin().await?;
        run(&txn, self.backend, &keep, values.clone()).await?;
        run(&txn, self.backend, &delete, values).await?;
        txn.commit().await
    }
}

async fn run<C: ConnectionTrait>(
    db: &C,
    backend: DbBackend,
    sql: &str,
    values: impl IntoIterator<Item = Value>,
) -> Result<(), DbErr> {
    let statement = Statement::from_sql_and_values(backend, sql, values);
    db.execute_raw(statement).await.map(drop)
}

/// Reads a row whole, as a consumer has to, for its position.
fn position(row: &QueryResult) -> Result<i64, DbErr> {
    let id: Uuid = row.try_get_by_index(1)?;
    let texts: [Option<String>; 5] = [
        row.try_get_by_index(2)?,
        row.try_get_by_index(3)?,
        row.try_get_by_index(4)?,
        row.try_get_by_index(5)?,
        row.try_get_by_index(6)?,
    ];
    let occurred_at: chrono::NaiveDateTime = row.try_get_by_index(7)?;
    let ordered: bool = row.try_get_by_index(8)?;
    let attempts: i32 = row.try_get_by_index(9)?;
    std::hint::black_box((id, texts, occurred_at, ordered, attempts));
    row.try_get_by_index(0)
}
