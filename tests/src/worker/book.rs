use super::{emit::DOOMED, job::Job};
use crate::{
    conformance::{Effects, dispatcher::Account},
    history::Log,
};
use outbox_core::{Delivery, HandlerError, OnDead, RetryPolicy};
use outbox_seaorm::{Dispatcher, TransactionalHandler};
use sea_orm::DatabaseTransaction;
use std::{error::Error, sync::Mutex, time::Duration};

/// Does in the database what the events ask for, and fails now and then.
struct Book {
    log: Log,
    chance: Mutex<fastrand::Rng>,
}

pub(super) async fn run(job: Job) -> Result<(), Box<dyn Error>> {
    std::panic::set_hook(Box::new(|_| {}));
    let book = Book {
        log: job.log,
        chance: Mutex::new(fastrand::Rng::with_seed(job.seed)),
    };
    let pause = Duration::from_millis(20);
    let dispatcher = Dispatcher::builder(&job.db)
        .topic(Account::CHANGED, |topic| {
            topic
                .transactional(book)
                .timeout(Duration::from_millis(200))
        })
        .concurrency(8)
        .retry(RetryPolicy::new(pause, pause * 2, 1_000)?)
        .lease(Duration::from_millis(job.conduct.lease_ms))
        .configure(|config| {
            // Whatever was in work is killed again and again here, through no fault of its own.
            config.crash_limit = 1_000;
            config.topic.on_dead = Some(OnDead::Continue);
        })
        .build()?;
    dispatcher.run(job.end).await;
    Ok(())
}

impl TransactionalHandler<Account, DatabaseTransaction> for Book {
    async fn handle(
        &self,
        event: Account,
        delivery: Delivery,
        txn: &DatabaseTransaction,
    ) -> Result<(), HandlerError> {
        // What becomes of it is told by the database.
        let _run = self.log.delivery(delivery.key().unwrap_or("-"), &delivery);
        if event.text() == DOOMED {
            return Err(HandlerError::dead(DOOMED));
        }
        let (before, after, turn) = {
            let mut chance = self.chance.lock().unwrap_or_else(|lock| lock.into_inner());
            (chance.u64(..8), chance.u64(..8), chance.u8(..60))
        };
        tokio::time::sleep(Duration::from_millis(before)).await;
        Effects::add(txn, &delivery).await?;
        tokio::time::sleep(Duration::from_millis(after)).await;
        match turn {
            // A failure that is no sign of an outage.
            0 => Err(HandlerError::retry_after(Duration::ZERO, "chance")),
            1 => std::future::pending().await,
            #[expect(clippy::panic, reason = "a fault that is asked for")]
            2 => panic!("chance"),
            _ => Ok(()),
        }
    }
}
