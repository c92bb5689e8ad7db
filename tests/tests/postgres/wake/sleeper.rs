use crate::database::Database;
use outbox_core::{Delivery, Dispatcher, DispatcherHandle, Envelope, HandlerError};
use outbox_seaorm::{CancellationToken, SeaOrmStore};
use outbox_tests::watched::Watched;
use sea_orm::DatabaseConnection;
use std::time::Duration;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

/// So long that whatever a test sees was not polled.
pub(super) const EVER: Duration = Duration::from_secs(10 * 60);

/// A dispatcher that hears nothing of what is emitted in this process, and never looks by itself.
pub(super) struct Sleeper {
    handle: DispatcherHandle,
    delivered: UnboundedReceiver<String>,
    /// What was not asked for yet.
    heap: Vec<String>,
}

impl Sleeper {
    /// Polls when it starts, and not again.
    pub(super) fn start(database: &Database, db: &DatabaseConnection) -> Self {
        Self::polling(database, db, (EVER, EVER))
    }

    pub(super) fn polling(
        database: &Database,
        db: &DatabaseConnection,
        poll: (Duration, Duration),
    ) -> Self {
        Self::over(Watched::new(SeaOrmStore::new(db, &database.outbox)), poll)
    }

    pub(super) fn over(store: Watched<SeaOrmStore>, poll: (Duration, Duration)) -> Self {
        let (sender, delivered) = unbounded_channel();
        let handle = move |envelope: Envelope, _: Delivery| {
            let sent = sender.send(envelope.payload);
            async move { sent.map_err(HandlerError::retry) }
        };
        let dispatcher = Dispatcher::<Watched<SeaOrmStore>>::builder(store.deaf())
            .on_raw("thing.said", handle)
            // It looks around three times in a lease, and polls then.
            .lease(EVER * 12)
            .configure(|config| config.poll = poll);
        Self {
            handle: dispatcher.spawn(CancellationToken::new()).unwrap(),
            delivered,
            heap: Vec::new(),
        }
    }

    /// Waits for an event that says this.
    pub(super) async fn delivers(&mut self, text: &str) {
        let minute = Duration::from_secs(60);
        let payload = tokio::time::timeout(minute, self.delivered.recv()).await;
        let payload = payload.unwrap_or_else(|_| panic!("never delivered: {text}"));
        assert!(payload.unwrap().contains(text), "{text}");
    }

    /// Waits for an event that says this, which may have come before others.
    pub(super) async fn has_delivered(&mut self, text: &str) {
        let says = |payload: &String| payload.contains(&format!("\"{text}\""));
        while !self.heap.iter().any(says) {
            let minute = Duration::from_secs(60);
            let payload = tokio::time::timeout(minute, self.delivered.recv()).await;
            let payload = payload.unwrap_or_else(|_| panic!("never delivered: {text}"));
            self.heap.push(payload.unwrap());
        }
    }

    pub(super) async fn stop(self) {
        self.handle.shutdown().await;
    }
}

/// Waits until this many dispatchers say that they sleep.
pub(super) async fn asleep(database: &Database, many: i64) {
    for _ in 0..6000 {
        if sleeping(database).await == many {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("never asleep");
}

pub(super) async fn sleeping(database: &Database) -> i64 {
    let sql = "SELECT count(*) AS n FROM \"outbox_dispatcher\" WHERE sleeps";
    database.number(sql).await
}
