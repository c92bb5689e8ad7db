//! Single cases that the model next door reaches too rarely or not at all.

use super::*;
use crate::{
    dispatcher::{
        config::TopicConfig,
        failure::{Failure, Origin},
        route::{Call, Route, Target},
    },
    envelope::Envelope,
    handler::{State, Wish},
    headers::Headers,
    store::{Body, Epoch, Fetched, Horizon, Position, Row, Seen},
};
use futures_util::future::BoxFuture;
use std::time::Duration;
use uuid::Uuid;

const SHARD: Shard = 0;

pub(super) struct Never;

impl Call for Never {
    fn call<'a>(
        &'a self,
        _: Envelope,
        _: u32,
        _: Headers,
        _: Epoch,
        _: &'a State,
    ) -> BoxFuture<'a, Result<(), Failure>> {
        unreachable!("the model delivers")
    }
}

pub(super) struct Case {
    pub(super) schedule: Schedule,
    pub(super) now: Instant,
    revision: i64,
}

impl Case {
    fn new(change: impl FnOnce(&mut Config), suspect_to: Position) -> Self {
        let handler = || Target::Handler(Box::new(Never));
        Self::of([("a", handler()), ("b", handler())], change, suspect_to)
    }

    /// With these topics.
    pub(super) fn of(
        topics: impl IntoIterator<Item = (&'static str, Target)>,
        change: impl FnOnce(&mut Config),
        suspect_to: Position,
    ) -> Self {
        let mut config = Config::default();
        change(&mut config);
        let mut router = Router::new();
        for (name, target) in topics {
            let topic = TopicConfig { ..config.topic };
            assert!(router.topic(name, Route::new(name.to_owned(), topic, None, target)));
        }
        let mut schedule = Schedule::new(Arc::new(router), Arc::new(config), Arc::default());
        schedule.own(Owned::new(SHARD, 1, suspect_to));
        schedule.reset_changed(&[Seen::new(SHARD, 0, None)]);
        Self {
            schedule,
            now: Instant::now(),
            revision: 0,
        }
    }

    /// A fetch that brings these rows.
    pub(super) fn fetched(&mut self, rows: Vec<Row>) {
        self.schedule.send_fetch();
        let seen = vec![Seen::new(SHARD, self.revision, None)];
        let fetched = Fetched::new(seen, Vec::new(), rows, Horizon::CommitOrder);
        if self.schedule.reset_changed(&fetched.shards).is_empty() {
            self.schedule.admit(fetched, self.now);
        }
    }

    /// The same, after an operator's change.
    pub(super) fn fetched_again(&mut self, revision: i64, rows: Vec<Row>) {
        self.revision = revision;
        self.fetched(rows);
    }

    pub(super) fn start(&mut self) -> Option<(RouteId, Ticket)> {
        let mut job = self.schedule.next(self.now)?;
        Some((job.route, job.items.pop().unwrap().ticket))
    }

    pub(super) fn end(&mut self, (route, ticket): (RouteId, Ticket), ended: Ended) {
        self.schedule.job_over(route);
        self.schedule.end(route, &ticket, ended, (self.now, 0.0));
    }

    pub(super) fn commit(&mut self) {
        let batch = self.schedule.take_outcomes(1, 100);
        if !batch.is_empty() {
            self.schedule.committed(batch, &[], self.now);
            self.schedule.end_writing(&[SHARD]);
        }
    }

    fn scan(&mut self) -> Position {
        self.schedule.send_fetch()[0].scan
    }
}

pub(super) fn row(position: Position, key: &str, topic: &str) -> Row {
    let text = || "{}".to_owned();
    Row {
        aggregate: "order".to_owned(),
        key: Some(key.to_owned()),
        topic: topic.to_owned(),
        body: Some(Body::new(text(), text(), chrono::DateTime::UNIX_EPOCH)),
        ..Row::new(
            SHARD,
            position,
            Uuid::from_u128(position.unsigned_abs().into()),
        )
    }
}

fn failed(wish: Wish) -> Ended {
    Ended::Failed(Failure {
        wish,
        text: "no".to_owned(),
        origin: Origin::Handler,
    })
}

#[tokio::test]
async fn a_lane_that_was_held_while_it_stood_ready_goes_on() {
    let mut case = Case::new(|_| {}, 0);
    case.fetched(vec![row(1, "x", "a"), row(2, "x", "a")]);
    let first = case.start().unwrap();
    let lane = first.1.lane;
    case.end(first, Ended::Done);
    let refused = case.schedule.take_outcomes(1, 100);
    case.schedule.hold(SHARD, lane, true, case.now);
    assert!(case.start().is_none(), "the first outcome is refused");
    case.schedule.hold(SHARD, lane, false, case.now);
    case.schedule.committed(refused, &[], case.now);
    assert_eq!(case.start().unwrap().1.position, 2);
}

/// One aggregate with more events than a lane keeps, its first half in memory, the rest wanted.
fn long_lane(case: &mut Case) {
    let rows = (1..=80).map(|position| row(position, "x", "a")).collect();
    case.fetched(rows);
    for position in 1..=50 {
        let event = case.start().unwrap();
        assert_eq!(event.1.position, position);
        case.end(event, Ended::Done);
    }
    case.commit();
    assert!(case.schedule.next_rewind(case.now).is_some());
}

#[tokio::test]
async fn the_first_going_back_needs_no_pause() {
    let mut case = Case::new(|config| (config.window, config.batch) = (100, 100), 0);
    long_lane(&mut case);
    case.schedule.rewind(case.now);
    assert_eq!(case.scan(), 64);
}

#[tokio::test]
async fn a_lane_that_parks_while_it_wants_more_keeps_what_it_left_out() {
    let mut case = Case::new(|config| (config.window, config.batch) = (100, 100), 0);
    long_lane(&mut case);
    // The next event fails; it comes due before reading has gone back.
    let event = case.start().unwrap();
    assert_eq!(event.1.position, 51);
    case.end(event, failed(Wish::RetryAfter(Duration::from_millis(100))));
    case.commit();
    case.now += Duration::from_secs(2);
    let heads = case.schedule.due_heads(case.now);
    case.schedule
        .revive(&heads, vec![row(51, "x", "a")], case.now);
    case.schedule.rewind(case.now);
    let scan = case.scan();
    let rest = (scan + 1..=80).map(|position| row(position, "x", "a"));
    case.fetched(rest.collect());
    for position in 51..=53 {
        let event = case.start().unwrap();
        assert_eq!(event.1.position, position);
        case.end(event, Ended::Done);
        case.schedule.rewind(case.now + Duration::from_secs(5));
        let scan = case.scan();
        let rest = (scan.max(position) + 1..=80).map(|position| row(position, "x", "a"));
        case.fetched(rest.collect());
    }
}

#[tokio::test]
async fn what_an_operator_removed_is_not_waited_for() {
    let mut case = Case::new(|config| config.concurrency = 1, 100);
    case.fetched(vec![row(1, "x", "a"), row(2, "y", "a"), row(3, "z", "b")]);
    assert!(case.start().is_none(), "it is to be marked first");
    assert!(case.schedule.wants_marks());
    case.revision = 1;
    case.fetched(vec![]);
    case.fetched(vec![]);
    assert!(!case.schedule.wants_marks());
    assert!(case.schedule.is_idle(case.now));
}

#[tokio::test]
async fn an_event_that_crashed_and_was_removed_is_not_waited_for() {
    let mut case = Case::new(|_| {}, 0);
    let twice = Row {
        crashes: 2,
        ..row(1, "x", "a")
    };
    case.fetched(vec![row(2, "y", "a"), twice]);
    let event = case.start().unwrap();
    assert!(case.start().is_none(), "it runs alone");
    case.revision = 1;
    case.fetched(vec![]);
    case.fetched(vec![]);
    case.end(event, Ended::Done);
    case.commit();
    assert!(case.schedule.is_idle(case.now));
}

#[tokio::test]
async fn a_probe_that_may_start_is_no_timer_any_more() {
    let mut case = Case::new(|_| {}, 0);
    case.fetched(vec![row(1, "x", "a"), row(2, "y", "a")]);
    let event = case.start().unwrap();
    case.end(event, failed(Wish::Outage));
    let due = case.schedule.next_due(case.now).unwrap();
    assert!(case.now < due);
    case.revision = 1;
    case.fetched(vec![]);
    case.fetched(vec![row(1, "x", "a"), row(2, "y", "a")]);
    assert!(case.schedule.is_startable(due), "a worker must be told");
    assert_eq!(
        case.schedule.next_due(due),
        None,
        "and the reader need not hurry"
    );
}

#[tokio::test]
async fn each_shard_is_read_from_its_start_now_and_then() {
    let mut case = Case::new(|_| {}, 0);
    case.fetched(vec![row(5, "x", "a")]);
    let event = case.start().unwrap();
    case.end(event, Ended::Done);
    case.commit();
    case.now += Duration::from_secs(599);
    case.fetched(vec![]);
    assert_eq!(case.schedule.send_fetch()[0].scan, 5);
    case.now += Duration::from_secs(2);
    // Whoever held a lower position for longer than anybody should has committed.
    case.fetched(vec![row(3, "x", "a")]);
    assert_eq!(case.start().unwrap().1.position, 3);
}

/// A fetch that brings so many events of each of these shards, one behind the other.
fn fetch_of_shards(schedule: &mut Schedule, now: Instant, found: &[(Shard, usize)]) {
    let cursors = schedule.send_fetch();
    let seen = cursors.iter().map(|at| Seen::new(at.shard, 0, None));
    let mut rows = Vec::new();
    for at in &cursors {
        let found = found.iter().find(|(shard, _)| *shard == at.shard);
        let found = found.map_or(0, |(_, found)| *found).min(at.limit);
        let first = at.scan + 1;
        rows.extend((first..).take(found).map(|position| Row {
            shard: at.shard,
            ..row(position, &position.to_string(), "a")
        }));
    }
    let fetched = Fetched::new(seen.collect(), Vec::new(), rows, Horizon::CommitOrder);
    schedule.reset_changed(&fetched.shards);
    schedule.admit(fetched, now);
}

#[tokio::test]
async fn shards_that_have_more_share_what_a_fetch_reads() {
    let mut case = Case::new(|config| (config.window, config.batch) = (1_000, 100), 0);
    for shard in 1..10 {
        case.schedule.own(Owned::new(shard, 1, 0));
    }
    let limits = |case: &mut Case| -> Vec<usize> {
        let cursors = case.schedule.send_fetch();
        cursors.iter().map(|cursor| cursor.limit).collect()
    };
    // The first fetch of a shard is thrown away.
    assert_eq!(limits(&mut case), [10, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    fetch_of_shards(&mut case.schedule, case.now, &[]);
    assert_eq!(limits(&mut case), [10; 10]);
    fetch_of_shards(
        &mut case.schedule,
        case.now,
        &[(2, 1_000), (3, 5), (7, 1_000)],
    );
    assert!(case.schedule.has_more());
    assert_eq!(limits(&mut case), [10, 10, 50, 10, 10, 10, 10, 50, 10, 10]);
    fetch_of_shards(&mut case.schedule, case.now, &[(2, 50), (7, 49)]);
    assert_eq!(limits(&mut case)[2], 100);
    fetch_of_shards(&mut case.schedule, case.now, &[(2, 3)]);
    assert!(!case.schedule.has_more());
    assert_eq!(limits(&mut case), [10; 10]);
}

#[tokio::test]
async fn many_late_events_are_read_page_by_page() {
    let mut case = Case::new(|config| config.batch = 10, 0);
    case.fetched(vec![row(100, "x", "a")]);
    let late = |case: &mut Case, positions: std::ops::Range<Position>| {
        let seen = vec![Seen::new(SHARD, 0, None)];
        let again = positions.map(|position| (SHARD, position)).collect();
        let fetched = Fetched::new(seen, again, Vec::new(), Horizon::Open);
        case.schedule.late(&fetched)
    };
    assert_eq!(late(&mut case, 50..52), Late::Read(vec![50, 51]));
    assert_eq!(case.scan(), 100);
    assert_eq!(late(&mut case, 50..70), Late::WentBack);
    assert_eq!(case.scan(), 49);
}

#[tokio::test]
async fn a_shard_is_handed_over_when_everything_is_written() {
    let mut case = Case::new(|_| {}, 0);
    case.fetched(vec![row(1, "x", "a"), row(2, "x", "a")]);
    let event = case.start().unwrap();
    case.schedule.drain(&[SHARD]);
    assert!(case.schedule.drained().is_empty(), "an event is in work");
    case.end(event, Ended::Done);
    assert!(case.start().is_none(), "nothing more is started");
    assert!(
        case.schedule.drained().is_empty(),
        "its outcome is not written"
    );
    case.commit();
    assert_eq!(case.schedule.drained().len(), 1);
}

#[tokio::test]
async fn a_suspect_that_was_marked_is_forgotten_when_it_is_settled() {
    let mut case = Case::new(|_| {}, 100);
    case.fetched(vec![row(1, "x", "a")]);
    assert!(case.start().is_none());
    case.schedule.marked(SHARD, &[(1, 1)]);
    let event = case.start().unwrap();
    assert_eq!(case.schedule.shards[&SHARD].raised_positions(), 1);
    case.end(event, Ended::Done);
    case.commit();
    case.fetched(vec![]);
    assert_eq!(case.schedule.shards[&SHARD].raised_positions(), 0);
}

#[tokio::test]
async fn failures_that_make_an_outage_are_taken_back_before_they_are_written() {
    let mut case = Case::new(|_| {}, 0);
    let keys = ["v", "w", "x", "y", "z"];
    let rows = (1..)
        .zip(keys)
        .map(|(position, key)| row(position, key, "a"));
    case.fetched(rows.collect());
    let started: Vec<_> = keys.iter().map(|_| case.start().unwrap()).collect();
    for event in started {
        case.end(event, failed(Wish::Retry));
    }
    assert_eq!(case.schedule.unwritten(), 0);
    assert!(case.start().is_none(), "the topic pauses");
    assert_eq!(case.schedule.unsettled, 0);
    let due = case.schedule.next_due(case.now).unwrap();
    assert_eq!(case.schedule.due_heads(due).len(), 5);
}
