use super::{
    Act, BlockedAggregate, By, DispatcherView, EventFilter, EventStatus, HistoryFilter, Letter,
    LetterDetail, LetterFilter, Operation, OperatorStore, Page, PausedTopic, Replayed, Scheduled,
    Span, TopicCount,
    page::{Bound, limit},
    row,
};
use crate::store::{Position, SeaOrmStore, StoreError};
use outbox_core::Due;
use std::time::Duration;
use uuid::Uuid;

impl OperatorStore for SeaOrmStore {
    async fn letters(&self, filter: &LetterFilter, span: Span) -> Result<Page<Letter>, StoreError> {
        self.list_letters(filter, span).await
    }

    async fn letter(&self, position: Position) -> Result<Option<LetterDetail>, StoreError> {
        self.show_letter(position).await
    }

    async fn act(
        &self,
        act: Act,
        positions: &[Position],
        by: &By,
    ) -> Result<Vec<Position>, StoreError> {
        self.act_on(act, positions, by).await
    }

    async fn blocked_aggregates(&self, span: Span) -> Result<Page<BlockedAggregate>, StoreError> {
        self.list_blocked(span).await
    }

    async fn pause(&self, topic: &str, pause: bool, by: &By) -> Result<bool, StoreError> {
        self.change_pause(topic, pause, by).await
    }

    async fn paused_topics(&self) -> Result<Vec<PausedTopic>, StoreError> {
        self.list_paused().await
    }

    async fn scheduled(
        &self,
        filter: &EventFilter,
        span: Span<Uuid>,
    ) -> Result<Page<Scheduled, Uuid>, StoreError> {
        self.list_scheduled(filter, span).await
    }

    async fn cancel(&self, id: Uuid, by: &By) -> Result<bool, StoreError> {
        self.change_delayed(id, None, by).await
    }

    async fn reschedule(&self, id: Uuid, due: Due, by: &By) -> Result<bool, StoreError> {
        self.change_delayed(id, Some(due), by).await
    }

    async fn replay(
        &self,
        replay: Uuid,
        filter: &HistoryFilter,
        most: u64,
        limit: usize,
        by: &By,
    ) -> Result<Replayed, StoreError> {
        self.replay_step(replay, filter, (most, limit), by).await
    }

    async fn status(&self, id: Uuid) -> Result<Vec<EventStatus>, StoreError> {
        self.status_of(id).await
    }

    async fn counts(&self) -> Result<Vec<TopicCount>, StoreError> {
        self.count_all().await
    }

    async fn oldest(&self) -> Result<Option<(EventStatus, Duration)>, StoreError> {
        self.oldest_event().await
    }

    async fn failing(
        &self,
        filter: &EventFilter,
        attempts: u32,
        span: Span,
    ) -> Result<Page<EventStatus>, StoreError> {
        self.list_failing(filter, attempts, span).await
    }

    async fn dispatchers(&self) -> Result<Vec<DispatcherView>, StoreError> {
        self.list_dispatchers().await
    }

    async fn operations(
        &self,
        before: Option<Uuid>,
        most: usize,
    ) -> Result<Page<Operation, Uuid>, StoreError> {
        const READING: &str = "reading what operators did";
        let before = before.unwrap_or(Uuid::max());
        let values = [before.into(), limit(&Span::new((), most))];
        let sql = include_str!("sql/operations.sql");
        let rows = self.ask(READING, sql, values).await?;
        let all = Bound {
            upto: Uuid::nil(),
            more: false,
        };
        all.page(&rows, most, row::operation, |operation| operation.id)
            .map_err(|error| self.error(READING, error))
    }
}
