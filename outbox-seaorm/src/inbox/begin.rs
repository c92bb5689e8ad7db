use super::{
    Inbox, InboxError, InboxErrorKind, Message,
    statement::{How, Taken},
};
use sea_orm::{ConnectionTrait, DatabaseConnection};
use std::time::Duration;
use tokio::time::sleep;
use uuid::Uuid;

/// How a message stands that somebody wants to work on.
#[derive(Debug)]
pub enum Begun {
    /// It is his to work on: nobody has completed it, and nobody is at it.
    Fresh(Claim),
    /// It is done: there is nothing to do.
    Done,
    /// Somebody is at it, or has died at it and his lease is not over: let it come again later.
    InProgress,
}

/// A message that was [begun](Inbox::begin): complete it after the work, or release it when
/// nothing was done.
///
/// Dropped without either, as by a crash, the message stays begun until the lease is over; whether
/// the work was done is unknown then.
#[derive(Debug, Clone)]
#[must_use = "complete it, or release it"]
pub struct Claim {
    inbox: Inbox,
    message: Message,
    id: Uuid,
    tries: u32,
}

/// How often it is tried to take a message while another transaction is in the way.
const TRIES: u32 = 8;

impl Inbox {
    /// Begins the work on a message whose effects are outside of this database: a call over the
    /// network must not sit in a transaction, and cannot be rolled back.
    ///
    /// The record is committed before the call, [completed](Claim::complete) after it. When the
    /// process dies in between, nobody knows whether the call was made: once the lease is over the
    /// message is fresh again, [`Claim::unknown`] tells how often that happened, and the consumer
    /// decides. Unless it does something else, the call is made again: give it an idempotency key,
    /// or ask the other side first.
    ///
    /// ```
    /// use outbox_seaorm::{Inbox, inbox::Begun, schema};
    /// # use sea_orm::Database;
    /// # use uuid::Uuid;
    ///
    /// # struct Status(u16);
    /// # struct Stripe;
    /// # impl Stripe {
    /// #     async fn has_charge(&self, _: Uuid) -> Result<bool, Box<dyn std::error::Error>> { Ok(true) }
    /// #     async fn charge(&self, _: Uuid) -> Result<(), Box<dyn std::error::Error>> { Ok(()) }
    /// # }
    /// async fn receive(
    ///     db: &sea_orm::DatabaseConnection,
    ///     charges: &Inbox,
    ///     stripe: &Stripe,
    ///     event_id: Uuid,
    /// ) -> Result<Status, Box<dyn std::error::Error>> {
    ///     let claim = match charges.begin(db, event_id).await? {
    ///         Begun::Fresh(claim) => claim,
    ///         Begun::Done => return Ok(Status(200)),
    ///         Begun::InProgress => return Ok(Status(503)), // the sender tries again
    ///     };
    ///     if claim.unknown() > 0 && stripe.has_charge(event_id).await? {
    ///         // It was made, and the process died before it could say so.
    ///     } else if let Err(refused) = stripe.charge(event_id).await {
    ///         claim.release(db).await?; // nothing was done
    ///         return Err(refused);
    ///     }
    ///     claim.complete(db).await?;
    ///     Ok(Status(200))
    /// }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = Database::connect("sqlite::memory:").await?;
    /// # schema::create(&db).await?;
    /// # let (charges, event_id) = (Inbox::new("charges")?, Uuid::now_v7());
    /// # receive(&db, &charges, &Stripe, event_id).await?;
    /// # assert!(matches!(charges.begin(&db, event_id).await?, Begun::Done));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The database's: let the message come again.
    ///
    /// # Cancel safety
    /// Dropped, the message may be begun: it is fresh again when the lease is over.
    pub async fn begin(
        &self,
        db: &DatabaseConnection,
        message: impl Into<Message>,
    ) -> Result<Begun, InboxError> {
        let (message, id) = (message.into(), Uuid::now_v7());
        let mut tries = 0;
        let taken = loop {
            tries += 1;
            match self.take(db, message, id, How::Begun).await {
                Err(error) if error.kind() == InboxErrorKind::Contention && tries < TRIES => {
                    sleep(Duration::from_millis(10) * tries).await;
                }
                taken => break taken?,
            }
        };
        Ok(match taken {
            Taken::Done => Begun::Done,
            Taken::InProgress => Begun::InProgress,
            Taken::Mine(tries) => Begun::Fresh(Claim {
                inbox: self.clone(),
                message,
                id,
                tries,
            }),
        })
    }
}

impl Claim {
    /// How often the message was begun before without being completed or released: each time the
    /// work may have been done.
    #[must_use]
    pub const fn unknown(&self) -> u32 {
        self.tries.saturating_sub(1)
    }

    /// Writes that the work is done, also when the lease is over by now and somebody else has begun
    /// it, or the message was forgotten meanwhile. In a transaction, it is done when that commits. May
    /// be called again after an error.
    ///
    /// # Errors
    /// The database's: unless it is called again with success, the message will be fresh when the
    /// lease is over.
    pub async fn complete<C: ConnectionTrait + ?Sized>(&self, db: &C) -> Result<(), InboxError> {
        if self.write_done(db).await? {
            return Ok(());
        }
        // It is done already, or its record is gone; and somebody may begin it just now.
        let taken = self.inbox.take(db, self.message, self.id, How::Done).await;
        if taken? == Taken::InProgress {
            self.write_done(db).await?;
        }
        Ok(())
    }

    /// Whether there was a record that said something else.
    async fn write_done<C: ConnectionTrait + ?Sized>(&self, db: &C) -> Result<bool, InboxError> {
        let backend = db.get_database_backend();
        let statement = self.inbox.completed(backend, self.message);
        let changed = db.execute(&statement).await;
        let changed = changed.map_err(|source| InboxError::database(backend, source))?;
        Ok(changed.rows_affected() > 0)
    }

    /// Gives the message back as it was before: the work was not done, and whoever gets it next need
    /// not wait. It does nothing when somebody else has begun it by now, nor when it was given back.
    ///
    /// # Errors
    /// The database's: the message will be fresh when the lease is over.
    pub async fn release<C: ConnectionTrait + ?Sized>(self, db: &C) -> Result<(), InboxError> {
        let backend = db.get_database_backend();
        let statement = self.inbox.released(backend, self.message, self.id);
        let changed = db.execute(&statement).await;
        changed.map_err(|source| InboxError::database(backend, source))?;
        Ok(())
    }
}
