use super::{
    answer::within,
    around::Around,
    config::Config,
    desk::Desk,
    failure::{Failure, storable},
    lease::LeaseWatch,
    route::Answer,
    router::Router,
    schedule::{Ended, Item, Job, OutageChange, Schedule, Ticket},
};
use crate::{
    envelope::Envelope,
    store::{Owned, Row, Store, StoreError},
};
use std::{
    collections::HashMap,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    time::Duration,
};
use tokio::{
    task::yield_now,
    time::{Instant, sleep},
};
use tokio_util::sync::CancellationToken;
use tracing::{Instrument, info, info_span, warn};

/// Runs deliveries one after the other. Aborted when the lease is lost: everything it does may be
/// dropped at any await.
pub(crate) struct Worker<S> {
    pub(crate) desk: Arc<Desk>,
    pub(crate) store: S,
    pub(crate) router: Arc<Router>,
    pub(crate) config: Arc<Config>,
    pub(crate) around: Around,
    /// Looked at before each start.
    pub(crate) lease: LeaseWatch,
    /// Set when a shard is lost.
    pub(crate) lost: CancellationToken,
}

/// What a worker found when it looked.
struct Started {
    job: Option<Job>,
    /// There is something for another worker.
    more: bool,
    /// An event was given up without a delivery.
    given_up: bool,
    /// Heads are to be marked before they start.
    marks: bool,
}

/// How many deliveries a worker makes one behind the other before it lets others run, the settler
/// and the reader among them: a handler that never waits does not.
const DELIVERIES: usize = 16;

/// How long an event waits whose payload could not be read.
const UNREADABLE_PAUSE: Duration = Duration::from_millis(500);
/// How long an event waits that somebody else works on.
const BUSY_PAUSE: Duration = Duration::from_millis(500);

impl<S: Store> Worker<S> {
    pub(crate) async fn run(mut self) {
        loop {
            // A process that was stopped goes on here before its timers fire.
            self.lease.held().await;
            // Taken before looking, so that what becomes ready in between is not missed.
            let called = self.desk.next_call();
            let started = self.next(&mut self.desk.schedule(), Instant::now());
            let mut job = self.tell(started);
            if job.is_none() {
                called.await;
            }
            let mut left = DELIVERIES;
            while let Some(next) = job {
                left -= 1;
                job = self.deliver(next, left > 0).await;
            }
            if left == 0 {
                yield_now().await;
            }
        }
    }

    /// What is to be done next, and what others are to be told.
    fn next(&self, schedule: &mut Schedule, now: Instant) -> Started {
        let job = schedule.next(now);
        Started {
            more: job.is_some() && schedule.is_startable(now),
            job,
            given_up: schedule.take_given_up(),
            marks: schedule.wants_marks(),
        }
    }

    /// Tells the others, without the lock.
    fn tell(&self, started: Started) -> Option<Job> {
        if started.given_up {
            self.desk.outcomes.notify_one();
        }
        if started.marks {
            self.desk.reading.notify_one();
        }
        // One calls the next, as long as there is something for it.
        if started.more {
            self.desk.call_worker();
        }
        started.job
    }

    /// Makes a delivery, and returns what to do next if it is to go on.
    async fn deliver(&self, mut job: Job, go_on: bool) -> Option<Job> {
        self.linger(&mut job).await;
        if let Err(error) = self.load(&mut job).await {
            warn!(
                error = &error as &dyn std::error::Error,
                "cannot read payloads"
            );
            self.desk
                .schedule()
                .put_off_job(&job, Instant::now() + UNREADABLE_PAUSE);
            self.desk.reading.notify_one();
            return None;
        }
        let route = self.router.route(job.route);
        let (mut envelopes, mut tickets, mut without) = (Vec::new(), Vec::new(), Vec::new());
        for Item { ticket, mut row } in job.items {
            match row.body.take() {
                Some(body) => {
                    let owned = Owned::new(ticket.shard, ticket.epoch, 0);
                    envelopes.push((row.into_envelope(body), owned));
                    tickets.push(ticket);
                }
                None => without.push((ticket, without_body(&row))),
            }
        }
        let span = span(&envelopes);
        let answers = if envelopes.is_empty() {
            Vec::new()
        } else {
            route
                .deliver(envelopes, &self.around)
                .instrument(span.clone())
                .await
        };
        let ended = tickets.into_iter().zip(answers).map(|(ticket, answer)| {
            let ended = span.in_scope(|| self.ended(&route.name, &ticket, answer));
            (ticket, ended)
        });
        let ended: Vec<_> = ended.chain(without).collect();
        let (change, started) = self.finish(job.route, ended, go_on);
        match change {
            Some(OutageChange::Began) => warn!(topic = %route.name, "outage: the topic pauses"),
            Some(OutageChange::Tried) => {
                info!(topic = %route.name, "nobody reports the outage: the topic is tried, and failures count");
            }
            Some(OutageChange::Over) => info!(topic = %route.name, "the outage is over"),
            None => {}
        }
        started.and_then(|started| self.tell(started))
    }

    /// Waits for more events where a batch is not full and its topic wants that.
    async fn linger(&self, job: &mut Job) {
        let linger = self.router.route(job.route).config.linger;
        if !linger.is_zero() && self.desk.schedule().is_wanting(job) {
            sleep(linger).await;
            self.desk.schedule().fill(job, Instant::now());
        }
    }

    /// Ends a delivery and, as the schedule is at hand, starts the next.
    fn finish(
        &self,
        route: usize,
        ended: Vec<(Ticket, Ended)>,
        go_on: bool,
    ) -> (Option<OutageChange>, Option<Started>) {
        let now = Instant::now();
        let mut change = None;
        let mut schedule = self.desk.schedule();
        schedule.job_over(route);
        for (ticket, ended) in ended {
            let news = schedule.end(route, &ticket, ended, (now, fastrand::f64()));
            change = news.or(change);
        }
        let started = (go_on && self.lease.is_held()).then(|| self.next(&mut schedule, now));
        let (wants_settling, wants_reading) = (schedule.wants_settling(), schedule.wants_reading());
        drop(schedule);
        if wants_settling {
            self.desk.outcomes.notify_one();
        }
        if wants_reading {
            self.desk.reading.notify_one();
        }
        (change, started)
    }

    /// Reads the payloads that were too long to come with the fetch, for which there is memory now; an event that has gone, or
    /// whose payload is none, stays without one.
    async fn load(&self, job: &mut Job) -> Result<(), StoreError> {
        let missing = |item: &&Item| item.row.body.is_none();
        let positions: Vec<_> = job
            .items
            .iter()
            .filter(missing)
            .map(|item| item.row.position)
            .collect();
        if positions.is_empty() {
            return Ok(());
        }
        let store = self.store.clone();
        // This worker may be dropped, a database call may not.
        let read = async move { store.read(&positions, usize::MAX).await };
        // No answer is not the answer that the events are gone.
        let rows = within(self.config.stall_limit, "reading payloads", read).await?;
        let key = |row: Row| ((row.position, row.id), row);
        let mut found: HashMap<_, Row> = rows.into_iter().map(key).collect();
        for Item { row, .. } in job.items.iter_mut().filter(|item| item.row.body.is_none()) {
            if let Some(read) = found.remove(&(row.position, row.id)) {
                (row.body, row.fault) = (read.body, read.fault);
            }
        }
        Ok(())
    }

    /// Log lines name the event themselves: a filter may leave out the span, and of a batch it names
    /// the first.
    fn ended(&self, topic: &str, ticket: &Ticket, answer: Answer) -> Ended {
        let event = ticket.id;
        match answer {
            Answer::Done => Ended::Done,
            Answer::Newer => {
                warn!(topic, %event, "newer schema version: the event waits for a newer build");
                Ended::Newer
            }
            Answer::Completed => Ended::Completed,
            Answer::Gone => Ended::Gone,
            Answer::Busy => Ended::Busy(Instant::now() + BUSY_PAUSE),
            Answer::Lost => {
                info!("a shard has a new owner: the handler's transaction was rolled back");
                self.lost.cancel();
                Ended::Busy(Instant::now() + BUSY_PAUSE)
            }
            Answer::Failed(mut failure) => {
                failure.text = self.redacted(&failure);
                let attempt = ticket.attempts.saturating_add(1);
                warn!(topic, %event, attempt, error = %failure, "delivery failed");
                Ended::Failed(failure)
            }
        }
    }

    fn redacted(&self, failure: &Failure) -> String {
        let redact = || (self.config.redact)(&failure.text);
        match catch_unwind(AssertUnwindSafe(redact)) {
            Ok(text) => storable(&text),
            Err(_) => "the redact hook panicked: the error is not shown".to_owned(),
        }
    }
}

/// What became of an event for which there is nothing to deliver.
fn without_body(row: &Row) -> Ended {
    let Some(fault) = &row.fault else {
        return Ended::Gone;
    };
    let position = row.position;
    warn!(
        position,
        fault, "a row of the outbox is no event: it stays where it is"
    );
    Ended::Unreadable
}

fn span(envelopes: &[(Envelope, Owned)]) -> tracing::Span {
    let Some((first, _)) = envelopes.first() else {
        return tracing::Span::none();
    };
    let span = info_span!(
        "outbox.deliver",
        otel.kind = "consumer",
        topic = %first.topic,
        event = %first.id,
        position = first.position,
        attempt = first.attempts.saturating_add(1),
        events = envelopes.len(),
        traceparent = tracing::field::Empty,
    );
    if !span.is_disabled()
        && let Ok(headers) = first.parse_headers()
        && let Some(parent) = headers.text(crate::headers::TRACEPARENT)
    {
        span.record("traceparent", parent);
    }
    span
}
