use super::{EmittedEvent, EmittedEvents, TestStore};
use crate::{
    memory::{MemoryStore, PendingEvent},
    operator::EventState,
    store::StoreError,
};
use chrono::TimeDelta;
use std::time::Duration;

impl TestStore for MemoryStore {
    async fn emitted(&self) -> Result<EmittedEvents, StoreError> {
        let pending = self.pending().into_iter().map(|row| {
            let state = match row.event.attempts {
                0 => EventState::Pending,
                _ => EventState::Retrying,
            };
            EmittedEvent::of(row.event, state)
        });
        let delayed = self.delayed().into_iter().map(|row| {
            let delay = (row.due_at - row.created_at).max(TimeDelta::zero());
            EmittedEvent {
                delay: delay.to_std().ok(),
                ..EmittedEvent::of(
                    PendingEvent::at(0, row.event, row.created_at).event,
                    EventState::Scheduled,
                )
            }
        });
        let dead = self.dead().into_iter();
        let dead = dead.map(|letter| EmittedEvent::of(letter.event, EventState::Dead));
        let delivered = self.delivered().into_iter();
        let delivered = delivered.map(|event| EmittedEvent::of(event, EventState::Delivered));
        Ok(EmittedEvents::new(
            delayed.chain(pending).chain(dead).chain(delivered),
        ))
    }

    async fn advance(&self, time: Duration) -> Result<(), StoreError> {
        self.pass(time);
        Ok(())
    }
}
