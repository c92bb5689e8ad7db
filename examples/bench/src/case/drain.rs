//! Events a second from the start of a dispatcher until all that waited is settled.

use super::fill::{fill, source};
use crate::{
    args::Args,
    event::Kind,
    ground::{Ground, empty},
    plain::Loop,
    product::{self, Options},
    report::{Report, What},
};
use outbox_seaorm::{BoxError, History};
use sea_orm::DatabaseConnection;
use std::time::Instant;

const EVENTS: usize = 200_000;

pub(super) async fn run(args: &Args, ground: &Ground, report: &mut Report) -> Result<(), BoxError> {
    let db = ground.prepare(4).await?;
    let events = args.events_or(EVENTS);
    let keys = args.keys_or(&[500, 50_000], events);
    let ordered = keys.iter().map(|keys| (true, *keys));
    let unordered = keys.first().map(|keys| (false, *keys));
    for (ordered, keys) in ordered.chain(unordered) {
        let kind = Kind {
            ordered,
            keys,
            payload: args.payload,
        };
        source(&db, kind, events).await?;
        for history in [History::Discard, History::Keep] {
            measure(args, &db, report, (kind, history, events)).await?;
        }
    }
    Ok(db.close().await?)
}

async fn measure(
    args: &Args,
    db: &DatabaseConnection,
    report: &mut Report,
    (kind, history, events): (Kind, History, usize),
) -> Result<(), BoxError> {
    let keep = history == History::Keep;
    let batch = args.batches_or(&[1_000])[0];
    let then = if keep { "keep" } else { "discard" };
    let name = format!("{} over {} keys, {then}", kind.order(), kind.keys);
    let what = What::new("drain", "1/s", name)
        .with("events", events)
        .with("keys", kind.keys)
        .with("ordered", kind.ordered)
        .with("history", then)
        .with("payload", kind.payload)
        .with("batch", batch);
    let options = Options {
        history,
        batch: args.batch.map(usize::from),
    };
    let plain = Loop::new(db.get_database_backend(), batch, keep);
    for _ in 0..args.runs() {
        empty(db, &["plain_outbox_event", "plain_outbox_delivered"]).await?;
        empty(db, &["outbox_delivered"]).await?;
        fill(db, "outbox_event").await?;
        let took = product::drain(db, options, events).await?;
        report.product(&what, events as f64 / took.as_secs_f64());

        empty(db, &["outbox_event", "outbox_delivered"]).await?;
        fill(db, "plain_outbox_event").await?;
        let start = Instant::now();
        plain.run(db, events).await?;
        report.reference(
            &what,
            "SELECT and DELETE",
            events as f64 / start.elapsed().as_secs_f64(),
        );
    }
    Ok(())
}
