//! Cutting many events into statements.

use super::statement::Table;
use outbox_core::NewEvent;
use sea_orm::DbBackend;

/// What one statement may carry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Limit {
    /// Bound values, below what the database takes (65,535; SQLite 32,766).
    values: usize,
    /// Bytes of all values; a longer event goes alone.
    bytes: usize,
}

impl Limit {
    pub(super) fn of(backend: DbBackend) -> Self {
        match backend {
            // One message of 24 to 60 KB stalls for 44 ms over TCP, as sqlx leaves Nagle's
            // algorithm on; 12 KB go through at once.
            DbBackend::Postgres => Self {
                values: 65_000,
                bytes: 12 * 1024,
            },
            // Below the 1 MiB that old servers have as `max_allowed_packet`.
            DbBackend::MySql => Self {
                values: 65_000,
                bytes: 512 * 1024,
            },
            // In process: only memory counts.
            _ => Self {
                values: 32_000,
                bytes: 1024 * 1024,
            },
        }
    }

    /// Cuts events, keeping their order, into statements to one table.
    pub(super) fn split(self, table: Table, events: Vec<NewEvent>) -> Vec<Vec<NewEvent>> {
        cut(
            events,
            self.values / table.columns().len(),
            self.bytes,
            size,
        )
    }
}

/// Cuts items, keeping their order: so many together at most, and so many bytes.
pub(super) fn cut<T>(
    items: impl IntoIterator<Item = T>,
    most: usize,
    most_bytes: usize,
    size: impl Fn(&T) -> usize,
) -> Vec<Vec<T>> {
    let mut chunks: Vec<Vec<T>> = Vec::new();
    let mut bytes = 0;
    for item in items {
        let size = size(&item);
        match chunks.last_mut() {
            Some(chunk) if chunk.len() < most && bytes + size <= most_bytes => {
                chunk.push(item);
                bytes += size;
            }
            _ => {
                chunks.push(vec![item]);
                bytes = size;
            }
        }
    }
    chunks
}

/// About how many bytes an event takes in a statement: its text, and the id, times, lengths and
/// placeholders.
fn size(event: &NewEvent) -> usize {
    const FIXED: usize = 160;
    FIXED
        + event.aggregate.len()
        + event.key.as_ref().map_or(0, String::len)
        + event.topic.len()
        + event.payload.len()
        + event.headers.len()
}

#[cfg(test)]
mod tests {
    use super::{super::tests::event, Limit, Table};
    use sea_orm::DbBackend;

    #[test]
    fn bind_limits_hold_for_every_database_and_table() {
        for (backend, most) in [
            (DbBackend::Postgres, 65_535),
            (DbBackend::MySql, 65_535),
            (DbBackend::Sqlite, 32_766),
        ] {
            for table in [Table::Event, Table::Delayed] {
                let limit = Limit {
                    bytes: usize::MAX,
                    ..Limit::of(backend)
                };
                let chunks = limit.split(table, vec![event("{}"); 20_000]);
                let longest = chunks.iter().map(Vec::len).max().unwrap();
                assert!(
                    longest * table.columns().len() <= most,
                    "{backend:?} {table:?}"
                );
                assert!(longest > 3_000);
                assert_eq!(chunks.iter().map(Vec::len).sum::<usize>(), 20_000);
            }
        }
    }

    #[test]
    fn a_statement_stays_below_the_byte_limit_and_a_long_event_goes_alone() {
        let short = || event("{}");
        let long = event(&"x".repeat(2 * 1024 * 1024));
        let events = vec![short(), short(), long, short(), short()];
        let expected: Vec<_> = events.iter().map(|event| event.payload.clone()).collect();
        let chunks = Limit::of(DbBackend::Sqlite).split(Table::Event, events);
        assert_eq!(chunks.iter().map(Vec::len).collect::<Vec<_>>(), [2, 1, 2]);
        let order: Vec<_> = chunks
            .into_iter()
            .flatten()
            .map(|event| event.payload)
            .collect();
        assert!(order == expected, "the order changed");
    }

    #[test]
    fn no_event_gives_no_statement() {
        assert!(
            Limit::of(DbBackend::Postgres)
                .split(Table::Event, vec![])
                .is_empty()
        );
    }
}
