use crate::event::OrderEvent;
use chrono::Utc;
use outbox_seaorm::{BoxError, OutboxEvent};
use sea_orm::{ConnectionTrait, DbBackend, Statement, Value};
use uuid::Uuid;

const COLUMNS: &str =
    "id, aggregatetype, aggregateid, topic, payload, headers, occurred_at, ordered";
const COUNT: usize = 8;

/// An INSERT of a fixed number of events, its text made once.
pub(crate) struct Insert {
    backend: DbBackend,
    sql: String,
    /// One list a column, instead of one value a column and row.
    unnest: bool,
}

impl Insert {
    pub(crate) fn rows(backend: DbBackend, rows: usize) -> Self {
        let row = |row: usize| {
            let place = |column: usize| match backend {
                DbBackend::Postgres if column == 4 || column == 5 => {
                    format!("${}::jsonb", row * COUNT + column + 1)
                }
                DbBackend::Postgres => format!("${}", row * COUNT + column + 1),
                _ => "?".to_owned(),
            };
            let places: Vec<_> = (0..COUNT).map(place).collect();
            format!("({})", places.join(", "))
        };
        let rows: Vec<_> = (0..rows).map(row).collect();
        Self {
            backend,
            sql: format!(
                "INSERT INTO plain_outbox_event ({COLUMNS}) VALUES {}",
                rows.join(", ")
            ),
            unnest: false,
        }
    }

    /// PostgreSQL's own way for many rows.
    pub(crate) fn unnest() -> Self {
        Self {
            backend: DbBackend::Postgres,
            sql: format!(
                "INSERT INTO plain_outbox_event ({COLUMNS}) \
                 SELECT a, b, c, d, e::jsonb, f::jsonb, g, h FROM unnest($1::uuid[], $2::text[], \
                 $3::text[], $4::text[], $5::text[], $6::text[], $7::timestamp[], $8::boolean[]) \
                 AS t (a, b, c, d, e, f, g, h)"
            ),
            unnest: true,
        }
    }

    /// Writes as many events as it was made for.
    pub(crate) async fn execute<C: ConnectionTrait>(
        &self,
        db: &C,
        events: &[OrderEvent],
    ) -> Result<(), BoxError> {
        let rows = events.iter().map(row).collect::<Result<Vec<_>, _>>()?;
        let values: Vec<Value> = if self.unnest {
            lists(rows)
        } else {
            rows.into_iter().flat_map(Row::values).collect()
        };
        let statement = Statement::from_sql_and_values(self.backend, &self.sql, values);
        db.execute_raw(statement).await?;
        Ok(())
    }
}

struct Row {
    id: Uuid,
    key: String,
    topic: &'static str,
    payload: String,
    occurred_at: chrono::NaiveDateTime,
    ordered: bool,
}

const AGGREGATE: &str = "order";
const HEADERS: &str = r#"{"schema_version":1}"#;

fn row(event: &OrderEvent) -> Result<Row, serde_json::Error> {
    let (OrderEvent::Placed(order) | OrderEvent::Mailed(order)) = event;
    Ok(Row {
        id: Uuid::now_v7(),
        key: order.order_id.to_string(),
        topic: event.topic().name,
        payload: serde_json::to_string(order)?,
        occurred_at: Utc::now().naive_utc(),
        ordered: event.topic().ordered,
    })
}

impl Row {
    fn values(self) -> [Value; COUNT] {
        [
            self.id.into(),
            AGGREGATE.into(),
            self.key.into(),
            self.topic.into(),
            self.payload.into(),
            HEADERS.into(),
            self.occurred_at.into(),
            self.ordered.into(),
        ]
    }
}

fn lists(rows: Vec<Row>) -> Vec<Value> {
    let count = rows.len();
    let text = |text: &str| vec![text.to_owned(); count];
    vec![
        rows.iter().map(|row| row.id).collect::<Vec<_>>().into(),
        text(AGGREGATE).into(),
        rows.iter()
            .map(|row| row.key.clone())
            .collect::<Vec<_>>()
            .into(),
        rows.iter()
            .map(|row| row.topic.to_owned())
            .collect::<Vec<_>>()
            .into(),
        rows.iter()
            .map(|row| row.payload.clone())
            .collect::<Vec<_>>()
            .into(),
        text(HEADERS).into(),
        rows.iter()
            .map(|row| row.occurred_at)
            .collect::<Vec<_>>()
            .into(),
        rows.iter()
            .map(|row| row.ordered)
            .collect::<Vec<_>>()
            .into(),
    ]
}
