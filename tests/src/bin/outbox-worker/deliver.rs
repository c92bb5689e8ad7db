use super::{Job, emit::DOOMED};
use outbox_seaorm::{Delivery, Dispatcher, HandlerError, OnDead, RetryPolicy};
use outbox_tests::{conformance::dispatcher::Account, history::Log};
use std::{
    error::Error,
    sync::{Arc, Mutex},
    time::Duration,
};

/// What handlers do.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Mode {
    /// Mostly succeed, soon; give up what is doomed.
    Deliver,
    /// Fail after a while: half of them for good.
    Fail,
    /// Never return.
    Hang,
}

struct Worker {
    mode: Mode,
    log: Log,
    chance: Mutex<fastrand::Rng>,
}

/// Long enough to be stopped in.
const FAIL_AFTER: Duration = Duration::from_millis(500);

pub(super) async fn run(job: Job) -> Result<(), Box<dyn Error>> {
    let worker = Arc::new(Worker {
        mode: match job.mode.as_str() {
            "deliver" => Mode::Deliver,
            "fail" => Mode::Fail,
            "hang" => Mode::Hang,
            other => return Err(format!("no mode {other}").into()),
        },
        log: job.log,
        chance: Mutex::new(fastrand::Rng::with_seed(job.seed)),
    });
    let handle = move |event: Account, delivery: Delivery| {
        let worker = Arc::clone(&worker);
        async move { worker.handle(&event, delivery).await }
    };
    let pause = Duration::from_millis(20);
    let dispatcher = Dispatcher::builder(&job.db)
        .on_event(handle)
        .concurrency(8)
        .retry(RetryPolicy::new(pause, pause * 2, 1_000)?)
        .lease(Duration::from_secs(1))
        .configure(|config| {
            // Whatever was in work is killed again and again here, through no fault of its own.
            config.crash_limit = 1_000;
            config.topic.on_dead = Some(OnDead::Continue);
        })
        .build()?;
    dispatcher.run(job.end).await;
    Ok(())
}

impl Worker {
    async fn handle(&self, event: &Account, delivery: Delivery) -> Result<(), HandlerError> {
        let run = self
            .log
            .started(delivery.key().unwrap_or("-"), delivery.id());
        let (pause, fails) = self.chance();
        match self.mode {
            Mode::Hang => std::future::pending().await,
            Mode::Fail => {
                tokio::time::sleep(FAIL_AFTER).await;
                run.failed();
                if delivery.position() % 2 == 0 {
                    return Err(HandlerError::dead("for good"));
                }
                Err(HandlerError::retry("for now"))
            }
            Mode::Deliver => {
                tokio::time::sleep(pause).await;
                if fails {
                    run.failed();
                    return Err(HandlerError::retry("chance"));
                }
                if event.text() == DOOMED {
                    run.dead();
                    return Err(HandlerError::dead(DOOMED));
                }
                run.succeeded();
                Ok(())
            }
        }
    }

    fn chance(&self) -> (Duration, bool) {
        let mut chance = self.chance.lock().unwrap_or_else(|lock| lock.into_inner());
        (
            Duration::from_millis(chance.u64(1..15)),
            chance.u8(..20) == 0,
        )
    }
}
