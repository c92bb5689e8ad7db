use super::Tables;
use sea_orm::DbBackend;

/// A table that grows with use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Table {
    /// Events to be delivered; one in four has failed.
    Event,
    /// Events that are not due for an hour.
    Delayed,
    /// Dead letters; every other one blocks.
    Dead,
    /// The history.
    Delivered,
    /// What operators did.
    Operation,
}

impl Table {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::Event,
        Self::Delayed,
        Self::Dead,
        Self::Delivered,
        Self::Operation,
    ];

    /// Its name, of the default outbox.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Event => "outbox_event",
            Self::Delayed => "outbox_delayed",
            Self::Dead => "outbox_dead",
            Self::Delivered => "outbox_delivered",
            Self::Operation => "outbox_operation",
        }
    }
}

/// How a database writes many rows.
struct Words {
    id: &'static str,
    series: String,
    /// Two months ago, and in an hour.
    then: &'static str,
    soon: &'static str,
    json: &'static str,
}

impl Tables {
    /// Lets the database add this many rows, numbered from 1 where nothing else numbers them: of a
    /// thousand aggregates, one in three of the topic `order.paid`, the others of `order.placed`.
    pub async fn fill(&self, table: Table, rows: u32) {
        let Words {
            id,
            series,
            then,
            soon,
            json,
        } = words(self.backend(), rows);
        let topic = "CASE WHEN n % 3 = 0 THEN 'order.paid' ELSE 'order.placed' END";
        let event = "id, aggregatetype, aggregateid, topic, payload, headers, occurred_at";
        let values =
            format!("{id}, 'order', CAST(n % 1000 AS CHAR(10)), {topic}, {json}, {json}, {then}");
        let done = "seq, ordered, created_at";
        let was = format!("n, TRUE, {then}");
        let (columns, values) = match table {
            Table::Event => (
                format!("{event}, attempts"),
                format!("{values}, CASE WHEN n % 4 = 0 THEN 1 ELSE 0 END"),
            ),
            Table::Delayed => (format!("{event}, due_at"), format!("{values}, {soon}")),
            Table::Dead => (
                format!("{event}, {done}, attempts, last_error, reason, blocks_aggregate, dead_at"),
                format!("{values}, {was}, 3, 'no', 'exhausted', n % 2 = 0, {then}"),
            ),
            Table::Delivered => (
                format!("{event}, {done}, attempts, delivered_at"),
                format!("{values}, {was}, 0, {then}"),
            ),
            Table::Operation => (
                "id, act, who, why, topic, done_at".to_owned(),
                format!("{id}, 'retry', 'alice', 'a test', {topic}, {then}"),
            ),
        };
        let name = table.name();
        let sql = format!("INSERT INTO \"{name}\" ({columns}) SELECT {values} FROM {series}");
        self.run(&sql).await;
    }

    /// Lets the database look how many rows there are, and which.
    pub async fn analyze(&self, table: Table) {
        let name = table.name();
        let sql = match self.backend() {
            DbBackend::MySql => format!("ANALYZE TABLE \"{name}\""),
            _ => format!("ANALYZE \"{name}\""),
        };
        self.run(&sql).await;
    }
}

fn words(backend: DbBackend, rows: u32) -> Words {
    match backend {
        DbBackend::Postgres => Words {
            id: "CAST('0197' || lpad(to_hex(n), 8, '0') || '70008000' \
                || substr(md5(n::text), 1, 12) AS uuid)",
            series: format!("generate_series(1, {rows}) AS s (n)"),
            then: "now() - INTERVAL '60 days'",
            soon: "now() + INTERVAL '1 hour'",
            json: "'{}'::jsonb",
        },
        DbBackend::MySql => Words {
            id: "UNHEX(CONCAT('0197', LPAD(HEX(n), 8, '0'), '70008000', SUBSTR(MD5(n), 1, 12)))",
            series: format!("(SELECT seq AS n FROM seq_1_to_{rows}) AS s"),
            then: "UTC_TIMESTAMP(6) - INTERVAL 60 DAY",
            soon: "UTC_TIMESTAMP(6) + INTERVAL 1 HOUR",
            json: "'{}'",
        },
        _ => Words {
            id: "unhex(printf('0197%08x70008000', n) || hex(randomblob(6)))",
            series: format!(
                "(WITH RECURSIVE c (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < {rows}) \
                 SELECT n FROM c)"
            ),
            then: "'2026-01-01T00:00:00.000+00:00'",
            soon: "'2126-01-01T00:00:00.000+00:00'",
            json: "'{}'",
        },
    }
}
