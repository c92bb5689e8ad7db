use super::{Record, What};
use std::collections::HashMap;
use uuid::Uuid;

/// What is known of one aggregate, up to a record.
#[derive(Debug, Default)]
pub(super) struct Aggregate<'a> {
    /// Its events, in their order.
    pub(super) events: Vec<Uuid>,
    place: HashMap<Uuid, usize>,
    /// The deliveries that have started and not ended.
    open: Vec<Delivery<'a>>,
    /// By event: the last delivery that succeeded.
    succeeded: HashMap<Uuid, Delivery<'a>>,
    /// By place: whether the event has succeeded or was given up, ever.
    settled: Vec<bool>,
    /// The place up to which events were started, and which must be reached again after a repeat.
    reached: Option<usize>,
    /// The place of the event that was started last.
    last: Option<usize>,
}

/// One call of a handler.
#[derive(Debug, Clone, Copy)]
pub(super) struct Delivery<'a> {
    pub(super) by: &'a str,
    id: Uuid,
    /// The record that started it.
    pub(super) since: usize,
}

impl<'a> Aggregate<'a> {
    pub(super) fn emitted(&mut self, id: Uuid) {
        self.place.insert(id, self.events.len());
        self.events.push(id);
        self.settled.push(false);
    }

    pub(super) fn place(&self, id: Uuid) -> Option<usize> {
        self.place.get(&id).copied()
    }

    pub(super) fn is_settled(&self, place: usize) -> bool {
        self.settled[place]
    }

    /// The deliveries in work beside this one's own.
    pub(super) fn open(&self) -> &[Delivery<'a>] {
        &self.open
    }

    pub(super) fn success_of(&self, id: Uuid) -> Option<Delivery<'a>> {
        self.succeeded.get(&id).copied()
    }

    /// Whether starting this event leaves a gap: it neither repeats an earlier one nor follows the
    /// last one that was started.
    pub(super) fn jumps(&self, place: usize) -> bool {
        self.last.is_some_and(|last| place > last + 1)
    }

    /// The event up to which a repetition has still to come.
    pub(super) fn unrepeated(&self) -> Option<Uuid> {
        let (last, reached) = (self.last?, self.reached?);
        (last < reached).then(|| self.events[reached])
    }

    pub(super) fn started(&mut self, record: &'a Record, at: usize, place: usize) {
        self.open.push(Delivery {
            by: &record.by,
            id: record.id,
            since: at,
        });
        self.last = Some(place);
        self.reached = self.reached.max(Some(place));
    }

    /// Ends a delivery; `false` when there was none.
    pub(super) fn ended(&mut self, record: &'a Record) -> bool {
        let same = |run: &Delivery<'_>| run.by == record.by && run.id == record.id;
        let Some(index) = self.open.iter().position(same) else {
            return false;
        };
        let run = self.open.remove(index);
        let settled = matches!(record.what, What::Succeeded | What::Dead);
        if let (true, Some(place)) = (settled, self.place(record.id)) {
            self.settled[place] = true;
        }
        if record.what == What::Succeeded {
            self.succeeded.insert(record.id, run);
        }
        true
    }
}
