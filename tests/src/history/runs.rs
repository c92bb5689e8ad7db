use super::{Record, What, attempts::Attempts};
use std::{
    collections::{HashMap, HashSet},
    ops::Range,
};
use uuid::Uuid;

/// What is known of one aggregate, up to a record.
#[derive(Debug, Default)]
pub(super) struct Aggregate<'a> {
    /// Its events that were not delayed, in their order.
    pub(super) events: Vec<Uuid>,
    place: HashMap<Uuid, Place>,
    /// The deliveries that have started and not ended.
    open: Vec<Delivery<'a>>,
    /// By event that has been started: what became of it.
    pub(super) known: HashMap<Uuid, Known<'a>>,
    /// The events that operators were about to discard.
    discarded: HashSet<Uuid>,
    /// The place up to which events were started, and which must be reached again after a repeat.
    reached: Option<usize>,
    /// The place of the event that was started last.
    last: Option<usize>,
}

/// Where an event stands among those of its aggregate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    At(usize),
    /// Where its position says, once it has one.
    Delayed,
}

/// One call of a handler.
#[derive(Debug, Clone, Copy)]
pub(super) struct Delivery<'a> {
    pub(super) by: &'a str,
    id: Uuid,
    /// The record that started it.
    pub(super) since: usize,
}

/// What became of an event so far.
#[derive(Debug, Default)]
pub(super) struct Known<'a> {
    position: i64,
    /// Whether it has succeeded or was given up, ever.
    settled: bool,
    /// The last delivery that succeeded, and the record that says so.
    pub(super) success: Option<(Delivery<'a>, usize)>,
    pub(super) attempts: Attempts<'a>,
}

impl<'a> Aggregate<'a> {
    pub(super) fn emitted(&mut self, id: Uuid) {
        self.place.insert(id, Place::At(self.events.len()));
        self.events.push(id);
    }

    /// The event may be missing from here on; `false` when there is no such event.
    pub(super) fn discarded(&mut self, id: Uuid) -> bool {
        self.discarded.insert(id);
        self.place.contains_key(&id)
    }

    /// The dead letter may be tried again from here on.
    pub(super) fn retried(&mut self, id: Uuid) {
        if let Some(known) = self.known.get_mut(&id) {
            known.settled = false;
            known.attempts.retried();
        }
    }

    pub(super) fn delayed(&mut self, id: Uuid) {
        self.place.insert(id, Place::Delayed);
    }

    pub(super) fn place(&self, id: Uuid) -> Option<Place> {
        self.place.get(&id).copied()
    }

    /// The events that neither succeeded nor were given up.
    pub(super) fn lost(&self) -> impl Iterator<Item = Uuid> {
        let all = self.place.keys().copied();
        all.filter(|id| !self.is_settled(*id))
    }

    fn is_settled(&self, id: Uuid) -> bool {
        let settled = self.known.get(&id).is_some_and(|known| known.settled);
        settled || self.discarded.contains(&id)
    }

    /// The deliveries in work beside this one's own.
    pub(super) fn open(&self) -> &[Delivery<'a>] {
        &self.open
    }

    /// Whether this event would overtake another one if it started now.
    pub(super) fn overtakes(&self, record: &Record, place: Place) -> bool {
        let Place::At(place) = place else {
            return self.overtakes_started(record) || self.comes_too_late(record);
        };
        let mut before = self.events[..place].iter();
        before.any(|id| !self.is_settled(*id)) || self.overtakes_started(record)
    }

    /// What has been started keeps its place before all that stand behind it.
    fn overtakes_started(&self, record: &Record) -> bool {
        self.known.iter().any(|(id, known)| {
            *id != record.id && !self.is_settled(*id) && known.position < record.position
        })
    }

    /// Delayed events get their positions one after the other, from one dispatcher at a time.
    fn comes_too_late(&self, record: &Record) -> bool {
        let later = |id: &Uuid| self.place(*id) == Some(Place::Delayed);
        !self.known.contains_key(&record.id)
            && self
                .known
                .iter()
                .any(|(id, known)| later(id) && known.position > record.position)
    }

    /// Whether positions grow along the events: those of other events are as far as they are known.
    pub(super) fn misplaces(&self, record: &Record, place: Place) -> bool {
        let position = |id: &Uuid| self.known.get(id).map(|known| known.position);
        if position(&record.id).is_some_and(|position| position != record.position) {
            return true;
        }
        let Place::At(place) = place else {
            return false;
        };
        let before = self.events[..place].iter().rev().find_map(position);
        before.is_some_and(|before| before > 0 && before >= record.position)
    }

    /// Whether starting this event leaves a gap: it neither repeats an earlier one nor follows the
    /// last one that was started.
    pub(super) fn jumps(&self, place: Place) -> bool {
        match (place, self.last) {
            (Place::At(place), Some(last)) => self.first_kept(last + 1..place).is_some(),
            _ => false,
        }
    }

    /// The event up to which a repetition has still to come.
    pub(super) fn unrepeated(&self) -> Option<Uuid> {
        let (last, reached) = (self.last?, self.reached?);
        self.first_kept(last + 1..reached + 1)
    }

    /// The first event of these places that nobody has discarded.
    fn first_kept(&self, places: Range<usize>) -> Option<Uuid> {
        let mut ids = places.map(|place| self.events[place]);
        ids.find(|id| !self.discarded.contains(id))
    }

    pub(super) fn started(&mut self, record: &'a Record, at: usize, place: Place) {
        self.open.push(Delivery {
            by: &record.by,
            id: record.id,
            since: at,
        });
        let known = self.known.entry(record.id).or_default();
        known.position = record.position;
        known.attempts.started(record.attempt);
        if let Place::At(place) = place {
            self.last = Some(place);
            self.reached = self.reached.max(Some(place));
        }
    }

    /// Ends a delivery; `false` when there was none.
    pub(super) fn ended(&mut self, record: &'a Record, at: usize) -> bool {
        let same = |run: &Delivery<'_>| run.by == record.by && run.id == record.id;
        let Some(index) = self.open.iter().position(same) else {
            return false;
        };
        let run = self.open.remove(index);
        let known = self.known.entry(record.id).or_default();
        match record.what {
            What::Succeeded => {
                known.settled = true;
                known.success = Some((run, at));
            }
            What::Dead => known.settled = true,
            what => {
                let was_dropped = what == What::Dropped;
                known.attempts.ended(run.by, (run.since, at), was_dropped);
            }
        }
        true
    }
}
