use outbox_core::Draft;
use outbox_seaorm::{Emit, Outbox, SeaOrmStore, schema};
use sea_orm::{
    ConnectOptions, ConnectionTrait, Database as SeaDatabase, DatabaseConnection, DbBackend,
    QueryResult, Statement, TransactionTrait, TryGetable, Value,
    prelude::{DateTime, DateTimeUtc},
    sqlx::Executor,
};
use uuid::Uuid;

/// A prefix with whatever means something somewhere in a statement.
const ODD: &str = "o'u`t\\n%s$1?{ranges} \"outbox_";

/// A database of its own.
pub(crate) struct Database {
    pub(crate) db: DatabaseConnection,
    pub(crate) outbox: Outbox,
    pub(crate) url: String,
}

impl Database {
    /// One with the tables, in the server's default character set, which cannot hold an emoji.
    pub(crate) async fn fresh() -> Self {
        let database = Self::empty("latin1").await;
        schema::create(&database.db).await.unwrap();
        database
    }

    /// One with names that must be quoted, and sessions that begin with a statement.
    pub(crate) async fn odd(first: &'static str) -> Self {
        let mut database = Self::empty("latin1").await;
        database.outbox = Outbox::builder().prefix(ODD).build().unwrap();
        database.db = database.open(4, first).await;
        let (outbox, db) = (&database.outbox, &database.db);
        schema::create_with(outbox, db).await.unwrap();
        database
    }

    /// One with the tables, on another server than that of all tests.
    pub(crate) async fn at(url: &str) -> Self {
        let (server, _) = url.rsplit_once('/').unwrap();
        let database = Self::empty_at(server, "utf8mb4").await;
        schema::create(&database.db).await.unwrap();
        database
    }

    /// One without tables.
    pub(crate) async fn empty(charset: &str) -> Self {
        let server = std::env::var("OUTBOX_TEST_MARIADB_URL").unwrap_or_else(|_| {
            panic!("OUTBOX_TEST_MARIADB_URL is not set: run ./tests/run, which starts a server")
        });
        Self::empty_at(&server, charset).await
    }

    async fn empty_at(server: &str, charset: &str) -> Self {
        let name = format!("outbox_{}", Uuid::now_v7().simple());
        let admin = open(server, 1, None).await;
        let sql = format!("CREATE DATABASE {name} CHARACTER SET {charset}");
        admin.execute_unprepared(&sql).await.unwrap();
        admin.close().await.unwrap();
        Self::there(format!("{}/{name}", server.trim_end_matches('/'))).await
    }

    /// One that is there.
    pub(crate) async fn there(url: String) -> Self {
        let db = open(&url, 4, None).await;
        let outbox = Outbox::default();
        Self { db, outbox, url }
    }

    /// Another pool on the same database, whose sessions begin with a statement.
    pub(crate) async fn open(&self, connections: u32, first: &'static str) -> DatabaseConnection {
        open(&self.url, connections, Some(first)).await
    }

    /// Another pool on the same database, through what listens to this port.
    pub(crate) async fn open_through(&self, port: u16, connections: u32) -> DatabaseConnection {
        let (server, place) = self.url.rsplit_once(':').unwrap();
        let (_, database) = place.split_once('/').unwrap();
        open(&format!("{server}:{port}/{database}"), connections, None).await
    }

    /// Another pool on the same database, for this user, who has no password.
    pub(crate) async fn open_as(&self, user: &str, connections: u32) -> DatabaseConnection {
        let (_, place) = self.url.rsplit_once('@').unwrap();
        open(&format!("mysql://{user}@{place}"), connections, None).await
    }

    /// That of its server.
    pub(crate) fn port(&self) -> u16 {
        let (_, place) = self.url.rsplit_once(':').unwrap();
        place.split('/').next().unwrap().parse().unwrap()
    }

    /// A store of its own, as each dispatcher makes one.
    pub(crate) fn store(&self) -> SeaOrmStore {
        SeaOrmStore::new(&self.db, &self.outbox)
    }

    pub(crate) async fn execute<const N: usize>(&self, sql: &str, values: [Value; N]) {
        execute(&self.db, &self.render(sql), values).await;
    }

    /// Puts the names of this outbox into a statement that has them in double quotes.
    pub(crate) fn render(&self, sql: &str) -> String {
        self.outbox.names().render(DbBackend::MySql, sql)
    }

    pub(crate) async fn query(&self, sql: &str) -> Vec<QueryResult> {
        let statement = Statement::from_string(DbBackend::MySql, self.render(sql));
        self.db.query_all_raw(statement).await.unwrap()
    }

    /// Waits until a session of this test waits for a lock that another one holds. `INNODB_TRX` is
    /// not refreshed while it is read often.
    pub(crate) async fn wait_for_waiters(&self) {
        for _ in 0..6000 {
            let status = self.query("SHOW ENGINE INNODB STATUS").await;
            let status: String = get(&status[0], "Status");
            let sql = "SELECT CAST(ID AS CHAR) AS v FROM information_schema.PROCESSLIST \
                WHERE DB = DATABASE()";
            let sessions: Vec<String> = self.values(sql).await;
            // Before the first one stands the last deadlock, with those who waited in it.
            let transactions = status.split("---TRANSACTION").skip(1);
            let mut waiting = transactions.filter(|transaction| {
                let of = |id: &String| transaction.contains(&format!("thread id {id},"));
                transaction.contains("LOCK WAIT") && sessions.iter().any(of)
            });
            if waiting.next().is_some() {
                return;
            }
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
        panic!("nobody waits");
    }

    /// The time of the server.
    pub(crate) async fn now(&self) -> DateTimeUtc {
        let now: Vec<DateTime> = self.values("SELECT UTC_TIMESTAMP(6) AS v").await;
        now[0].and_utc()
    }

    /// The column `v` of all rows.
    pub(crate) async fn values<T: TryGetable>(&self, sql: &str) -> Vec<T> {
        let rows = self.query(sql).await;
        rows.iter().map(|row| get(row, "v")).collect()
    }
}

pub(crate) async fn execute<C: ConnectionTrait, const N: usize>(
    db: &C,
    sql: &str,
    values: [Value; N],
) {
    let statement = Statement::from_sql_and_values(DbBackend::MySql, sql, values);
    db.execute_raw(statement).await.unwrap();
}

/// Emits an event of the default outbox in a transaction of its own.
pub(crate) async fn emit(db: &DatabaseConnection, event: Draft) -> Uuid {
    let txn = db.begin().await.unwrap();
    let emitted = txn.emit(event).await.unwrap();
    txn.commit().await.unwrap();
    emitted.id()
}

pub(crate) fn get<T: TryGetable>(row: &QueryResult, column: &str) -> T {
    row.try_get("", column).unwrap()
}

async fn open(url: &str, connections: u32, first: Option<&'static str>) -> DatabaseConnection {
    let mut options = ConnectOptions::new(url);
    options.max_connections(connections).sqlx_logging(false);
    if let Some(first) = first {
        options.map_sqlx_mysql_pool_opts(move |pool| {
            pool.after_connect(move |session, _| {
                Box::pin(async move { session.execute(first).await.map(|_| ()) })
            })
        });
    }
    SeaDatabase::connect(options).await.unwrap()
}
