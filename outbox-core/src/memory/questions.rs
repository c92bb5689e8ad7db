use super::{
    DeadLetter, DelayedEvent, PendingEvent, clock,
    state::{Joined, State},
};
use crate::{
    envelope::Envelope,
    operator::{Count, DispatcherView, EventState, EventStatus, TopicCount},
    store::Delivered,
};
use chrono::{DateTime, Utc};
use std::{collections::BTreeMap, time::Duration};
use uuid::Uuid;

impl State {
    pub(super) fn status(&self, id: Uuid) -> Vec<EventStatus> {
        let pending = self.pending.values().filter(|row| row.event.id == id);
        let delayed = self.delayed.values().filter(|row| row.event.id == id);
        let dead = self.dead.values().filter(|row| row.event.id == id);
        let delivered = self.delivered.iter().filter(|row| row.event.id == id);
        pending
            .map(|row| self.of_pending(row))
            .chain(delayed.map(of_delayed))
            .chain(dead.map(of_dead))
            .chain(delivered.map(of_delivered))
            .collect()
    }

    pub(super) fn counts(&self) -> Vec<TopicCount> {
        let mut counts: BTreeMap<(&str, EventState), u64> = BTreeMap::new();
        let mut count = |topic, state| *counts.entry((topic, state)).or_default() += 1;
        for row in self.pending.values() {
            let state = match row.event.attempts {
                0 => EventState::Pending,
                _ => EventState::Retrying,
            };
            count(&row.event.topic, state);
        }
        for row in self.delayed.values() {
            count(row.event.topic, EventState::Scheduled);
        }
        for row in self.dead.values() {
            count(&row.event.topic, EventState::Dead);
        }
        for row in &self.delivered {
            count(&row.event.topic, EventState::Delivered);
        }
        let counts = counts.into_iter();
        counts
            .map(|((topic, state), count)| {
                TopicCount::new(topic.to_owned(), state, Count::Exact(count))
            })
            .collect()
    }

    pub(super) fn oldest(&self, now: DateTime<Utc>) -> Option<(EventStatus, Duration)> {
        let (_, row) = self.pending.first_key_value()?;
        let waits = clock::until(row.created_at, now);
        Some((self.of_pending(row), waits))
    }

    pub(super) fn of_pending(&self, row: &PendingEvent) -> EventStatus {
        let event = &row.event;
        let blocks = |letter: &DeadLetter| {
            letter.blocks
                && letter.event.aggregate == event.aggregate
                && letter.event.key == event.key
        };
        let state = match event.attempts {
            _ if event.ordered && event.key.is_some() && self.dead.values().any(blocks) => {
                EventState::Blocked
            }
            0 => EventState::Pending,
            _ => EventState::Retrying,
        };
        let mut status = of(event, state, row.created_at);
        status.next_attempt_at = row.retry_at;
        status.last_error.clone_from(&row.last_error);
        status
    }

    pub(super) fn dispatchers(&self) -> Vec<DispatcherView> {
        let view = |row: &Joined| {
            let mut view = DispatcherView::new(row.member.id);
            view.place.clone_from(&row.member.place);
            view.handles.clone_from(&row.member.handles);
            view.joined_at = row.joined_at;
            view
        };
        self.members.values().map(view).collect()
    }
}

fn of(event: &Envelope, state: EventState, created_at: DateTime<Utc>) -> EventStatus {
    let mut status = EventStatus::new(event.id, state);
    status.position = Some(event.position);
    status.aggregate.clone_from(&event.aggregate);
    status.key.clone_from(&event.key);
    status.topic.clone_from(&event.topic);
    status.attempts = event.attempts;
    status.created_at = created_at;
    status
}

fn of_delayed(row: &DelayedEvent) -> EventStatus {
    let event = &row.event;
    let mut status = EventStatus::new(event.id, EventState::Scheduled);
    event.aggregate.clone_into(&mut status.aggregate);
    status.key.clone_from(&event.key);
    event.topic.clone_into(&mut status.topic);
    status.created_at = row.created_at;
    status.next_attempt_at = Some(row.due_at);
    status
}

fn of_dead(row: &DeadLetter) -> EventStatus {
    let mut status = of(&row.event, EventState::Dead, row.created_at);
    status.last_error = Some(row.error.clone());
    status
}

fn of_delivered(row: &Delivered) -> EventStatus {
    let mut status = of(&row.event, EventState::Delivered, row.created_at);
    status.attempts += 1;
    status.sent_at = Some(row.delivered_at);
    status
}
