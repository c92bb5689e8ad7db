use super::{PendingEvent, operator::record, state::State};
use crate::{
    headers::{self, Headers},
    operator::{By, HistoryFilter, Replayed},
    store::{Delivered, Position},
};
use chrono::{DateTime, Utc};
use uuid::Uuid;

impl State {
    /// A step of a replay; none where the id is that of something else.
    pub(super) fn replay(
        &mut self,
        id: Uuid,
        filter: &HistoryFilter,
        (most, limit): (u64, usize),
        by: &By,
        now: DateTime<Utc>,
    ) -> Option<Replayed> {
        let known = self.operations.iter().position(|row| row.id == id);
        if known.is_some_and(|at| self.operations[at].act != "replay") {
            return None;
        }
        let at = known.unwrap_or_else(|| {
            let mut operation = record("replay", by, now);
            operation.id = id;
            operation.topic.clone_from(&filter.topic);
            operation.position = Some(0);
            operation.events = 0;
            self.operations.push(operation);
            self.operations.len() - 1
        });
        let (after, before) = {
            let row = &self.operations[at];
            (row.position.unwrap_or_default(), row.events)
        };
        let left = usize::try_from(most.saturating_sub(before)).unwrap_or(usize::MAX);
        let (found, more) = self.to_replay(filter, after, limit.min(left));
        let (mut after, mut events) = (after, before);
        for row in found {
            after = row.event.position;
            events += 1;
            self.emit_again(row, id, now);
        }
        let operation = &mut self.operations[at];
        (operation.position, operation.events) = (Some(after), events);
        operation.done_at = now;
        Some(Replayed::new(id, events, after, !more))
    }

    /// The next events of the history that match, and whether there are more.
    fn to_replay(
        &self,
        filter: &HistoryFilter,
        after: Position,
        most: usize,
    ) -> (Vec<Delivered>, bool) {
        let mut rows: Vec<_> = self
            .delivered
            .iter()
            .filter(|row| row.event.position > after && matches(filter, row))
            .cloned()
            .collect();
        rows.sort_by_key(|row| row.event.position);
        let more = rows.len() > most;
        rows.truncate(most);
        (rows, more)
    }

    fn emit_again(&mut self, row: Delivered, replay: Uuid, now: DateTime<Utc>) {
        let mut event = row.event;
        event.position = self.next_position();
        // What was delivered had headers.
        if let Ok(mut headers) = serde_json::from_str::<Headers>(&event.headers) {
            headers.set(headers::REPLAY_ID, replay.to_string());
            event.headers = serde_json::to_string(&headers).unwrap_or(event.headers);
        }
        let pending = PendingEvent::back(event, now);
        self.pending.insert(pending.event.position, pending);
    }
}

fn matches(filter: &HistoryFilter, row: &Delivered) -> bool {
    let event = &row.event;
    let key = event.key.as_deref();
    filter.matches(&event.topic, &event.aggregate, key)
        && filter
            .more
            .since
            .is_none_or(|since| row.delivered_at >= since)
        && filter
            .more
            .until
            .is_none_or(|until| row.delivered_at < until)
}
