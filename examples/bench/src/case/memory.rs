//! The most memory that the process takes while it delivers.

use super::fill::{fill, source};
use crate::{
    args::Args,
    event::Kind,
    ground::{Ground, empty},
    product::{self, Options},
    report::{Report, What},
};
use outbox_seaorm::BoxError;
use std::fs;

const SMALL: usize = 1_000_000;
const LARGE: usize = 1_000;
const LARGE_PAYLOAD: usize = 1_000_000;

pub(super) async fn run(args: &Args, ground: &Ground, report: &mut Report) -> Result<(), BoxError> {
    let db = ground.prepare(4).await?;
    for (events, payload) in [(SMALL, args.payload), (LARGE, LARGE_PAYLOAD)] {
        let events = args.events_or(events);
        let kind = Kind {
            ordered: true,
            keys: args.keys_or(&[500], events)[0],
            payload,
        };
        let what = What::new(
            "memory",
            "MiB",
            format!("{events} events of {payload} bytes"),
        )
        .with("events", events)
        .with("payload", payload);
        source(&db, kind, events).await?;
        for _ in 0..args.runs() {
            empty(&db, &["outbox_delivered"]).await?;
            fill(&db, "outbox_event").await?;
            // From here on the highest mark counts anew.
            fs::write("/proc/self/clear_refs", "5").map_err(|error| {
                format!("this case needs the process's memory from Linux's /proc: {error}")
            })?;
            let before = resident("VmRSS:")?;
            product::drain(&db, Options::default(), events).await?;
            report.product(&what, resident("VmHWM:")?);
            report.reference(&what, "before the drain", before);
        }
    }
    Ok(db.close().await?)
}

/// A line of `/proc/self/status`, in MiB.
fn resident(line: &str) -> Result<f64, BoxError> {
    let status = fs::read_to_string("/proc/self/status")?;
    let kib = status
        .lines()
        .find_map(|text| text.strip_prefix(line))
        .and_then(|text| text.split_whitespace().next())
        .ok_or("no such line in /proc/self/status")?;
    Ok(kib.parse::<f64>()? / 1024.0)
}
