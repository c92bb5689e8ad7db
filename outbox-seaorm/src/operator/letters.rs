use super::{
    BlockedAggregate, Count, Letter, LetterDetail, LetterFilter, Page, SCAN, Span, page::limit, row,
};
use crate::store::{Position, SeaOrmStore, StoreError};
use sea_orm::Value;
use std::{collections::BTreeMap, time::Duration};

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
            filter.topic.clone().into(),
            filter.aggregate.clone().into(),
            filter.key.clone().into(),
            filter.more.error.clone().into(),
            filter.more.dead_for.map(micros).into(),
            filter.more.skipped.into(),
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
        let shards: Vec<_> = rows.iter().map(row::shard).collect();
        let waiting = self.waiting_behind(&page.items, &shards, span).await?;
        let letters = page.items.into_iter().zip(waiting);
        let blocked = letters.map(|(letter, waiting)| BlockedAggregate::new(letter, waiting));
        Ok(Page::new(blocked.collect(), page.next))
    }

    /// Looks at what stands behind a page of letters in their shards, which share what may be
    /// passed.
    async fn waiting_behind(
        &self,
        letters: &[Letter],
        shards: &[i64],
        span: Span,
    ) -> Result<Vec<Count>, StoreError> {
        let Some(last) = letters.last() else {
            return Ok(Vec::new());
        };
        let mut heads = BTreeMap::new();
        for (letter, shard) in letters.iter().zip(shards) {
            heads.entry(*shard).or_insert(letter.position);
        }
        let most = SCAN / heads.len();
        let (looks, values) = looks(&heads);
        let bounds = [span.after, last.position];
        let mut all: Vec<Value> = bounds.map(Value::from).into();
        all.extend([limit(&span), limit(&Span::new((), most))]);
        all.extend(values);
        let sql = include_str!("sql/waiting_behind.sql").replace("{looks}", &looks);
        let rows = self.ask(READING, &sql, all).await?;
        let (mut passed, mut waiting) = (BTreeMap::new(), BTreeMap::new());
        for found in &rows {
            let events = row::count(found, "events");
            *passed.entry(row::shard(found)).or_default() += events;
            let head: Option<Position> = row::get(found, "seq", None);
            waiting.insert(head, events);
        }
        let counts = letters.iter().zip(shards).map(|(letter, shard)| {
            let number = waiting.get(&Some(letter.position)).copied();
            let passed: u64 = passed.get(shard).copied().unwrap_or(0);
            match passed < most as u64 {
                true => Count::Exact(number.unwrap_or(0)),
                false => Count::AtLeast(number.unwrap_or(0)),
            }
        });
        Ok(counts.collect())
    }
}

/// The looks at these shards, behind these positions; the parameters come behind four others.
pub(super) fn looks(heads: &BTreeMap<i64, Position>) -> (String, Vec<Value>) {
    let (mut looks, mut values) = (Vec::new(), Vec::new());
    for (shard, head) in heads {
        let number = 5 + values.len();
        let look = include_str!("sql/look_behind.sql").replace("{shard}", &format!("${number}"));
        looks.push(look.replace("{after}", &format!("${}", number + 1)));
        values.extend([Value::from(*shard), Value::from(*head)]);
    }
    (looks.join("UNION ALL\n"), values)
}

/// Microseconds by the database's clock, at most 100 years: its times end somewhere.
pub(super) fn micros(duration: Duration) -> i64 {
    const LONGEST: Duration = Duration::from_secs(100 * 366 * 24 * 60 * 60);
    i64::try_from(duration.min(LONGEST).as_micros()).unwrap_or(i64::MAX)
}
