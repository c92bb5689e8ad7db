//! Milliseconds from commit to the start of the handler, for events that come one by one.

use crate::{
    args::Args,
    event::{Kind, OrderEvent},
    ground::{Ground, empty},
    product::{self, Options},
    report::{Report, What},
};
use outbox_seaorm::{BoxError, Outbox};
use sea_orm::{
    ConnectionTrait, DatabaseConnection, DbBackend, TransactionTrait, sqlx::postgres::PgListener,
};
use std::{
    future::Future,
    sync::{Arc, OnceLock},
    time::{Duration, Instant},
};
use tokio::{
    task::JoinSet,
    time::{MissedTickBehavior, interval, sleep},
};

/// How events come.
#[derive(Clone, Copy)]
struct Pace {
    name: &'static str,
    clients: usize,
    /// Between two events of a client.
    pause: Duration,
    events: usize,
}

const PACES: [Pace; 2] = [
    Pace {
        name: "idle",
        clients: 1,
        pause: Duration::from_millis(50),
        events: 100,
    },
    Pace {
        name: "2,000 events/s",
        clients: 16,
        pause: Duration::from_millis(8),
        events: 8_000,
    },
];

pub(super) async fn run(args: &Args, ground: &Ground, report: &mut Report) -> Result<(), BoxError> {
    for pace in PACES {
        let pace = Pace {
            events: args.events_or(pace.events),
            ..pace
        };
        let db = ground.prepare(u32::try_from(pace.clients + 4)?).await?;
        let lines = |name: &str| {
            ["p50", "p99"].map(|part| {
                What::new("latency", "ms", format!("{}, {name}, {part}", pace.name))
                    .with("pace", pace.name)
                    .with("emitter", name)
                    .with("events", pace.events)
            })
        };
        // A dispatcher in another process is not told by the emitter; a name apart keeps it from that.
        let [near, far] = [lines("same process"), lines("another process")];
        for _ in 0..args.runs() {
            for (what, outbox) in [(&near, Outbox::default()), (&far, ground.outbox_apart()?)] {
                let took = product(&db, &outbox, pace, args.payload).await?;
                let took = percentiles(took);
                report.product(&what[0], took[0]);
                report.product(&what[1], took[1]);
                if ground.backend() == DbBackend::Postgres {
                    let took = percentiles(notify(&db, pace).await?);
                    report.reference(&what[0], "raw NOTIFY", took[0]);
                    report.reference(&what[1], "raw NOTIFY", took[1]);
                }
            }
        }
        db.close().await?;
    }
    Ok(())
}

/// When something happened to each of the events.
type Times = Arc<Vec<OnceLock<Instant>>>;

fn times(events: usize) -> Times {
    Arc::new((0..events).map(|_| OnceLock::new()).collect())
}

async fn product(
    db: &DatabaseConnection,
    outbox: &Outbox,
    pace: Pace,
    payload: usize,
) -> Result<Vec<Duration>, BoxError> {
    empty(db, &["outbox_event", "outbox_delivered"]).await?;
    let kind = Kind {
        ordered: true,
        keys: pace.events,
        payload,
    };
    let (committed, started) = (times(pace.events), times(pace.events));
    let here = Arc::clone(&started);
    let handle = move |event| {
        let now = Instant::now();
        let (OrderEvent::Placed(order) | OrderEvent::Mailed(order)) = event;
        if let Some(time) = usize::try_from(u64::MAX - order.order_id)
            .ok()
            .and_then(|n| here.get(n))
        {
            let _ = time.set(now);
        }
        async { Ok(()) }
    };
    let dispatcher = product::start(db, Options::default(), handle)?;
    // Until it has its shards and has found nothing for a while.
    sleep(Duration::from_secs(2)).await;
    let emit = {
        let (db, outbox, committed) = (db.clone(), outbox.clone(), Arc::clone(&committed));
        move |n: usize| {
            let (db, outbox, committed) = (db.clone(), outbox.clone(), Arc::clone(&committed));
            async move {
                let txn = db.begin().await?;
                outbox.emit(&txn, kind.event(n)).await?;
                txn.commit().await?;
                let _ = committed[n].set(Instant::now());
                Ok(())
            }
        }
    };
    paced(pace, emit).await?;
    product::settled(&dispatcher, pace.events).await?;
    dispatcher.shutdown().await;
    Ok(between(&committed, &started))
}

/// From sending NOTIFY to receiving it: two sessions, and nothing is written.
async fn notify(db: &DatabaseConnection, pace: Pace) -> Result<Vec<Duration>, BoxError> {
    let (sent, received) = (times(pace.events), times(pace.events));
    let mut listener = PgListener::connect_with(db.get_postgres_connection_pool()).await?;
    listener.listen("bench").await?;
    let receive = {
        let received = Arc::clone(&received);
        tokio::spawn(async move {
            for _ in 0..received.len() {
                let notification = listener.recv().await?;
                let _ = received[notification.payload().parse::<usize>()?].set(Instant::now());
            }
            Ok::<_, BoxError>(())
        })
    };
    let send = {
        let (db, sent) = (db.clone(), Arc::clone(&sent));
        move |n: usize| {
            let (db, sent) = (db.clone(), Arc::clone(&sent));
            async move {
                let _ = sent[n].set(Instant::now());
                db.execute_unprepared(&format!("NOTIFY bench, '{n}'"))
                    .await?;
                Ok(())
            }
        }
    };
    paced(pace, send).await?;
    receive.await??;
    Ok(between(&sent, &received))
}

/// Does something for each event, by several clients that each keep their pace.
async fn paced<F, R>(pace: Pace, work: F) -> Result<(), BoxError>
where
    F: Fn(usize) -> R + Clone + Send + 'static,
    R: Future<Output = Result<(), BoxError>> + Send,
{
    let mut clients = JoinSet::new();
    for client in 0..pace.clients {
        let work = work.clone();
        clients.spawn(async move {
            let offset = pace.pause.mul_f64(client as f64 / pace.clients as f64);
            sleep(offset).await;
            let mut ticks = interval(pace.pause);
            ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
            for n in (client..pace.events).step_by(pace.clients) {
                ticks.tick().await;
                work(n).await?;
            }
            Ok::<_, BoxError>(())
        });
    }
    while let Some(client) = clients.join_next().await {
        client??;
    }
    Ok(())
}

fn between(from: &Times, to: &Times) -> Vec<Duration> {
    let pairs = from.iter().zip(to.iter());
    pairs
        .filter_map(|(from, to)| Some(to.get()?.saturating_duration_since(*from.get()?)))
        .collect()
}

/// The median and the 99th of a hundred, in milliseconds.
fn percentiles(mut took: Vec<Duration>) -> [f64; 2] {
    took.sort_unstable();
    [50, 99].map(|percent| {
        let at = (took.len() * percent / 100).min(took.len().saturating_sub(1));
        took.get(at)
            .map_or(f64::NAN, |took| took.as_secs_f64() * 1_000.0)
    })
}
