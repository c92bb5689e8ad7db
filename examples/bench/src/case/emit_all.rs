//! Events a second that one client emits in batches, one transaction a batch.

use crate::{
    args::Args,
    event::{Kind, OrderEvent},
    ground::{Ground, empty},
    plain::Insert,
    report::{Report, What},
};
use outbox_seaorm::{BoxError, Emit};
use sea_orm::{DatabaseConnection, DbBackend, TransactionTrait};
use std::time::Instant;

const EVENTS: usize = 20_000;

pub(super) async fn run(args: &Args, ground: &Ground, report: &mut Report) -> Result<(), BoxError> {
    let db = ground.prepare(1).await?;
    let kind = Kind {
        ordered: true,
        keys: args.keys_or(&[500], usize::MAX)[0],
        payload: args.payload,
    };
    for batch in args.batches_or(&[10, 100, 1_000]) {
        // Whole batches only.
        let events = (args.events_or(EVENTS) / batch).max(1) * batch;
        let what = What::new("emit-all", "1/s", format!("{batch} at once"))
            .with("batch", batch)
            .with("events", events)
            .with("payload", args.payload);
        let rows = Insert::rows(ground.backend(), batch);
        let lists = (ground.backend() == DbBackend::Postgres).then(Insert::unnest);
        let all: Vec<_> = (0..events).map(|n| kind.event(n)).collect();
        for _ in 0..args.runs() {
            empty(&db, &["outbox_event", "plain_outbox_event"]).await?;
            let value = rate(&db, &all, batch, None).await?;
            report.product(&what, value);
            let value = rate(&db, &all, batch, Some(&rows)).await?;
            report.reference(&what, "INSERT of many rows", value);
            if let Some(lists) = &lists {
                empty(&db, &["plain_outbox_event"]).await?;
                let value = rate(&db, &all, batch, Some(lists)).await?;
                report.reference(&what, "INSERT SELECT unnest", value);
            }
        }
    }
    Ok(db.close().await?)
}

async fn rate(
    db: &DatabaseConnection,
    events: &[OrderEvent],
    batch: usize,
    plain: Option<&Insert>,
) -> Result<f64, BoxError> {
    let start = Instant::now();
    for some in events.chunks(batch) {
        let txn = db.begin().await?;
        match plain {
            Some(insert) => insert.execute(&txn, some).await?,
            None => drop(txn.emit_all(some.iter().cloned()).await?),
        }
        txn.commit().await?;
    }
    Ok(events.len() as f64 / start.elapsed().as_secs_f64())
}
