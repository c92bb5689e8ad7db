//! Places between floor and scan of many shards, as one condition: a SELECT for each shard costs
//! more than what it finds.

use outbox_core::store::Cursor;
use sea_orm::Value;

/// The condition for this many shards. It is a tree, so that of a row's shard some bounds are
/// compared and not those of all shards; the servers make the same ranges of it.
pub(super) fn condition(shards: usize) -> String {
    match shards {
        0 => "FALSE".to_owned(),
        1 => "e.shard = ? AND e.seq > ? AND e.seq <= ?".to_owned(),
        _ => {
            let (low, high) = (condition(shards / 2), condition(shards - shards / 2));
            format!("e.shard < ? AND ({low}) OR e.shard >= ? AND ({high})")
        }
    }
}

/// Its values; the cursors are sorted by shard.
pub(super) fn values(cursors: &[Cursor]) -> Vec<Value> {
    match cursors {
        [] => Vec::new(),
        [only] => vec![
            only.shard.into(),
            only.floor.into(),
            only.scan.max(only.floor).into(),
        ],
        _ => {
            let (low, high) = cursors.split_at(cursors.len() / 2);
            let border = Value::from(high[0].shard);
            let mut all = vec![border.clone()];
            all.extend(values(low));
            all.push(border);
            all.extend(values(high));
            all
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{condition, values};
    use outbox_core::store::Cursor;

    #[test]
    fn each_placeholder_has_its_value() {
        for shards in 0..70 {
            let cursors = (0..shards).map(|shard| Cursor::new(shard, 1, 10));
            let values = values(&cursors.collect::<Vec<_>>());
            let condition = condition(shards.unsigned_abs().into());
            assert_eq!(condition.matches('?').count(), values.len(), "{condition}");
        }
    }
}
