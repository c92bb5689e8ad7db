//! Says on standard error how far it is.

use crate::{handlers::LEASE, report::Report};
use sea_orm::{ConnectionTrait, DatabaseConnection, DbErr, Statement};
use std::{convert::Infallible, time::Duration};

/// Does the work, and writes a line every half a second meanwhile.
pub(crate) async fn shown<T>(db: &DatabaseConnection, work: impl Future<Output = T>) -> T {
    tokio::select! {
        done = work => done,
        never = show(db) => match never {},
    }
}

async fn show(db: &DatabaseConnection) -> Infallible {
    let mut shown = String::new();
    loop {
        tokio::time::sleep(Duration::from_millis(500)).await;
        // An error here is met by the work itself.
        let Ok(report) = Report::read(db).await else {
            continue;
        };
        let line = report.progress();
        if line != shown {
            eprintln!("{line}");
            shown = line;
        }
    }
}

/// Says so when an earlier run was killed: its events are free once its lease has ended.
pub(crate) async fn announce_wait(db: &DatabaseConnection) -> Result<(), DbErr> {
    let sql = "SELECT 1 FROM outbox_dispatcher";
    let others = Statement::from_string(db.get_database_backend(), sql);
    if db.query_one_raw(others).await?.is_some() {
        eprintln!(
            "another run is alive or was killed: waiting for its lease of {} s to end",
            LEASE.as_secs()
        );
    }
    Ok(())
}
