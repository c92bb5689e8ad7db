//! The outbox, through its public API.

use crate::event::OrderEvent;
use outbox_seaorm::{
    BoxError, CancellationToken, Delivery, DispatcherHandle, HandlerError, History, Outbox,
};
use sea_orm::DatabaseConnection;
use std::{
    future::Future,
    time::{Duration, Instant},
};
use tokio::time::sleep;

/// How a dispatcher differs from the default.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Options {
    pub(crate) history: History,
    pub(crate) batch: Option<usize>,
}

/// Starts a dispatcher with this handler for all topics.
pub(crate) fn start<F, R>(
    db: &DatabaseConnection,
    options: Options,
    handle: F,
) -> Result<DispatcherHandle, BoxError>
where
    F: Fn(OrderEvent) -> R + Send + Sync + 'static,
    R: Future<Output = Result<(), HandlerError>> + Send + 'static,
{
    let builder = Outbox::default()
        .dispatcher(db)
        .on_event(move |event: OrderEvent, _: Delivery| handle(event))
        .history(options.history)
        .configure(|config| {
            if let Some(batch) = options.batch {
                config.batch = batch;
            }
        });
    Ok(builder.spawn(CancellationToken::new())?)
}

/// How long a new dispatcher takes until this many events are delivered and written as such, by a
/// handler that does nothing.
pub(crate) async fn drain(
    db: &DatabaseConnection,
    options: Options,
    events: usize,
) -> Result<Duration, BoxError> {
    let start = Instant::now();
    let dispatcher = self::start(db, options, async |_| Ok(()))?;
    let drained = settled(&dispatcher, events).await;
    let took = start.elapsed();
    dispatcher.shutdown().await;
    drained.map(|()| took)
}

/// Waits until this many events are delivered and written as such.
pub(crate) async fn settled(dispatcher: &DispatcherHandle, events: usize) -> Result<(), BoxError> {
    const STALLED: Duration = Duration::from_secs(60);
    let (mut before, mut since) = (0, Instant::now());
    loop {
        let delivered = dispatcher.stats().delivered;
        if delivered >= events as u64 {
            return Ok(());
        }
        if delivered > before {
            (before, since) = (delivered, Instant::now());
        }
        if since.elapsed() > STALLED {
            return Err(format!("nothing moves: {:?}", dispatcher.stats()).into());
        }
        sleep(Duration::from_millis(1)).await;
    }
}
