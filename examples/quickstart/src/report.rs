//! Counts what all runs on this database have done.

use outbox_seaorm::CancellationToken;
use sea_orm::{ConnectionTrait, DatabaseConnection, DbErr, FromQueryResult, Statement};
use std::{fmt, time::Duration};

pub(crate) struct Report {
    topics: Vec<Topic>,
}

#[derive(FromQueryResult)]
struct Topic {
    topic: String,
    emitted: i64,
    delivered: i64,
    /// Delivered after at least one failure.
    retried: i64,
    dead: i64,
    /// Still in the outbox.
    pending: i64,
    /// Effects of orders that were never committed.
    strays: i64,
}

impl Report {
    /// The counts of this moment, in one statement.
    pub(crate) async fn read(db: &DatabaseConnection) -> Result<Self, DbErr> {
        let sql = include_str!("report.sql");
        let query = Statement::from_string(db.get_database_backend(), sql);
        let topics = Topic::find_by_statement(query).all(db).await?;
        Ok(Self { topics })
    }

    /// The counts once the outbox is empty, or of the moment when `stop` is cancelled.
    pub(crate) async fn settled(
        db: &DatabaseConnection,
        stop: &CancellationToken,
    ) -> Result<Self, DbErr> {
        loop {
            if stop.is_cancelled() || is_empty(db).await? {
                let report = Self::read(db).await?;
                // Another process may have imported an order in between.
                if stop.is_cancelled() || report.pending() == 0 {
                    return Ok(report);
                }
            }
            let pause = tokio::time::sleep(Duration::from_millis(100));
            stop.run_until_cancelled(pause).await;
        }
    }

    pub(crate) fn pending(&self) -> i64 {
        self.sum(|topic| topic.pending)
    }

    /// Events without an effect, or effects without an order: there must be none.
    pub(crate) fn is_wrong(&self) -> bool {
        self.lost() != 0 || self.sum(|topic| topic.strays) != 0
    }

    fn lost(&self) -> i64 {
        self.sum(|topic| topic.emitted - topic.delivered - topic.dead)
    }

    /// One line while the work goes on.
    pub(crate) fn progress(&self) -> String {
        format!(
            "{} of {} events delivered, {} waiting, {} dead",
            self.sum(|topic| topic.delivered),
            self.sum(|topic| topic.emitted),
            self.pending(),
            self.sum(|topic| topic.dead),
        )
    }

    fn sum(&self, count: impl Fn(&Topic) -> i64) -> i64 {
        self.topics.iter().map(count).sum()
    }
}

/// Whether the outbox is empty: cheap, unlike the counts.
async fn is_empty(db: &DatabaseConnection) -> Result<bool, DbErr> {
    let sql = "SELECT 1 FROM outbox_event UNION ALL SELECT 1 FROM outbox_delayed LIMIT 1";
    let query = Statement::from_string(db.get_database_backend(), sql);
    Ok(db.query_one_raw(query).await?.is_none())
}

/// The table, and the line that tells it all.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let heading = ["topic", "emitted", "delivered", "retried", "dead"];
        let [topic, rest @ ..] = heading;
        write!(f, "{topic:<16}")?;
        for name in rest {
            write!(f, "{name:>11}")?;
        }
        writeln!(f)?;
        for row in &self.topics {
            write!(f, "{:<16}", row.topic)?;
            for count in [row.emitted, row.delivered, row.retried, row.dead] {
                write!(f, "{count:>11}")?;
            }
            writeln!(f)?;
        }
        let strays = self.sum(|topic| topic.strays);
        if strays != 0 {
            writeln!(
                f,
                "{strays} effects belong to orders that were never committed"
            )?;
        }
        write!(
            f,
            "\ndelivered {} of {} events, {} lost, {} dead",
            self.sum(|topic| topic.delivered),
            self.sum(|topic| topic.emitted),
            self.lost(),
            self.sum(|topic| topic.dead),
        )
    }
}
