//! What stands in an outbox, and whether it is what should.

mod event;
mod expected;
mod mismatch;
mod macros;

pub use event::EmittedEvent;
pub use expected::{Expected, Step};
pub use macros::check;
pub use mismatch::Mismatch;

use crate::event::{DecodeError, OutboxEvent};
use expected::Kind;
use std::collections::BTreeMap;

/// The events of an outbox, in the order in which they were emitted: that of their ids.
///
/// The functions are what [`assert_emitted!`] and [`refute_emitted!`] call; here they return what is
/// wrong.
///
/// [`assert_emitted!`]: crate::testing::assert_emitted
/// [`refute_emitted!`]: crate::testing::refute_emitted
#[derive(Debug, Clone, Default, PartialEq)]
pub struct EmittedEvents(Vec<EmittedEvent>);

/// An event that was found.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Found<E> {
    /// What was emitted.
    pub event: E,
    /// The same as it is stored, with its headers.
    pub emitted: EmittedEvent,
}

impl EmittedEvents {
    /// These events; of two with the same id the later one counts.
    #[must_use]
    pub fn new(events: impl IntoIterator<Item = EmittedEvent>) -> Self {
        let by_id = events.into_iter().map(|event| (event.envelope.id, event));
        let by_id: BTreeMap<_, _> = by_id.collect();
        Self(by_id.into_values().collect())
    }

    /// All of them.
    #[must_use]
    pub fn events(&self) -> &[EmittedEvent] {
        &self.0
    }

    /// Those of one type.
    ///
    /// # Errors
    /// When one of them cannot be decoded.
    pub fn of<E: OutboxEvent>(&self) -> Result<Vec<Found<E>>, Mismatch> {
        let any = Expected::new("", |_: &E| true);
        let found = self.0.iter().filter_map(|event| take(&any, event));
        found.collect()
    }

    /// The first event that is as expected.
    ///
    /// # Errors
    /// When there is none, or an event of the type cannot be decoded.
    pub fn find<E: OutboxEvent>(&self, expected: &Expected<'_, E>) -> Result<Found<E>, Mismatch> {
        let mut found = self.0.iter().filter_map(|event| take(expected, event));
        found.next().unwrap_or_else(|| {
            let problem = format!("no emitted event is {expected}");
            Err(Mismatch::new(&problem, &self.0))
        })
    }

    /// Checks that no event is as expected.
    ///
    /// # Errors
    /// When there is one, or an event of the type cannot be decoded.
    pub fn find_none<E: OutboxEvent>(&self, expected: &Expected<'_, E>) -> Result<(), Mismatch> {
        match self.0.iter().find_map(|event| take(expected, event)) {
            None => Ok(()),
            Some(found) => {
                let events = [found?.emitted];
                let problem = format!("an emitted event is {expected}");
                Err(Mismatch::new(&problem, &events))
            }
        }
    }

    /// Checks that nothing was emitted.
    ///
    /// # Errors
    /// When something was.
    pub fn is_nothing(&self) -> Result<(), Mismatch> {
        if self.0.is_empty() {
            return Ok(());
        }
        Err(Mismatch::new("nothing should have been emitted", &self.0))
    }

    /// Checks that the events are these, in this order, and no others but where
    /// [`Step::others`] stands.
    ///
    /// # Errors
    /// When they are not, or one of them cannot be decoded.
    pub fn are(&self, steps: &[Step<'_>]) -> Result<(), Mismatch> {
        if fit(steps, &self.0)? {
            return Ok(());
        }
        let steps: Vec<_> = steps.iter().map(ToString::to_string).collect();
        let problem = format!("the emitted events are not [{}]", steps.join(", "));
        Err(Mismatch::new(&problem, &self.0))
    }
}

fn take<E: OutboxEvent>(
    expected: &Expected<'_, E>,
    emitted: &EmittedEvent,
) -> Option<Result<Found<E>, Mismatch>> {
    let event = expected.take(emitted).transpose()?;
    Some(told(emitted, event).map(|event| Found {
        event,
        emitted: emitted.clone(),
    }))
}

fn told<T>(emitted: &EmittedEvent, result: Result<T, DecodeError>) -> Result<T, Mismatch> {
    result.map_err(|source| Mismatch::undecodable(emitted, source))
}

fn fit(steps: &[Step<'_>], events: &[EmittedEvent]) -> Result<bool, Mismatch> {
    let Some((step, steps)) = steps.split_first() else {
        return Ok(events.is_empty());
    };
    match &step.0 {
        Kind::One(one) => match events.split_first() {
            Some((first, rest)) if told(first, one.is(first))? => fit(steps, rest),
            _ => Ok(false),
        },
        Kind::Others => {
            for skipped in 0..=events.len() {
                if fit(steps, &events[skipped..])? {
                    return Ok(true);
                }
            }
            Ok(false)
        }
    }
}
