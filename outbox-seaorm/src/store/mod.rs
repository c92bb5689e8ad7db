//! The store in a database: the verbs of [`Store`], one folder of statements a database.

mod apart;
mod listener;
mod error;
mod live;
mod row;
mod mysql;
mod postgres;
mod sqlite;
mod claim;

pub use outbox_core::store::*;

use crate::{Outbox, db_error::spoils_session, schema, wake};
use error::schema_error;
pub(crate) use error::store_error;
use mysql::MySql;
use outbox_core::{CancellationToken, Wake};
use postgres::Postgres;
use sea_orm::{DatabaseConnection, DbBackend, DbErr};
use sqlite::Sqlite;
use std::{
    num::NonZeroUsize,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::Duration,
};
use uuid::Uuid;

/// An outbox in a SeaORM database, as the dispatcher sees it. A clone is the same store.
///
/// `Dispatcher::builder(&db)` makes one by itself; make one by hand for an [`Outbox`] with
/// settings of its own.
#[derive(Debug, Clone)]
pub struct SeaOrmStore {
    db: DatabaseConnection,
    outbox: Outbox,
    backend: Backend,
    /// Set when a session was of no use: before the next call others take the places of those that
    /// nobody uses. The lease may be renewed through another session, and then nothing else would
    /// replace them.
    spoiled: Arc<AtomicBool>,
}

/// A database's statements; shared by the clones of a store.
#[derive(Debug, Clone)]
enum Backend {
    Sqlite(Arc<Sqlite>),
    Postgres(Arc<Postgres>),
    MySql(Arc<MySql>),
    Other(DbBackend),
}

/// Calls a verb of the backend.
macro_rules! call {
    ($store:ident, $context:literal, $backend:ident => $call:expr) => {
        match $store.ready() {
            Backend::Sqlite($backend) => $call.await,
            Backend::Postgres($backend) => $call.await,
            Backend::MySql($backend) => $call.await,
            Backend::Other(backend) => Err(not_supported(*backend)),
        }
        .map_err(|error| $store.failed($context, error))
    };
}

impl SeaOrmStore {
    /// The store of this outbox.
    #[must_use]
    pub fn new(db: &DatabaseConnection, outbox: &Outbox) -> Self {
        let backend = match db.get_database_backend() {
            DbBackend::Sqlite => Backend::Sqlite(Arc::new(Sqlite::new(outbox.names()))),
            DbBackend::Postgres => Backend::Postgres(Arc::new(Postgres::new(outbox.names()))),
            DbBackend::MySql => Backend::MySql(Arc::new(MySql::new(outbox.names()))),
            other => Backend::Other(other),
        };
        Self {
            db: db.clone(),
            outbox: outbox.clone(),
            backend,
            spoiled: Arc::default(),
        }
    }
}

impl SeaOrmStore {
    /// The backend, for the next call.
    fn ready(&self) -> &Backend {
        if self.spoiled.swap(false, Relaxed) {
            match &self.backend {
                Backend::Sqlite(backend) => backend.let_go(&self.db),
                _ => apart::let_go(&self.db),
            }
        }
        &self.backend
    }

    /// What a call that failed is told as.
    pub(crate) fn failed(&self, context: &'static str, error: DbErr) -> StoreError {
        let backend = self.db.get_database_backend();
        if spoils_session(backend, &error) {
            self.spoiled.store(true, Relaxed);
        }
        store_error(backend, context, error)
    }

    /// The connection.
    pub(crate) fn db(&self) -> &DatabaseConnection {
        &self.db
    }

    /// The settings of the outbox.
    pub(crate) fn outbox(&self) -> &Outbox {
        &self.outbox
    }
}

impl From<&DatabaseConnection> for SeaOrmStore {
    fn from(db: &DatabaseConnection) -> Self {
        Self::new(db, &Outbox::default())
    }
}

impl Store for SeaOrmStore {
    async fn check(&self) -> Result<(), StoreError> {
        let backend = self.db.get_database_backend();
        schema::check_with(&self.outbox, &self.db)
            .await
            .map_err(|error| schema_error(backend, "checking the tables", error))
    }

    async fn in_process(&self) -> Result<bool, StoreError> {
        call!(self, "looking where the database is", backend => backend.in_process(&self.db))
    }

    async fn connect_apart(&self) -> Result<Self, StoreError> {
        let db = call!(self, "connecting", backend => backend.connect_apart(&self.db))?;
        Ok(Self {
            db,
            spoiled: Arc::default(),
            ..self.clone()
        })
    }

    fn let_go(&self) {
        apart::let_go(&self.db);
    }

    fn wake(&self) -> Wake {
        wake::handle(self.outbox.names())
    }

    async fn listen(&self, ear: &Ear, stop: &CancellationToken) {
        match &self.backend {
            Backend::Postgres(backend) if !self.outbox.is_polled_only() => {
                backend.listen(&self.db, ear, stop).await;
            }
            _ => {}
        }
    }

    async fn set_sleeping(&self, member: MemberId, sleeping: bool) -> Result<(), StoreError> {
        let Backend::Postgres(backend) = self.ready() else {
            return Ok(());
        };
        let said = backend.set_sleeping(&self.db, member, sleeping).await;
        said.map_err(|error| self.failed("saying whether it sleeps", error))
    }

    async fn join(&self, member: &Member, lease: Duration) -> Result<(), StoreError> {
        call!(self, "joining", backend => backend.join(&self.db, member, lease))
    }

    async fn renew(&self, member: MemberId, lease: Duration) -> Result<bool, StoreError> {
        call!(self, "renewing the lease", backend => backend.renew(&self.db, member, lease))
    }

    async fn members(&self) -> Result<Vec<MemberView>, StoreError> {
        call!(self, "reading the members", backend => backend.members(&self.db))
    }

    async fn evict(&self, seen: &MemberView) -> Result<bool, StoreError> {
        call!(self, "evicting a member", backend => backend.evict(&self.db, seen))
    }

    async fn leave(&self, member: MemberId) -> Result<(), StoreError> {
        call!(self, "leaving", backend => backend.leave(&self.db, member))
    }

    async fn shards(&self) -> Result<Vec<ShardView>, StoreError> {
        call!(self, "reading the shards", backend => backend.shards(&self.db))
    }

    async fn take(&self, member: MemberId, seen: &[ShardView]) -> Result<Vec<Owned>, StoreError> {
        call!(self, "taking shards", backend => backend.take(&self.db, member, seen))
    }

    async fn release(&self, member: MemberId, owned: &[Owned]) -> Result<(), StoreError> {
        call!(self, "releasing shards", backend => backend.release(&self.db, member, owned))
    }

    async fn blocked(&self, shards: &[Shard]) -> Result<Vec<Blocked>, StoreError> {
        call!(self, "reading blocking dead letters", backend => backend.blocked(&self.db, shards))
    }

    async fn paused(&self) -> Result<Vec<String>, StoreError> {
        call!(self, "reading paused topics", backend => backend.paused(&self.db))
    }

    async fn fetch(&self, request: &FetchRequest<'_>) -> Result<Fetched, StoreError> {
        call!(self, "fetching", backend => backend.fetch(&self.db, request))
    }

    async fn read(
        &self,
        positions: &[Position],
        inline_bytes: usize,
    ) -> Result<Vec<Row>, StoreError> {
        call!(self, "reading events", backend => backend.read(&self.db, positions, inline_bytes))
    }

    async fn settle(
        &self,
        member: MemberId,
        outcomes: &[Outcomes],
        history: History,
    ) -> Result<Vec<Settled>, StoreError> {
        call!(self, "settling", backend => {
            backend.settle(&self.db, member, outcomes, history)
        })
    }

    fn settles_at_once(&self) -> NonZeroUsize {
        match &self.backend {
            Backend::Postgres(_) => postgres::SETTLES_AT_ONCE,
            _ => NonZeroUsize::MIN,
        }
    }

    async fn move_due(
        &self,
        member: MemberId,
        owned: &Owned,
        limit: usize,
    ) -> Result<Moved, StoreError> {
        call!(self, "moving delayed events", backend => {
            backend.move_due(&self.db, member, owned, limit)
        })
    }

    async fn mark_crashes(
        &self,
        member: MemberId,
        owned: &Owned,
        marks: &[(Position, u32)],
    ) -> Result<bool, StoreError> {
        call!(self, "counting crashes", backend => {
            backend.mark_crashes(&self.db, member, owned, marks)
        })
    }

    async fn prune(&self, kept: Kept, age: Duration, limit: usize) -> Result<usize, StoreError> {
        self.prune_kept(kept, age, limit).await
    }

    async fn expired(&self, age: Duration, limit: usize) -> Result<Vec<Delivered>, StoreError> {
        self.list_expired(age, limit).await
    }

    async fn forget(&self, events: &[(Position, Uuid)]) -> Result<usize, StoreError> {
        self.forget_delivered(events).await
    }
}

fn not_supported(backend: DbBackend) -> DbErr {
    DbErr::BackendNotSupported {
        db: backend.as_str(),
        ctx: "the outbox's store",
    }
}
