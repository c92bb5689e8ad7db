use super::Harness;
use outbox_seaorm::{Outbox, OutboxBuilder};
use sea_orm::{
    ConnectionTrait, DatabaseConnection, DatabaseTransaction, DbBackend, Statement,
    TransactionTrait,
};

/// The tables behind a store, as their owner sees them.
#[derive(Debug, Clone)]
pub struct Tables {
    /// The database of the application.
    pub db: DatabaseConnection,
    /// The outbox in it.
    pub outbox: Outbox,
}

impl Tables {
    /// The default outbox of this database.
    #[must_use]
    pub fn of(db: &DatabaseConnection) -> Self {
        Self::new(db, &Outbox::default())
    }

    /// This outbox of this database.
    #[must_use]
    pub fn new(db: &DatabaseConnection, outbox: &Outbox) -> Self {
        let (db, outbox) = (db.clone(), outbox.clone());
        Self { db, outbox }
    }

    /// Those of a database in which several can write at once.
    #[must_use]
    pub fn of_many_writers<H: Harness>(harness: &H) -> Option<Self> {
        let tables = harness.tables();
        tables.filter(|tables| tables.backend() != DbBackend::Sqlite)
    }

    /// Another outbox in the same place.
    pub fn beside(&self) -> OutboxBuilder {
        match self.outbox.names().schema() {
            Some(schema) => Outbox::builder().schema(schema),
            None => Outbox::builder(),
        }
    }

    /// Which database it is.
    #[must_use]
    pub fn backend(&self) -> DbBackend {
        self.db.get_database_backend()
    }

    /// Runs a statement, with the names of this outbox put in.
    pub async fn run(&self, sql: &str) {
        let sql = self.render(sql);
        self.db.execute_unprepared(&sql).await.unwrap();
    }

    /// Begins a transaction with a statement.
    pub async fn begin_with(&self, sql: &str) -> DatabaseTransaction {
        let txn = self.db.begin().await.unwrap();
        txn.execute_unprepared(&self.render(sql)).await.unwrap();
        txn
    }

    /// The column `v` of all rows that a query finds.
    pub async fn texts(&self, sql: &str) -> Vec<String> {
        let statement = Statement::from_string(self.backend(), self.render(sql));
        let rows = self.db.query_all_raw(statement).await.unwrap();
        let texts = rows.iter().map(|row| row.try_get("", "v"));
        texts.collect::<Result<_, _>>().unwrap()
    }

    /// Puts the names of this outbox into a statement.
    #[must_use]
    pub fn render(&self, sql: &str) -> String {
        self.outbox.names().render(self.backend(), sql)
    }
}
