//! The rows of `outbox_inbox`.

use super::{Inbox, InboxError, Message};
use crate::{claim::Claims, clock};
use sea_orm::{
    ConnectionTrait, DbBackend, DbErr, QueryResult,
    prelude::DateTimeUtc,
    sea_query::{
        Condition, Expr, ExprTrait, InsertStatement, Query, SelectStatement, UpdateStatement,
    },
};
use uuid::Uuid;

/// How a message is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum How {
    /// Done, when the transaction commits.
    Done,
    /// Begun, until the lease is over.
    Begun,
}

/// What is known of a message after somebody wanted to take it.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Taken {
    /// It is his; it was begun so often, this time included, without being completed.
    Mine(u32),
    /// Somebody has done it.
    Done,
    /// Somebody is at it.
    InProgress,
}

const KEY: [&str; 3] = ["consumer", "event_id", "replay_id"];

impl Inbox {
    /// Takes a message: the one statement by which of two at the same moment one is the first.
    pub(super) async fn take<C: ConnectionTrait + ?Sized>(
        &self,
        conn: &C,
        message: Message,
        claim: Uuid,
        how: How,
    ) -> Result<Taken, InboxError> {
        let backend = conn.get_database_backend();
        let failed = |source| InboxError::database(backend, source);
        let insert = self.insert(backend, message, claim, how);
        conn.execute(&insert).await.map_err(failed)?;
        let row = conn.query_one(&self.read(backend, message)).await;
        taken(row.map_err(failed)?, claim).map_err(failed)
    }

    /// Writes that the message is done, whoever has begun it.
    pub(super) fn completed(&self, backend: DbBackend, message: Message) -> UpdateStatement {
        self.update(backend, message)
            .value("done_at", clock::now(backend))
            .take()
    }

    /// Gives back what this claim has begun, as if it had not. It is nobody's then: given back again,
    /// it is not given back twice.
    pub(super) fn released(
        &self,
        backend: DbBackend,
        message: Message,
        claim: Uuid,
    ) -> UpdateStatement {
        self.update(backend, message)
            .value("tries", Expr::col("tries").sub(1))
            .value("lease_until", clock::now(backend))
            .value("claim", Uuid::nil())
            .and_where(Expr::col("claim").eq(claim))
            .take()
    }

    fn update(&self, backend: DbBackend, message: Message) -> UpdateStatement {
        Query::update()
            .table(self.claims(backend).table())
            .cond_where(self.key(message))
            .and_where(Expr::col("done_at").is_null())
            .take()
    }

    fn insert(
        &self,
        backend: DbBackend,
        message: Message,
        claim: Uuid,
        how: How,
    ) -> InsertStatement {
        let claims = self.claims(backend);
        let run_out = claims.stored("done_at").is_null();
        let run_out = run_out.and(claims.stored("lease_until").lte(claims.now()));
        // The last one only is a column by which it is told whether the row has run out.
        let (last, until) = match how {
            How::Done => ("done_at", clock::now(backend)),
            How::Begun => ("lease_until", clock::later(backend, self.lease())),
        };
        let set = [
            ("claim", claims.inserted("claim")),
            ("tries", claims.stored("tries").add(1)),
            ("begun_at", claims.inserted("begun_at")),
            (last, claims.inserted(last)),
        ];
        let mut columns = vec!["consumer", "event_id", "replay_id", "claim", "begun_at"];
        let mut values = vec![
            Expr::val(self.consumer()),
            Expr::val(message.event),
            Expr::val(message.replay),
            Expr::val(claim),
            clock::now(backend),
        ];
        columns.push(last);
        values.push(until);
        Query::insert()
            .into_table(claims.table())
            .columns(columns)
            .values_panic(values)
            .on_conflict(claims.take(&KEY, run_out, set))
            .take()
    }

    fn read(&self, backend: DbBackend, message: Message) -> SelectStatement {
        self.claims(backend)
            .read(&["claim", "tries", "done_at"])
            .cond_where(self.key(message))
            .take()
    }

    fn key(&self, message: Message) -> Condition {
        Condition::all()
            .add(Expr::col("consumer").eq(self.consumer()))
            .add(Expr::col("event_id").eq(message.event))
            .add(Expr::col("replay_id").eq(message.replay))
    }

    fn claims(&self, backend: DbBackend) -> Claims<'_> {
        Claims {
            backend,
            names: self.outbox().names(),
            table: "outbox_inbox",
        }
    }
}

fn taken(row: Option<QueryResult>, claim: Uuid) -> Result<Taken, DbErr> {
    let missing = || DbErr::RecordNotFound("a message that has just been taken".to_owned());
    let row = row.ok_or_else(missing)?;
    let holder: Uuid = row.try_get("", "claim")?;
    if holder == claim {
        let tries: i32 = row.try_get("", "tries")?;
        return Ok(Taken::Mine(u32::try_from(tries).unwrap_or(1)));
    }
    let done_at: Option<DateTimeUtc> = row.try_get("", "done_at")?;
    Ok(match done_at {
        Some(_) => Taken::Done,
        None => Taken::InProgress,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Outbox;
    use std::time::Duration;

    #[test]
    fn a_message_is_taken_completed_and_released() {
        let outbox = Outbox::builder().prefix("a_").schema("app");
        let inbox = Inbox::builder("mails").outbox(&outbox.build().unwrap());
        let inbox = inbox.lease(Duration::from_secs(2)).build().unwrap();
        let message = Message::event(Uuid::from_u128(1));
        let claim = Uuid::from_u128(2);
        let mut text = String::new();
        for backend in [DbBackend::Postgres, DbBackend::MySql, DbBackend::Sqlite] {
            for how in [How::Done, How::Begun] {
                let insert = inbox.insert(backend, message, claim, how);
                text += &format!("{}\n", backend.build(&insert));
            }
            text += &format!("{}\n", backend.build(&inbox.read(backend, message)));
            text += &format!("{}\n", backend.build(&inbox.completed(backend, message)));
            let released = inbox.released(backend, message, claim);
            text += &format!("{}\n\n", backend.build(&released));
        }
        insta::assert_snapshot!(text);
    }
}
