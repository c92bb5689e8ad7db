use super::{
    Conduct,
    emit::{BROKEN, DOOMED},
    job::Job,
};
use crate::{
    conformance::dispatcher::Account,
    history::{Log, Run, What},
};
use outbox_core::{Delivery, HandlerError, OnDead, RetryPolicy, headers::REPLAY_ID};
use outbox_seaorm::Dispatcher;
use std::{
    error::Error,
    hint::black_box,
    sync::{Arc, Mutex},
    thread,
    time::{Duration, Instant},
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
    /// Keep the runtime's threads for longer than two leases.
    Block,
    /// Abort the process for an event that says so.
    Abort,
    /// Use up the stack for it.
    Overflow,
}

struct Worker {
    mode: Mode,
    log: Log,
    conduct: Conduct,
    chance: Mutex<fastrand::Rng>,
}

/// What a handler does this time.
enum Turn {
    Work(Duration),
    Slow,
    Hang,
    Panic,
    Fail,
}

/// The text of an event that brings its process down, where handlers are told so.
pub const DEADLY: &str = "deadly";
/// Long enough to be stopped in.
const FAIL_AFTER: Duration = Duration::from_millis(500);
/// Failures that ask for this are no sign of an outage, which would give attempts back.
const AGAIN: Duration = Duration::from_millis(20);
/// How often an event of the topic that gives up is tried again.
const RETRIES: u32 = 3;

pub(super) async fn run(job: Job) -> Result<(), Box<dyn Error>> {
    let worker = Arc::new(Worker {
        mode: match job.mode.as_str() {
            "deliver" => Mode::Deliver,
            "fail" => Mode::Fail,
            "hang" => Mode::Hang,
            "block" => Mode::Block,
            "abort" => Mode::Abort,
            "overflow" => Mode::Overflow,
            other => return Err(format!("no mode {other}").into()),
        },
        log: job.log,
        conduct: job.conduct.clone(),
        chance: Mutex::new(fastrand::Rng::with_seed(job.seed)),
    });
    if job.conduct.panic > 0 {
        std::panic::set_hook(Box::new(|_| {}));
    }
    let handle = move |event: Account, delivery: Delivery| {
        let worker = Arc::clone(&worker);
        async move { worker.handle(&event, delivery).await }
    };
    let pause = Duration::from_millis(20);
    let retry = |retries| RetryPolicy::new(pause, pause * 2, retries);
    let gives_up = retry(RETRIES)?;
    let dispatcher = Dispatcher::builder(&job.db)
        .topic(Account::CLOSED, |topic| {
            topic.retry(gives_up).handler(handle.clone())
        })
        .on_event(handle)
        .concurrency(8)
        .retry(retry(1_000)?)
        .timeout(Duration::from_millis(job.conduct.timeout_ms))
        .lease(Duration::from_millis(job.conduct.lease_ms))
        .configure(|config| {
            config.crash_limit = job.conduct.crash_limit;
            config.topic.on_dead = (!job.conduct.blocking).then_some(OnDead::Continue);
        })
        .build()?;
    dispatcher.run(job.end).await;
    Ok(())
}

impl Worker {
    async fn handle(&self, event: &Account, delivery: Delivery) -> Result<(), HandlerError> {
        if delivery.headers().text(REPLAY_ID).is_some() {
            // It comes once more, beside what has its order.
            return Ok(());
        }
        let run = self.begin(event, &delivery);
        match self.mode {
            Mode::Hang => std::future::pending().await,
            Mode::Block => {
                block(Duration::from_millis(self.conduct.lease_ms) * 5 / 2);
                run.succeeded();
                Ok(())
            }
            Mode::Abort | Mode::Overflow if event.text() == DEADLY => {
                // Its neighbours are in work too.
                tokio::time::sleep(Duration::from_millis(50)).await;
                if self.mode == Mode::Abort {
                    std::process::abort();
                }
                black_box(overflow(0));
                Ok(())
            }
            Mode::Abort | Mode::Overflow => {
                tokio::time::sleep(Duration::from_millis(100)).await;
                run.succeeded();
                Ok(())
            }
            Mode::Fail => {
                tokio::time::sleep(FAIL_AFTER).await;
                run.failed();
                if delivery.position() % 2 == 0 {
                    return Err(HandlerError::dead("for good"));
                }
                Err(HandlerError::retry("for now"))
            }
            Mode::Deliver => self.deliver(event, delivery, run).await,
        }
    }

    fn begin(&self, event: &Account, delivery: &Delivery) -> Run {
        let id = delivery.id().to_string();
        let aggregate = match event {
            // Each is in an order of its own.
            Account::Noted { .. } => &id,
            _ => delivery.key().unwrap_or("-"),
        };
        let is_closing = matches!(event, Account::Closed { .. });
        self.log
            .delivery(aggregate, delivery)
            .limit(Duration::from_millis(self.conduct.timeout_ms))
            .last(is_closing && delivery.attempt() > RETRIES)
    }

    async fn deliver(
        &self,
        event: &Account,
        delivery: Delivery,
        run: Run,
    ) -> Result<(), HandlerError> {
        match self.turn() {
            Turn::Work(pause) => tokio::time::sleep(pause).await,
            Turn::Fail => {
                tokio::time::sleep(Duration::from_millis(1)).await;
                run.failed();
                return Err(HandlerError::retry_after(AGAIN, "chance"));
            }
            Turn::Slow => {
                self.log.about(What::Struck, "slow");
                let lease = Duration::from_millis(self.conduct.lease_ms);
                tokio::time::sleep(lease + lease / 4).await;
            }
            Turn::Hang => {
                self.log.about(What::Struck, "hang");
                std::future::pending::<()>().await;
            }
            Turn::Panic => {
                self.log.about(What::Struck, "panic");
                #[expect(clippy::panic, reason = "a fault that is asked for")]
                {
                    panic!("chance of event {}", delivery.id())
                }
            }
        }
        match event.text() {
            // What an operator brings back may go well.
            DOOMED if !(self.conduct.blocking && self.is_lucky()) => {
                run.dead();
                Err(HandlerError::dead(DOOMED))
            }
            BROKEN => {
                run.failed();
                Err(HandlerError::retry_after(AGAIN, BROKEN))
            }
            _ => {
                run.succeeded();
                Ok(())
            }
        }
    }

    fn is_lucky(&self) -> bool {
        let mut chance = self.chance.lock().unwrap_or_else(|lock| lock.into_inner());
        chance.u8(..3) == 0
    }

    fn turn(&self) -> Turn {
        let Conduct {
            work_ms,
            slow,
            hang,
            panic,
            ..
        } = self.conduct;
        let mut chance = self.chance.lock().unwrap_or_else(|lock| lock.into_inner());
        let pause = Duration::from_millis(chance.u64(1..work_ms));
        let mut at = chance.u32(..1_000);
        let turns = [
            (50, Turn::Fail),
            (slow, Turn::Slow),
            (hang, Turn::Hang),
            (panic, Turn::Panic),
        ];
        for (share, turn) in turns {
            if at < share {
                return turn;
            }
            at -= share;
        }
        Turn::Work(pause)
    }
}

/// Lets nothing else run on this thread.
fn block(time: Duration) {
    let start = Instant::now();
    while let Some(left) = time.checked_sub(start.elapsed()) {
        thread::park_timeout(left);
    }
}

/// Deeper than any stack.
fn overflow(depth: u64) -> u64 {
    let page = black_box([depth; 512]);
    match depth {
        u64::MAX => 0,
        _ => overflow(depth + 1).wrapping_add(page[0]),
    }
}
