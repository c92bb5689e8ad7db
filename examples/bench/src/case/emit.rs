//! Transactions a second that insert a business row and emit an event.

use crate::{
    args::Args,
    event::Kind,
    ground::{Ground, empty},
    plain::Insert,
    report::{Report, What},
};
use outbox_seaorm::{BoxError, Emit};
use sea_orm::{
    ConnectionTrait, DatabaseConnection, DatabaseTransaction, DbBackend, Statement,
    TransactionTrait,
};
use std::{sync::Arc, time::Instant};
use tokio::task::JoinSet;

const TRANSACTIONS: usize = 20_000;
/// One waits for its disk, or its turn.
const ALONE: usize = 4_000;

#[derive(Clone, Copy)]
enum Second {
    Nothing,
    Insert,
    Emit,
}

pub(super) async fn run(args: &Args, ground: &Ground, report: &mut Report) -> Result<(), BoxError> {
    let kind = Kind {
        ordered: true,
        keys: args.keys_or(&[500], usize::MAX)[0],
        payload: args.payload,
    };
    // SQLite has one writer at a time.
    let defaults: &[usize] = match ground.backend() {
        DbBackend::Sqlite => &[1],
        _ => &[1, 16, 64],
    };
    for clients in args.clients_or(defaults) {
        let db = ground.prepare(u32::try_from(clients)?).await?;
        let transactions = args.events_or(if clients == 1 { ALONE } else { TRANSACTIONS });
        let what = What::new("emit", "tx/s", format!("{clients} clients"))
            .with("clients", clients)
            .with("transactions", transactions)
            .with("payload", args.payload);
        for _ in 0..args.runs() {
            for second in [Second::Emit, Second::Insert, Second::Nothing] {
                empty(&db, &["outbox_event", "plain_outbox_event", "business"]).await?;
                let value = rate(&db, kind, clients, transactions, second).await?;
                match second {
                    Second::Emit => report.product(&what, value),
                    Second::Insert => report.reference(&what, "a second INSERT", value),
                    Second::Nothing => report.reference(&what, "no event", value),
                }
            }
        }
        db.close().await?;
    }
    Ok(())
}

async fn rate(
    db: &DatabaseConnection,
    kind: Kind,
    clients: usize,
    transactions: usize,
    second: Second,
) -> Result<f64, BoxError> {
    let insert = Arc::new(Insert::rows(db.get_database_backend(), 1));
    let start = Instant::now();
    let mut tasks = JoinSet::new();
    for client in 0..clients {
        let (db, insert) = (db.clone(), Arc::clone(&insert));
        tasks.spawn(async move {
            for n in (client..transactions).step_by(clients) {
                let txn = db.begin().await?;
                business(&txn, n).await?;
                match second {
                    Second::Nothing => {}
                    Second::Insert => insert.execute(&txn, &[kind.event(n)]).await?,
                    Second::Emit => drop(txn.emit(kind.event(n)).await?),
                }
                txn.commit().await?;
            }
            Ok::<_, BoxError>(())
        });
    }
    while let Some(client) = tasks.join_next().await {
        client??;
    }
    Ok(transactions as f64 / start.elapsed().as_secs_f64())
}

/// What the transaction is for.
async fn business(txn: &DatabaseTransaction, n: usize) -> Result<(), BoxError> {
    let backend = txn.get_database_backend();
    let sql = match backend {
        DbBackend::Postgres => "INSERT INTO business (customer, total) VALUES ($1, $2)",
        _ => "INSERT INTO business (customer, total) VALUES (?, ?)",
    };
    let values = [(n as i64).into(), 42_i64.into()];
    let statement = Statement::from_sql_and_values(backend, sql, values);
    txn.execute_raw(statement).await?;
    Ok(())
}
