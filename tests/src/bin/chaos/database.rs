use outbox_seaorm::{Operator, schema};
use outbox_tests::worker;
use sea_orm::{
    ConnectOptions, ConnectionTrait, Database as SeaOrm, DatabaseConnection, DbBackend, DbErr,
    QueryResult, SqliteTransactionMode, Statement, TransactionOptions, TransactionTrait,
};
use std::{collections::HashSet, future::Future, time::Duration};
use uuid::Uuid;

/// What the database itself says, on connections that no fault befalls but a restart.
#[derive(Debug, Clone)]
pub(crate) struct Database(DatabaseConnection);

/// A row of `outbox_dispatcher`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Member {
    pub(crate) id: Uuid,
    pub(crate) pid: u32,
    pub(crate) lease_until: String,
}

impl Database {
    pub(crate) async fn open(url: &str) -> Result<Self, DbErr> {
        let mut options = ConnectOptions::new(url);
        options.max_connections(6).sqlx_logging(false);
        options.acquire_timeout(Duration::from_secs(3));
        // A frozen process may hold the only lock, and is let go then.
        options.map_sqlx_sqlite_opts(|options| options.busy_timeout(Duration::from_millis(200)));
        Ok(Self(SeaOrm::connect(options).await?))
    }

    /// Makes the tables of the outbox and of the application.
    pub(crate) async fn prepare(&self, accounts: u32) -> Result<(), DbErr> {
        schema::create(&self.0).await?;
        worker::accounts(&self.0, accounts).await
    }

    pub(crate) fn operator(&self) -> Operator {
        Operator::new(&self.0, "chaos")
    }

    pub(crate) async fn rows(&self, sql: &str) -> Result<Vec<QueryResult>, DbErr> {
        let statement = Statement::from_string(self.0.get_database_backend(), sql);
        self.0.query_all_raw(statement).await
    }

    pub(crate) async fn ids(&self, table: &str) -> Result<HashSet<Uuid>, DbErr> {
        let rows = self.rows(&format!("SELECT id FROM {table}")).await?;
        rows.iter().map(|row| row.try_get("", "id")).collect()
    }

    /// What operators took out, as the outbox itself recorded it in the same transaction.
    pub(crate) async fn taken_out(&self) -> Result<HashSet<Uuid>, DbErr> {
        let sql = "SELECT event_id FROM outbox_operation \
            WHERE act IN ('discard', 'skip', 'cancel') AND event_id IS NOT NULL";
        let rows = self.rows(sql).await?;
        rows.iter().map(|row| row.try_get("", "event_id")).collect()
    }

    /// What is still to be delivered for the first time: what is replayed has been.
    pub(crate) async fn first_deliveries(&self) -> Result<HashSet<Uuid>, DbErr> {
        let sql = "outbox_event WHERE CAST(headers AS CHAR(2000)) NOT LIKE '%replay_id%'";
        self.ids(sql).await
    }

    /// How many events are still to be delivered.
    pub(crate) async fn waiting(&self) -> Result<i64, DbErr> {
        let sql = "SELECT (SELECT count(*) FROM outbox_event) + \
            (SELECT count(*) FROM outbox_delayed) AS n";
        self.rows(sql).await?[0].try_get("", "n")
    }

    pub(crate) async fn members(&self) -> Result<Vec<Member>, DbErr> {
        let sql = "SELECT id, place, CAST(lease_until AS CHAR(40)) AS lease_until \
            FROM outbox_dispatcher";
        let rows = self.rows(sql).await?;
        let member = |row: &QueryResult| {
            let place: String = row.try_get("", "place")?;
            let pid = place.rsplit(':').next().and_then(|pid| pid.parse().ok());
            Ok(Member {
                id: row.try_get("", "id")?,
                pid: pid.unwrap_or_default(),
                lease_until: row.try_get("", "lease_until")?,
            })
        };
        rows.iter().map(member).collect()
    }

    /// Who owns shards.
    pub(crate) async fn owners(&self) -> Result<HashSet<Uuid>, DbErr> {
        let sql = "SELECT DISTINCT owner FROM outbox_shard WHERE owner IS NOT NULL";
        let rows = self.rows(sql).await?;
        rows.iter().map(|row| row.try_get("", "owner")).collect()
    }

    /// Whether somebody holds the only write lock of SQLite.
    pub(crate) async fn is_locked(&self) -> bool {
        if self.0.get_database_backend() != DbBackend::Sqlite {
            return false;
        }
        let options = TransactionOptions {
            sqlite_transaction_mode: Some(SqliteTransactionMode::Immediate),
            ..TransactionOptions::default()
        };
        match self.0.begin_with_options(options).await {
            Ok(lock) => lock.rollback().await.is_err(),
            Err(_) => true,
        }
    }
}

/// Asks again until the database answers.
pub(crate) async fn persist<T, E, Fut: Future<Output = Result<T, E>>>(ask: impl Fn() -> Fut) -> T {
    loop {
        match ask().await {
            Ok(answer) => return answer,
            Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
        }
    }
}
