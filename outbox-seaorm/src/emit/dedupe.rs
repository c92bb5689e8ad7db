//! Events that were emitted before, known by their keys.

use super::{EmitError, chunk};
use crate::{claim::Claims, clock, outbox::Outbox};
use outbox_core::{Emitted, NewEvent};
use sea_orm::{
    ConnectionTrait, DbErr,
    sea_query::{Expr, ExprTrait, InsertStatement, Query, SelectStatement},
};
use std::{
    collections::{BTreeMap, HashMap},
    time::Duration,
};
use uuid::Uuid;

/// The first event of a call with a key: equal keys in one statement would fail it.
type Firsts<'a> = BTreeMap<&'a str, (Uuid, Duration)>;

/// Takes the keys of these events; returns what became of each.
pub(super) async fn claim<C: ConnectionTrait + ?Sized>(
    conn: &C,
    outbox: &Outbox,
    events: &[NewEvent],
) -> Result<Vec<Emitted>, EmitError> {
    let mut firsts = Firsts::new();
    for event in events {
        if let Some(dedupe) = &event.dedupe {
            let first = firsts.entry(&dedupe.key);
            first.or_insert((event.id, dedupe.window));
        }
    }
    let mut holders = HashMap::new();
    let backend = conn.get_database_backend();
    let failed = |source| EmitError::database(backend, source);
    // In the order of the keys, or two that emit the same ones could wait for each other.
    for keys in chunk::cut(firsts, MOST, BYTES, |(key, _)| key.len() + 64) {
        let claims = Claims {
            backend,
            names: outbox.names(),
            table: "outbox_dedupe",
        };
        conn.execute(&insert(claims, &keys)).await.map_err(failed)?;
        let rows = conn.query_all(&read(claims, &keys)).await;
        for row in rows.map_err(failed)? {
            let key: String = row.try_get("", "dedupe_key").map_err(failed)?;
            let id: Uuid = row.try_get("", "event_id").map_err(failed)?;
            holders.insert(key, id);
        }
    }
    let became = |event: &NewEvent| {
        let Some(dedupe) = &event.dedupe else {
            return Ok(Emitted::New(event.id));
        };
        match holders.get(&dedupe.key) {
            Some(holder) if *holder == event.id => Ok(Emitted::New(event.id)),
            Some(holder) => Ok(Emitted::Duplicate(*holder)),
            None => Err(failed(DbErr::RecordNotFound(
                "a dedupe key that has just been written".to_owned(),
            ))),
        }
    };
    events.iter().map(became).collect()
}

/// So many keys go into one statement, and so many bytes: what stalls is longer.
const MOST: usize = 1_000;
const BYTES: usize = 12 * 1024;

fn insert(claims: Claims<'_>, keys: &[(&str, (Uuid, Duration))]) -> InsertStatement {
    let run_out = claims.stored("expires_at").lte(claims.now());
    let set = ["event_id", "expires_at"].map(|column| (column, claims.inserted(column)));
    let mut statement = Query::insert();
    statement
        .into_table(claims.table())
        .columns(["dedupe_key", "event_id", "expires_at"])
        .on_conflict(claims.take(&["dedupe_key"], run_out, set));
    for (key, (id, window)) in keys {
        statement.values_panic([
            Expr::val(*key),
            Expr::val(*id),
            clock::later(claims.backend, *window),
        ]);
    }
    statement
}

fn read(claims: Claims<'_>, keys: &[(&str, (Uuid, Duration))]) -> SelectStatement {
    let keys = keys.iter().map(|(key, _)| *key);
    claims
        .read(&["dedupe_key", "event_id"])
        .and_where(Expr::col("dedupe_key").is_in(keys))
        .take()
}

#[cfg(test)]
mod tests {
    use super::{Claims, Duration, Uuid, insert, read};
    use crate::schema::Names;
    use sea_orm::DbBackend;

    #[test]
    fn a_key_is_taken_where_it_has_run_out() {
        let names = Names::new("a_".to_owned(), Some("app".to_owned())).unwrap();
        let mut text = String::new();
        for backend in [DbBackend::Postgres, DbBackend::MySql, DbBackend::Sqlite] {
            let claims = Claims {
                backend,
                names: &names,
                table: "outbox_dedupe",
            };
            let one = (Uuid::from_u128(1), Duration::from_secs(1));
            let two = (Uuid::from_u128(2), Duration::from_millis(1));
            let keys = [("one", one), ("two", two)];
            text += &format!("{}\n", backend.build(&insert(claims, &keys)));
            text += &format!("{}\n\n", backend.build(&read(claims, &keys)));
        }
        insta::assert_snapshot!(text);
    }
}
