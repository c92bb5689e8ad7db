use super::{
    BlockedAggregate, Count, Letter, LetterDetail, LetterFilter, Page, SCAN, Span, page::limit, row,
};
use crate::store::{Position, SeaOrmStore, StoreError};
use sea_orm::QueryResult;
use std::time::Duration;

const READING: &str = "reading dead letters";
const TABLE: &str = "outbox_dead";

impl SeaOrmStore {
    pub(super) async fn list_letters(
        &self,
        filter: &LetterFilter,
        span: Span,
    ) -> Result<Page<Letter>, StoreError> {
        let bound = self.bound(READING, TABLE, span.after).await?;
        let values = [
            span.after.into(),
            bound.upto.into(),
            filter.events.topic.clone().into(),
            filter.events.aggregate.clone().into(),
            filter.events.key.clone().into(),
            filter.error.clone().into(),
            filter.dead_for.map(micros).into(),
            limit(&span),
        ];
        let sql = include_str!("sql/letters.sql");
        let rows = self.ask(READING, sql, values).await?;
        let page = bound.page(&rows, span.most, row::letter, |letter| letter.position);
        page.map_err(|error| self.error(READING, error))
    }

    pub(super) async fn show_letter(
        &self,
        position: Position,
    ) -> Result<Option<LetterDetail>, StoreError> {
        let sql = include_str!("sql/letter.sql");
        let rows = self.ask(READING, sql, [position.into()]).await?;
        let Some(found) = rows.first() else {
            return Ok(None);
        };
        let letter = row::letter(found).map_err(|error| self.error(READING, error))?;
        let (payload, headers) = (row::text(found, "payload"), row::text(found, "headers"));
        Ok(Some(LetterDetail::new(letter, payload, headers)))
    }

    pub(super) async fn list_blocked(
        &self,
        span: Span,
    ) -> Result<Page<BlockedAggregate>, StoreError> {
        let bound = self.bound(READING, TABLE, span.after).await?;
        let values = [span.after.into(), bound.upto.into(), limit(&span)];
        let sql = include_str!("sql/blocking.sql");
        let rows = self.ask(READING, sql, values).await?;
        let page = bound.page(&rows, span.most, row::letter, |letter| letter.position);
        let page = page.map_err(|error| self.error(READING, error))?;
        let mut blocked = Vec::new();
        for (letter, found) in page.items.into_iter().zip(&rows) {
            let waiting = self.waiting_behind(&letter, found).await?;
            blocked.push(BlockedAggregate::new(letter, waiting));
        }
        Ok(Page::new(blocked, page.next))
    }

    /// Looks at what stands behind the letter in its shard.
    async fn waiting_behind(
        &self,
        letter: &Letter,
        found: &QueryResult,
    ) -> Result<Count, StoreError> {
        let shard: i64 = row::shard(found);
        let most = i64::try_from(SCAN).unwrap_or(i64::MAX);
        let values = [
            shard.into(),
            letter.position.into(),
            letter.aggregate.clone().into(),
            letter.key.clone().into(),
            most.into(),
        ];
        let sql = include_str!("sql/waiting_behind.sql");
        let rows = self.ask(READING, sql, values).await?;
        let number = |column| rows.first().map_or(0, |found| row::count(found, column));
        let waiting = number("waiting");
        Ok(match number("passed") {
            passed if passed < SCAN as u64 => Count::Exact(waiting),
            _ => Count::AtLeast(waiting),
        })
    }
}

/// Microseconds by the database's clock, at most 100 years: its times end somewhere.
pub(super) fn micros(duration: Duration) -> i64 {
    const LONGEST: Duration = Duration::from_secs(100 * 366 * 24 * 60 * 60);
    i64::try_from(duration.min(LONGEST).as_micros()).unwrap_or(i64::MAX)
}
