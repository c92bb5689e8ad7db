use sea_orm::{
    DatabaseConnection, DbBackend,
    sqlx::{Database, Executor, Pool, pool::PoolConnection, query, query_scalar},
};
use std::time::Duration;

/// A pool as the guide advises it. A query of MySQL that is dropped may leave its connection reading
/// for what never comes, until the server ends a session that does nothing (sqlx#563).
pub async fn as_advised(db: &DatabaseConnection) -> DatabaseConnection {
    if db.get_database_backend() != DbBackend::MySql {
        return db.clone();
    }
    let pool = db.get_mysql_connection_pool();
    let options = pool.options().clone().after_connect(|session, _| {
        Box::pin(async move {
            let sql = "SET SESSION wait_timeout = 2";
            session.execute(sql).await.map(drop)
        })
    });
    let options = options.connect_with((*pool.connect_options()).clone());
    options.await.unwrap().into()
}

/// A pool of as many connections that waits for none of them for long.
pub async fn impatient(db: &DatabaseConnection) -> DatabaseConnection {
    macro_rules! opened {
        ($pool:expr) => {{
            let options = $pool.options().clone().acquire_timeout(PATIENCE);
            let pool = options.connect_with((*$pool.connect_options()).clone());
            pool.await.unwrap().into()
        }};
    }
    match db.get_database_backend() {
        DbBackend::Postgres => opened!(db.get_postgres_connection_pool()),
        DbBackend::MySql => opened!(db.get_mysql_connection_pool()),
        _ => opened!(db.get_sqlite_connection_pool()),
    }
}

/// Longer than a few transactions take on a machine that has a lot to do.
const PATIENCE: Duration = Duration::from_secs(5);

/// Takes all connections of a pool at once; returns how many of them are in a transaction that
/// nobody has begun.
pub async fn in_transactions(db: &DatabaseConnection) -> usize {
    let mut count = 0;
    match db.get_database_backend() {
        DbBackend::Postgres => {
            for mut connection in all(db.get_postgres_connection_pool()).await {
                let mut ids = Vec::new();
                for _ in 0..2 {
                    let id = query_scalar("SELECT pg_current_xact_id()::text");
                    ids.push(id.fetch_one(&mut *connection).await.unwrap());
                }
                let [first, second]: [String; 2] = ids.try_into().unwrap();
                count += usize::from(first == second);
            }
        }
        DbBackend::MySql => {
            for mut connection in all(db.get_mysql_connection_pool()).await {
                let sql = "SELECT CAST(@@in_transaction AS SIGNED)";
                // One that was ended while the others were waited for is in none.
                let is_in = query_scalar::<_, i64>(sql).fetch_one(&mut *connection);
                count += usize::from(is_in.await.is_ok_and(|is_in| is_in == 1));
            }
        }
        _ => {
            for mut connection in all(db.get_sqlite_connection_pool()).await {
                // There is none in a transaction.
                match query("BEGIN").execute(&mut *connection).await {
                    Ok(_) => drop(query("ROLLBACK").execute(&mut *connection).await.unwrap()),
                    Err(_) => count += 1,
                }
            }
        }
    }
    count
}

async fn all<DB: Database>(pool: &Pool<DB>) -> Vec<PoolConnection<DB>> {
    let mut connections = Vec::new();
    for _ in 0..pool.options().get_max_connections() {
        connections.push(pool.acquire().await.unwrap());
    }
    connections
}
