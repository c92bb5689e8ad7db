use super::{
    DeadLetter, DelayedEvent, MemoryStore, PendingEvent, clock,
    state::{State, due_at},
};
use crate::{
    emit::Due,
    envelope::Envelope,
    operator::{
        Act, BlockedAggregate, By, Count, DispatcherView, EventFilter, EventStatus, HistoryFilter,
        Letter, LetterDetail, LetterFilter, Operation, OperatorStore, Page, PausedTopic, Replayed,
        Scheduled, Span, TopicCount,
    },
    store::{DeadReason, Position, StoreError, StoreErrorKind},
};
use chrono::{DateTime, Utc};
use std::{
    ops::Bound::{Excluded, Unbounded},
    time::Duration,
};
use uuid::Uuid;

impl OperatorStore for MemoryStore {
    async fn letters(&self, filter: &LetterFilter, span: Span) -> Result<Page<Letter>, StoreError> {
        let letters = |state: &mut State, now| {
            let behind = state.dead.range((Excluded(span.after), Unbounded));
            let matching = behind.map(|(_, letter)| letter);
            let matching = matching.filter(|letter| matches(filter, letter, now));
            page(matching.map(as_letter), span.most, |letter| letter.position)
        };
        Ok(self.run(letters).await)
    }

    async fn letter(&self, position: Position) -> Result<Option<LetterDetail>, StoreError> {
        let detail = |state: &mut State, _| {
            let letter = state.dead.get(&position)?;
            let event = &letter.event;
            let (payload, headers) = (event.payload.clone(), event.headers.clone());
            Some(LetterDetail::new(as_letter(letter), payload, headers))
        };
        Ok(self.run(detail).await)
    }

    async fn act(
        &self,
        act: Act,
        positions: &[Position],
        by: &By,
    ) -> Result<Vec<Position>, StoreError> {
        let each = |state: &mut State, now| {
            let positions = positions.iter().copied();
            positions
                .filter(|position| state.act(act, *position, by, now))
                .collect()
        };
        Ok(self.run(each).await)
    }

    async fn blocked_aggregates(&self, span: Span) -> Result<Page<BlockedAggregate>, StoreError> {
        let blocked = |state: &mut State, _| {
            let behind = state.dead.range((Excluded(span.after), Unbounded));
            let blocking = behind.map(|(_, letter)| letter).filter(|row| row.blocks);
            let waiting = |letter| Count::Exact(state.waiting_behind(letter));
            let blocked = blocking.map(|row| BlockedAggregate::new(as_letter(row), waiting(row)));
            page(blocked, span.most, |blocked| blocked.letter.position)
        };
        Ok(self.run(blocked).await)
    }

    async fn pause(&self, topic: &str, pause: bool, by: &By) -> Result<bool, StoreError> {
        let change = |state: &mut State, now| state.pause(topic, pause, by, now);
        Ok(self.run(change).await)
    }

    async fn paused_topics(&self) -> Result<Vec<PausedTopic>, StoreError> {
        let paused = |state: &mut State, _| state.paused.values().cloned().collect();
        Ok(self.run(paused).await)
    }

    async fn scheduled(
        &self,
        filter: &EventFilter,
        span: Span<Uuid>,
    ) -> Result<Page<Scheduled, Uuid>, StoreError> {
        let scheduled = |state: &mut State, _| {
            let mut rows: Vec<_> = state.delayed.values().collect();
            rows.sort_by_key(|row| row.event.id);
            let behind = rows.into_iter().filter(|row| row.event.id > span.after);
            let matching = behind.filter(|row| {
                let event = &row.event;
                filter.matches(event.topic, event.aggregate, event.key.as_deref())
            });
            page(matching.map(as_scheduled), span.most, |event| event.id)
        };
        Ok(self.run(scheduled).await)
    }

    async fn cancel(&self, id: Uuid, by: &By) -> Result<bool, StoreError> {
        let cancel = |state: &mut State, now| {
            let delayed = state.take_delayed(id);
            if let Some(delayed) = &delayed {
                state.record_event("cancel", by, delayed.event.topic, id, now);
            }
            delayed.is_some()
        };
        Ok(self.run(cancel).await)
    }

    async fn reschedule(&self, id: Uuid, due: Due, by: &By) -> Result<bool, StoreError> {
        let reschedule = |state: &mut State, now| {
            let Some(mut delayed) = state.take_delayed(id) else {
                return false;
            };
            state.record_event("reschedule", by, delayed.event.topic, id, now);
            delayed.due_at = due_at(now, due);
            state.delayed.insert((delayed.due_at, id), delayed);
            true
        };
        Ok(self.run(reschedule).await)
    }

    async fn replay(
        &self,
        replay: Uuid,
        filter: &HistoryFilter,
        most: u64,
        limit: usize,
        by: &By,
    ) -> Result<Replayed, StoreError> {
        let step = |state: &mut State, now| state.replay(replay, filter, (most, limit), by, now);
        let replayed = self.run(step).await;
        replayed.ok_or_else(|| {
            let source = "the id is that of another operation";
            StoreError::new(StoreErrorKind::Refused, "replaying", source)
        })
    }

    async fn status(&self, id: Uuid) -> Result<Vec<EventStatus>, StoreError> {
        Ok(self.run(|state, _| state.status(id)).await)
    }

    async fn counts(&self) -> Result<Vec<TopicCount>, StoreError> {
        Ok(self.run(|state, _| state.counts()).await)
    }

    async fn oldest(&self) -> Result<Option<(EventStatus, Duration)>, StoreError> {
        Ok(self.run(|state, now| state.oldest(now)).await)
    }

    async fn failing(
        &self,
        filter: &EventFilter,
        attempts: u32,
        span: Span,
    ) -> Result<Page<EventStatus>, StoreError> {
        let failing = |state: &mut State, _| {
            let behind = state.pending.range((Excluded(span.after), Unbounded));
            let failing = behind.map(|(_, row)| row).filter(|row| {
                let event = &row.event;
                event.attempts > attempts
                    && filter.matches(&event.topic, &event.aggregate, event.key.as_deref())
            });
            let failing = failing.map(|row| state.of_pending(row));
            let key = |status: &EventStatus| status.position.unwrap_or_default();
            page(failing, span.most, key)
        };
        Ok(self.run(failing).await)
    }

    async fn dispatchers(&self) -> Result<Vec<DispatcherView>, StoreError> {
        Ok(self.run(|state, _| state.dispatchers()).await)
    }

    async fn operations(
        &self,
        before: Option<Uuid>,
        most: usize,
    ) -> Result<Page<Operation, Uuid>, StoreError> {
        let operations = |state: &mut State, _| {
            let latest_first = state.operations.iter().rev();
            let earlier = latest_first
                .filter(|operation| before.is_none_or(|before| operation.id < before))
                .cloned();
            page(earlier, most, |operation| operation.id)
        };
        Ok(self.run(operations).await)
    }
}

impl State {
    fn act(&mut self, act: Act, position: Position, by: &By, now: DateTime<Utc>) -> bool {
        let event = match act {
            Act::Retry => self.retry_letter(position),
            Act::Skip => self.skip(position),
            Act::Discard => self.discard(position),
        };
        if let Some(event) = &event {
            let mut operation = record(act.as_str(), by, now);
            operation.topic = Some(event.topic.clone());
            operation.event = Some(event.id);
            operation.position = Some(position);
            self.operations.push(operation);
        }
        event.is_some()
    }

    fn pause(&mut self, topic: &str, pause: bool, by: &By, now: DateTime<Utc>) -> bool {
        let is_change = self.paused.contains_key(topic) != pause;
        if is_change {
            let name = topic.to_owned();
            if pause {
                let (who, why) = (by.who.clone(), by.why.clone());
                let row = PausedTopic::new(name.clone(), who, why, now);
                self.paused.insert(name.clone(), row);
            } else {
                self.paused.remove(topic);
            }
            self.revision += 1;
            let mut operation = record(if pause { "pause" } else { "resume" }, by, now);
            operation.topic = Some(name);
            self.operations.push(operation);
        }
        is_change
    }

    fn take_delayed(&mut self, id: Uuid) -> Option<DelayedEvent> {
        let mut keys = self.delayed.keys();
        let key = *keys.find(|(_, found)| *found == id)?;
        self.delayed.remove(&key)
    }

    fn record_event(&mut self, act: &str, by: &By, topic: &str, id: Uuid, now: DateTime<Utc>) {
        let mut operation = record(act, by, now);
        operation.topic = Some(topic.to_owned());
        operation.event = Some(id);
        self.operations.push(operation);
    }

    fn retry_letter(&mut self, position: Position) -> Option<Envelope> {
        let DeadLetter {
            mut event,
            created_at,
            ..
        } = self.dead.remove(&position)?;
        if event.ordered {
            self.revision += 1;
        } else {
            event.position = self.next_position();
        }
        let pending = PendingEvent::back(event.clone(), created_at);
        self.pending.insert(event.position, pending);
        Some(event)
    }

    fn skip(&mut self, position: Position) -> Option<Envelope> {
        let letter = self.dead.get_mut(&position).filter(|row| row.blocks)?;
        (letter.blocks, letter.reason) = (false, DeadReason::Skipped);
        self.revision += 1;
        Some(letter.event.clone())
    }

    fn discard(&mut self, position: Position) -> Option<Envelope> {
        let letter = self.dead.remove(&position).map(|letter| letter.event);
        let event = letter.or_else(|| self.pending.remove(&position).map(|row| row.event))?;
        self.revision += 1;
        Some(event)
    }

    fn waiting_behind(&self, letter: &DeadLetter) -> u64 {
        let head = &letter.event;
        let behind = self.pending.range((Excluded(head.position), Unbounded));
        let same = behind.filter(|(_, row)| {
            let event = &row.event;
            event.ordered && event.aggregate == head.aggregate && event.key == head.key
        });
        same.fold(0, |number, _| number + 1)
    }
}

/// What is written down of an act.
pub(super) fn record(act: &str, by: &By, now: DateTime<Utc>) -> Operation {
    let mut operation = Operation::new(Uuid::now_v7(), act);
    operation.who.clone_from(&by.who);
    operation.why.clone_from(&by.why);
    operation.done_at = now;
    operation
}

/// The first `most` items, and the key of the last one where there may be more.
fn page<T, K>(items: impl Iterator<Item = T>, most: usize, key: impl Fn(&T) -> K) -> Page<T, K> {
    let items: Vec<T> = items.take(most).collect();
    let next = items.last().filter(|_| items.len() == most).map(key);
    Page::new(items, next)
}

fn as_scheduled(row: &DelayedEvent) -> Scheduled {
    let event = &row.event;
    let mut scheduled = Scheduled::new(event.id);
    event.aggregate.clone_into(&mut scheduled.aggregate);
    scheduled.key.clone_from(&event.key);
    event.topic.clone_into(&mut scheduled.topic);
    scheduled.due_at = row.due_at;
    scheduled.created_at = row.created_at;
    scheduled
}

fn matches(filter: &LetterFilter, letter: &DeadLetter, now: DateTime<Utc>) -> bool {
    let event = &letter.event;
    let key = event.key.as_deref();
    let old = |age| clock::until(letter.dead_at, now) >= age;
    filter.matches(&event.topic, &event.aggregate, key)
        && filter
            .more
            .error
            .as_ref()
            .is_none_or(|text| letter.error.contains(text))
        && filter.more.dead_for.is_none_or(old)
        && filter.more.skipped == (letter.reason == DeadReason::Skipped)
}

fn as_letter(row: &DeadLetter) -> Letter {
    let event = &row.event;
    let mut letter = Letter::new(event.position, event.id);
    letter.aggregate.clone_from(&event.aggregate);
    letter.key.clone_from(&event.key);
    letter.topic.clone_from(&event.topic);
    letter.ordered = event.ordered;
    letter.attempts = event.attempts;
    row.reason.as_str().clone_into(&mut letter.reason);
    letter.error.clone_from(&row.error);
    letter.blocks = row.blocks;
    letter.created_at = row.created_at;
    letter.dead_at = row.dead_at;
    letter
}
