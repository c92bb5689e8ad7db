use outbox_core::Draft;
use outbox_seaorm::{Outbox, SeaOrmStore, schema};
use sea_orm::{
    ConnectOptions, ConnectionTrait, Database as SeaDatabase, DatabaseConnection, DbBackend,
    QueryResult, Statement, TransactionTrait, Value,
};
use uuid::Uuid;

/// A schema of its own with the tables.
pub(crate) struct Database {
    pub(crate) db: DatabaseConnection,
    pub(crate) outbox: Outbox,
    /// Where the server is.
    url: String,
    /// What every session sets.
    settings: String,
    /// By which the sessions of this test are told from those of others.
    name: String,
}

/// A prefix with whatever means something somewhere in a statement.
const ODD: &str = "o'u\"t\\n%s$1?{kept} \"outbox_";

const TABLES: [&str; 10] = [
    "event",
    "delayed",
    "dead",
    "delivered",
    "shard",
    "dispatcher",
    "topic",
    "operation",
    "dedupe",
    "inbox",
];

impl Database {
    /// The default outbox in a schema that the search path names.
    pub(crate) async fn plain() -> Self {
        let database = Self::empty().await;
        schema::create(&database.db).await.unwrap();
        database
    }

    /// The default outbox on another server than that of all tests.
    pub(crate) async fn at(url: &str) -> Self {
        let (outbox, settings) = (Outbox::default(), "SET client_min_messages = warning");
        let database = Self::with(url.to_owned(), outbox, settings.to_owned()).await;
        schema::create(&database.db).await.unwrap();
        database
    }

    /// The default outbox, without its tables.
    pub(crate) async fn empty() -> Self {
        let (url, schema) = (url(), format!("t{}", Uuid::now_v7().simple()));
        let create = format!("CREATE SCHEMA {schema}");
        run(&open(&url, "", 1).await, &create).await;
        let settings = format!("SET search_path = {schema}");
        Self::with(url, Outbox::default(), settings).await
    }

    /// The default outbox without its tables, in sessions of a role that owns its schema and may do
    /// nothing else.
    pub(crate) async fn of_a_plain_role(role: &str) -> Self {
        let url = url();
        let create = format!("CREATE ROLE {role}; CREATE SCHEMA {role} AUTHORIZATION {role}");
        run(&open(&url, "", 1).await, &create).await;
        let settings = format!("SET ROLE {role}; SET search_path = {role}");
        Self::with(url, Outbox::default(), settings).await
    }

    /// An outbox with names that must be quoted, in sessions that have everything set in another
    /// way than usual. The first schema of their search path has decoys.
    pub(crate) async fn hostile() -> Self {
        let database = Self::hostile_without_tables().await;
        schema::create_with(&database.outbox, &database.db)
            .await
            .unwrap();
        database
    }

    pub(crate) async fn hostile_without_tables() -> Self {
        let id = Uuid::now_v7().simple().to_string();
        let schema = format!("app-1 '{id}");
        let mut sql = format!("CREATE SCHEMA \"{schema}\"; CREATE SCHEMA \"decoy{id}\";");
        let decoys = Outbox::builder().prefix(ODD).schema(format!("decoy{id}"));
        let decoys = decoys.build().unwrap();
        for table in TABLES {
            let decoy = format!("CREATE TABLE \"outbox_{table}\" (decoy INTEGER);");
            sql.push_str(&decoys.names().render(DbBackend::Postgres, &decoy));
        }
        let url = url();
        run(&open(&url, "", 1).await, &sql).await;
        let outbox = Outbox::builder().prefix(ODD).schema(schema);
        let settings = format!(
            "SET default_transaction_isolation = 'serializable'; \
             SET search_path = decoy{id}; SET TIME ZONE 'America/New_York'; \
             SET datestyle = 'SQL, DMY'; SET intervalstyle = 'sql_standard'; \
             SET extra_float_digits = -15; SET bytea_output = 'escape'; \
             SET transform_null_equals = on; SET array_nulls = off; \
             SET quote_all_identifiers = on; SET default_transaction_deferrable = on; \
             SET plan_cache_mode = force_generic_plan; SET row_security = off; \
             SET synchronous_commit = off; \
             SET standard_conforming_strings = off; SET escape_string_warning = off"
        );
        Self::with(url, outbox.build().unwrap(), settings).await
    }

    async fn with(url: String, outbox: Outbox, settings: String) -> Self {
        let name = Uuid::now_v7().simple().to_string();
        let settings = format!("{settings}; SET application_name = '{name}'");
        Self {
            db: open(&url, &settings, 8).await,
            outbox,
            url,
            settings,
            name,
        }
    }

    /// Another pool on the same schema.
    pub(crate) async fn open_again(&self, connections: u32) -> DatabaseConnection {
        open(&self.url, &self.settings, connections).await
    }

    /// Another pool on the same database, through what listens to this port; sqlx's parameters
    /// are those of a URL, each after an ampersand.
    pub(crate) async fn open_through(
        &self,
        port: u16,
        parameters: &str,
        connections: u32,
    ) -> DatabaseConnection {
        let (server, database) = self.url.rsplit_once('/').unwrap();
        let (server, _) = server.rsplit_once(':').unwrap();
        let url = format!("{server}:{port}/{database}?sslmode=disable{parameters}");
        open(&url, &self.settings, connections).await
    }

    /// A store of its own, as each dispatcher makes one.
    pub(crate) fn store(&self) -> SeaOrmStore {
        SeaOrmStore::new(&self.db, &self.outbox)
    }

    /// Puts the names of this outbox into a statement.
    pub(crate) fn render(&self, sql: &str) -> String {
        self.outbox.names().render(DbBackend::Postgres, sql)
    }

    pub(crate) async fn execute<const N: usize>(&self, sql: &str, values: [Value; N]) {
        execute(&self.db, &self.render(sql), values).await;
    }

    pub(crate) async fn query(&self, sql: &str) -> Vec<QueryResult> {
        let statement = Statement::from_string(DbBackend::Postgres, self.render(sql));
        self.db.query_all_raw(statement).await.unwrap()
    }

    pub(crate) async fn number(&self, sql: &str) -> i64 {
        self.query(sql).await[0].try_get("", "n").unwrap()
    }

    /// Emits an event in a transaction of its own.
    pub(crate) async fn emit(&self, event: Draft) -> Uuid {
        let txn = self.db.begin().await.unwrap();
        let emitted = self.outbox.emit(&txn, event).await.unwrap();
        txn.commit().await.unwrap();
        emitted.id()
    }

    /// How many sessions of this test are in a state.
    pub(crate) async fn sessions(&self, state: &str) -> i64 {
        let name = &self.name;
        self.number(&format!(
            "SELECT count(*) AS n FROM pg_stat_activity WHERE application_name = '{name}' AND {state}"
        ))
        .await
    }

    /// Waits until a session of this test waits for a lock that another one holds.
    pub(crate) async fn wait_for_waiters(&self) {
        self.wait_for("l.locktype <> 'advisory'").await;
    }

    /// Waits until a session of this test is stopped by an advisory lock.
    pub(crate) async fn wait_for_advisory_waiter(&self) {
        self.wait_for("l.locktype = 'advisory'").await;
    }

    async fn wait_for(&self, what: &str) {
        let sql = format!(
            "SELECT count(*) AS n FROM pg_locks AS l JOIN pg_stat_activity AS a ON a.pid = l.pid \
             WHERE NOT l.granted AND {what} AND a.application_name = '{}'",
            self.name
        );
        for _ in 0..6000 {
            if self.number(&sql).await > 0 {
                return;
            }
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
        panic!("nobody waits");
    }
}

pub(crate) async fn execute<C: ConnectionTrait, const N: usize>(
    db: &C,
    sql: &str,
    values: [Value; N],
) {
    let statement = Statement::from_sql_and_values(DbBackend::Postgres, sql, values);
    db.execute_raw(statement).await.unwrap();
}

pub(crate) async fn run<C: ConnectionTrait>(db: &C, sql: &str) {
    db.execute_unprepared(sql).await.unwrap();
}

/// The server of all tests.
pub(crate) fn url() -> String {
    std::env::var("OUTBOX_TEST_POSTGRES_URL").unwrap_or_else(|_| {
        panic!("OUTBOX_TEST_POSTGRES_URL is not set: run these tests with ./tests/run")
    })
}

pub(crate) fn port() -> u16 {
    let url = url();
    let (_, place) = url.rsplit_once(':').unwrap();
    place.split('/').next().unwrap().parse().unwrap()
}

async fn open(url: &str, settings: &str, connections: u32) -> DatabaseConnection {
    let mut options = ConnectOptions::new(url);
    let settings = settings.to_owned();
    options
        .max_connections(connections)
        .min_connections(0)
        .sqlx_logging(false)
        .map_sqlx_postgres_pool_opts(move |pool| {
            let settings = settings.clone();
            pool.after_connect(move |connection, _| {
                let settings = settings.clone();
                Box::pin(async move {
                    use sea_orm::sqlx::{AssertSqlSafe, Executor};
                    connection.execute(AssertSqlSafe(settings)).await.map(drop)
                })
            })
        });
    SeaDatabase::connect(options).await.unwrap()
}
