use outbox_core::NewEvent;
use sea_orm::{
    Value,
    sea_query::{Expr, ExprTrait, Func, Query, SelectStatement},
};

/// Many events for PostgreSQL: a list of each column, one parameter each. The text is the same for
/// any number of events, so that the server prepares it once, and they take fewer bytes than rows.
pub(super) fn select(events: Vec<NewEvent>) -> SelectStatement {
    let mut lists = Lists::default();
    for event in events {
        lists.push(event);
    }
    // A list has no place for NULL, and no key is empty.
    let key = Func::cust("NULLIF")
        .arg(unnest(lists.keys, "text[]"))
        .arg("");
    Query::select()
        .expr(unnest(lists.ids, "uuid[]"))
        .expr(unnest(lists.aggregates, "text[]"))
        .expr(key)
        .expr(unnest(lists.topics, "text[]"))
        .expr(unnest(lists.payloads, "text[]").cast_as("jsonb"))
        .expr(unnest(lists.headers, "text[]").cast_as("jsonb"))
        .expr(unnest(lists.times, "timestamp[]"))
        .expr(unnest(lists.ordered, "boolean[]"))
        .take()
}

#[derive(Default)]
struct Lists {
    ids: Vec<uuid::Uuid>,
    aggregates: Vec<String>,
    keys: Vec<String>,
    topics: Vec<String>,
    payloads: Vec<String>,
    headers: Vec<String>,
    times: Vec<chrono::NaiveDateTime>,
    ordered: Vec<bool>,
}

impl Lists {
    fn push(&mut self, event: NewEvent) {
        self.ids.push(event.id);
        self.aggregates.push(event.aggregate.to_owned());
        self.keys.push(event.key.unwrap_or_default());
        self.topics.push(event.topic.to_owned());
        self.payloads.push(event.payload);
        self.headers.push(event.headers);
        self.times.push(event.occurred_at.naive_utc());
        self.ordered.push(event.ordered);
    }
}

/// A row of each element. All lists of a SELECT go on together.
fn unnest(list: impl Into<Value>, sql_type: &'static str) -> Expr {
    Func::cust("unnest")
        .arg(Expr::val(list).cast_as(sql_type))
        .into()
}
