use sea_orm::{
    DatabaseConnection, DbErr, RuntimeErr,
    sqlx::{
        Connection, Database, Pool,
        pool::{PoolConnection, PoolOptions},
    },
};
use std::future::Future;

/// A pool of one connection beside the given one, to the same server as the same user.
///
/// The pool inside a SeaORM connection can be had only where SeaORM's driver is compiled in, which
/// an application may have asked for at SeaORM and not here. So no feature of this crate decides:
/// where SeaORM has the method below, it comes before that of [`NoDriver`].
pub(super) async fn mysql(db: &DatabaseConnection) -> Result<DatabaseConnection, DbErr> {
    if !is_pool(db, MYSQL) {
        return Ok(db.clone());
    }
    db.get_mysql_connection_pool().connect_apart(db).await
}

/// The same on PostgreSQL.
pub(super) async fn postgres(db: &DatabaseConnection) -> Result<DatabaseConnection, DbErr> {
    if !is_pool(db, POSTGRES) {
        return Ok(db.clone());
    }
    db.get_postgres_connection_pool().connect_apart(db).await
}

/// A connection to the same database in memory, which lives as long as one to it does.
pub(super) async fn sqlite(db: &DatabaseConnection) -> Result<DatabaseConnection, DbErr> {
    if !is_pool(db, SQLITE) {
        return Ok(db.clone());
    }
    db.get_sqlite_connection_pool().connect_apart(db).await
}

/// How many connections the pool has at most; `None` where the connection is no pool.
pub(super) fn max_connections(db: &DatabaseConnection) -> Option<u32> {
    if is_pool(db, POSTGRES) {
        return db.get_postgres_connection_pool().max_connections();
    }
    if is_pool(db, MYSQL) {
        return db.get_mysql_connection_pool().max_connections();
    }
    None
}

/// Ends the connections to a server that nobody uses: the pool makes new ones.
pub(super) fn let_go(db: &DatabaseConnection) {
    if is_pool(db, POSTGRES) {
        db.get_postgres_connection_pool().let_go();
    }
    if is_pool(db, MYSQL) {
        db.get_mysql_connection_pool().let_go();
    }
}

/// The same of a file; what is in memory, or attached to a connection, would be gone with it.
pub(super) fn let_go_of_file(db: &DatabaseConnection) {
    if is_pool(db, SQLITE) {
        db.get_sqlite_connection_pool().let_go();
    }
}

const MYSQL: &str = "SqlxMySqlPoolConnection";
const SQLITE: &str = "SqlxSqlitePoolConnection";
pub(super) const POSTGRES: &str = "SqlxPostgresPoolConnection";

/// Whether the connection is a pool of this kind: SeaORM's methods panic at any other, such as a
/// mock.
pub(super) fn is_pool(db: &DatabaseConnection, kind: &str) -> bool {
    format!("{:?}", db.inner) == kind
}

trait Apart {
    fn connect_apart(
        &self,
        db: &DatabaseConnection,
    ) -> impl Future<Output = Result<DatabaseConnection, DbErr>> + Send;

    fn max_connections(&self) -> Option<u32>;

    fn let_go(&self);
}

impl<DB> Apart for Pool<DB>
where
    DB: Database,
    DatabaseConnection: From<Self>,
{
    async fn connect_apart(&self, _: &DatabaseConnection) -> Result<DatabaseConnection, DbErr> {
        let options: <DB::Connection as Connection>::Options = (*self.connect_options()).clone();
        // What the application does with each new connection is done with this one too.
        let own: PoolOptions<DB> = self.options().clone();
        let pool = own
            .min_connections(0)
            .max_connections(1)
            .idle_timeout(None)
            .max_lifetime(None)
            .connect_with(options)
            .await
            .map_err(|error| DbErr::Conn(RuntimeErr::SqlxError(error.into())))?;
        Ok(pool.into())
    }

    fn max_connections(&self) -> Option<u32> {
        Some(self.options().get_max_connections())
    }

    fn let_go(&self) {
        for _ in 0..self.num_idle() {
            // Without a word to the server, which may not be there.
            let _ = self.try_acquire().map(PoolConnection::detach);
        }
    }
}

/// Stands in for the pool where SeaORM has no such driver.
#[allow(dead_code, reason = "in use where SeaORM lacks a driver")]
pub(super) struct Missing;

#[allow(dead_code, reason = "in use where SeaORM lacks a driver")]
pub(super) trait NoDriver {
    fn get_mysql_connection_pool(&self) -> &Missing;
    fn get_postgres_connection_pool(&self) -> &Missing;
    fn get_sqlite_connection_pool(&self) -> &Missing;
}

impl NoDriver for DatabaseConnection {
    fn get_mysql_connection_pool(&self) -> &Missing {
        &Missing
    }

    fn get_postgres_connection_pool(&self) -> &Missing {
        &Missing
    }

    fn get_sqlite_connection_pool(&self) -> &Missing {
        &Missing
    }
}

impl Apart for Missing {
    async fn connect_apart(&self, db: &DatabaseConnection) -> Result<DatabaseConnection, DbErr> {
        Ok(db.clone())
    }

    fn max_connections(&self) -> Option<u32> {
        None
    }

    fn let_go(&self) {}
}
