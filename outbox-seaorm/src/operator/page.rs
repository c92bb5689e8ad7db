use super::{Page, SCAN, Span};
use crate::store::{Position, SeaOrmStore, StoreError};
use sea_orm::{DbErr, QueryResult, TryGetable, Value};

/// Up to where a look at a table goes.
pub(super) struct Bound<K> {
    /// This far.
    pub(super) upto: K,
    /// There are rows beyond.
    pub(super) more: bool,
}

impl SeaOrmStore {
    /// Where the look at a table by position ends that starts behind a position.
    pub(super) async fn bound(
        &self,
        context: &'static str,
        table: &str,
        after: Position,
    ) -> Result<Bound<Position>, StoreError> {
        let end: Option<Position> = self.end(context, table, "seq", after.into()).await?;
        Ok(Bound {
            upto: end.unwrap_or(Position::MAX),
            more: end.is_some(),
        })
    }

    /// The key of the last row that the look passes, where it does not come to the end.
    pub(super) async fn end<K: TryGetable>(
        &self,
        context: &'static str,
        table: &str,
        key: &str,
        after: Value,
    ) -> Result<Option<K>, StoreError> {
        let sql = include_str!("sql/page_end.sql");
        let sql = sql.replace("{table}", table).replace("{key}", key);
        let last = i64::try_from(SCAN).unwrap_or(i64::MAX) - 1;
        let rows = self.ask(context, &sql, [after, last.into()]).await?;
        let end = rows.first().map(|row| row.try_get("", "key")).transpose();
        end.map_err(|error| self.error(context, error))
    }
}

impl<K: Copy> Bound<K> {
    /// The page of these rows: it goes on behind the last of them where there may be more of the
    /// same look, or behind the look.
    pub(super) fn page<T>(
        &self,
        rows: &[QueryResult],
        most: usize,
        item: impl Fn(&QueryResult) -> Result<T, DbErr>,
        key: impl Fn(&T) -> K,
    ) -> Result<Page<T, K>, DbErr> {
        let items = rows.iter().map(item).collect::<Result<Vec<_>, _>>()?;
        let full = items.last().filter(|_| items.len() == most).map(key);
        let next = full.or(self.more.then_some(self.upto));
        Ok(Page::new(items, next))
    }
}

/// The limit of a statement.
pub(super) fn limit<K>(span: &Span<K>) -> Value {
    i64::try_from(span.most).unwrap_or(i64::MAX).into()
}
