use outbox_seaorm::Outbox;
use sea_orm::{ConnectionTrait, DatabaseConnection, DbBackend, Statement};

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

    /// The column `v` of all rows that a query finds.
    pub async fn texts(&self, sql: &str) -> Vec<String> {
        let statement = Statement::from_string(self.backend(), self.render(sql));
        let rows = self.db.query_all_raw(statement).await.unwrap();
        let texts = rows.iter().map(|row| row.try_get("", "v"));
        texts.collect::<Result<_, _>>().unwrap()
    }

    fn render(&self, sql: &str) -> String {
        self.outbox.names().render(self.backend(), sql)
    }
}
