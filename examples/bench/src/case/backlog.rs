//! Whether it matters how much waits, is blocked, or cannot be cleaned up.

use super::fill::{analyze, copy, fill, source};
use crate::{
    args::Args,
    event::{Kind, OrderEvent},
    ground::{Ground, empty},
    product::{self, Options},
    report::{Report, What},
};
use outbox_seaorm::{
    BoxError, Emit, HandlerError, Outbox, SeaOrmStore,
    store::{Cursor, FetchRequest, Member, Store},
};
use sea_orm::{
    ConnectionTrait, DatabaseConnection, DatabaseTransaction, DbBackend, IsolationLevel,
    TransactionTrait,
};
use std::{
    num::NonZeroUsize,
    time::{Duration, Instant},
};

/// How many events are delivered, of those that wait.
const EVENTS: usize = 10_000;
const WAITING: usize = 1_000_000;

struct Scene<'a> {
    ground: &'a Ground,
    db: &'a DatabaseConnection,
    events: usize,
    kind: Kind,
}

pub(super) async fn run(args: &Args, ground: &Ground, report: &mut Report) -> Result<(), BoxError> {
    let db = ground.prepare(6).await?;
    let events = args.events_or(EVENTS);
    let scene = Scene {
        ground,
        db: &db,
        events,
        kind: Kind {
            ordered: true,
            keys: args.keys_or(&[500], events)[0],
            payload: args.payload,
        },
    };
    let waiting = args.waiting.map_or(WAITING, NonZeroUsize::get);
    let mut small = Vec::new();
    for many in [events, waiting] {
        source(&db, scene.kind, many).await?;
        let lines = [
            scene
                .line("1/s", format!("{many} waiting"))
                .with("waiting", many),
            scene
                .line("ms", format!("a fetch, {many} waiting"))
                .with("waiting", many),
        ];
        for run in 0..args.runs() {
            let values = [scene.drain().await?, scene.fetch().await?];
            for (what, value) in lines.iter().zip(values) {
                report.product(what, value);
            }
            if many == events {
                small.push(values);
            } else {
                report.against(&lines[0], "few waiting", small[run][0]);
                report.against(&lines[1], "few waiting", small[run][1]);
            }
        }
    }
    source(&db, scene.kind, events).await?;
    for few in &small {
        let what = scene.line("1/s", "stale statistics");
        report.product(&what, scene.stale().await?);
        report.against(&what, "few waiting", few[0]);
        let what = scene.line("1/s", format!("{} of a blocked aggregate", waiting / 10));
        report.product(&what, scene.blocked(waiting / 10).await?);
        report.against(&what, "few waiting", few[0]);
    }
    for _ in 0..args.runs() {
        let what = scene.line(
            "1/s",
            format!("an old snapshot, {} delivered since", events * 10),
        );
        report.product(&what, scene.pinned(true).await?);
        report.against(&what, "no old snapshot", scene.pinned(false).await?);
    }
    Ok(db.close().await?)
}

impl Scene<'_> {
    fn line(&self, unit: &'static str, name: impl Into<String>) -> What {
        What::new("backlog", unit, name)
            .with("delivered", self.events)
            .with("keys", self.kind.keys)
            .with("payload", self.kind.payload)
    }

    /// Delivers the first events of all that wait.
    async fn drain(&self) -> Result<f64, BoxError> {
        empty(self.db, &["outbox_delivered"]).await?;
        fill(self.db, "outbox_event").await?;
        self.rate(product::drain(self.db, Options::default(), self.events).await?)
    }

    fn rate(&self, took: Duration) -> Result<f64, BoxError> {
        Ok(self.events as f64 / took.as_secs_f64())
    }

    /// How long a fetch takes that reads on in all shards.
    async fn fetch(&self) -> Result<f64, BoxError> {
        const FETCHES: u32 = 20;
        let store = SeaOrmStore::new(self.db, &Outbox::default());
        let member = Member::new("bench", "");
        store.join(&member, Duration::from_secs(60)).await?;
        let owned = store.take(member.id, &store.shards().await?).await?;
        let limit = 1_000 / owned.len().max(1);
        let cursors: Vec<_> = owned
            .iter()
            .map(|owned| Cursor::new(owned.shard, owned.epoch, limit))
            .collect();
        let request = FetchRequest::new(member.id, &cursors, 1_000);
        // The first looks at what nobody has looked at before.
        store.fetch(&request).await?;
        let start = Instant::now();
        for _ in 0..FETCHES {
            std::hint::black_box(store.fetch(&request).await?);
        }
        let took = start.elapsed() / FETCHES;
        store.leave(member.id).await?;
        Ok(took.as_secs_f64() * 1_000.0)
    }

    /// The database believes that the table is empty.
    async fn stale(&self) -> Result<f64, BoxError> {
        empty(self.db, &["outbox_delivered", "outbox_event"]).await?;
        analyze(self.db, "outbox_event").await?;
        copy(self.db, "outbox_event").await?;
        self.rate(product::drain(self.db, Options::default(), self.events).await?)
    }

    /// Many events stand behind a dead letter, before those that are delivered.
    async fn blocked(&self, blocked: usize) -> Result<f64, BoxError> {
        empty(
            self.db,
            &["outbox_event", "outbox_delivered", "outbox_dead"],
        )
        .await?;
        let key = |n: usize| {
            Kind {
                keys: 1,
                ..self.kind
            }
            .draft(n)
            .header("blocked", 1)
        };
        let txn = self.db.begin().await?;
        for first in (0..blocked).step_by(1_000) {
            txn.emit_all((first..blocked.min(first + 1_000)).map(key))
                .await?;
        }
        txn.commit().await?;
        copy(self.db, "outbox_event").await?;
        analyze(self.db, "outbox_event").await?;
        // The first of the aggregate, which other events share: these do not count.
        let refuse = |event| {
            let (OrderEvent::Placed(order) | OrderEvent::Mailed(order)) = event;
            async move {
                match order.order_id {
                    u64::MAX => Err(HandlerError::dead("refused")),
                    _ => Ok(()),
                }
            }
        };
        let others = self.events - self.events.div_ceil(self.kind.keys);
        let start = Instant::now();
        let dispatcher = product::start(self.db, Options::default(), refuse)?;
        product::settled(&dispatcher, others).await?;
        let took = start.elapsed();
        dispatcher.shutdown().await;
        Ok(others as f64 / took.as_secs_f64())
    }

    /// What was delivered since an old snapshot was taken cannot be cleaned up.
    async fn pinned(&self, pinned: bool) -> Result<f64, BoxError> {
        const BEFORE: usize = 10;
        empty(
            self.db,
            &["outbox_event", "outbox_delivered", "outbox_dead"],
        )
        .await?;
        let snapshot = if pinned {
            Some(self.snapshot().await?)
        } else {
            None
        };
        let dispatcher = product::start(self.db, Options::default(), async |_| Ok(()))?;
        for _ in 0..BEFORE {
            copy(self.db, "outbox_event").await?;
        }
        product::settled(&dispatcher, self.events * BEFORE).await?;
        copy(self.db, "outbox_event").await?;
        let start = Instant::now();
        product::settled(&dispatcher, self.events * (BEFORE + 1)).await?;
        let took = start.elapsed();
        dispatcher.shutdown().await;
        if let Some(snapshot) = snapshot {
            snapshot.rollback().await?;
        }
        self.rate(took)
    }

    async fn snapshot(&self) -> Result<DatabaseTransaction, BoxError> {
        let isolation = match self.ground.backend() {
            DbBackend::Sqlite => None,
            _ => Some(IsolationLevel::RepeatableRead),
        };
        let txn = self.db.begin_with_config(isolation, None).await?;
        txn.execute_unprepared("SELECT count(*) FROM outbox_event")
            .await?;
        Ok(txn)
    }
}
