use super::Tables;
use outbox_seaorm::Delivery;
use sea_orm::{ConnectionTrait, DbBackend, DbErr};
use std::collections::BTreeMap;
use uuid::Uuid;

/// A table of the application, for what handlers do.
#[derive(Debug, Clone)]
pub struct Effects(Tables);

impl Effects {
    /// An empty one beside the outbox.
    pub async fn beside(tables: Tables) -> Self {
        let number = match tables.backend() {
            DbBackend::Sqlite => "INTEGER PRIMARY KEY",
            DbBackend::MySql => "BIGINT AUTO_INCREMENT PRIMARY KEY",
            _ => "BIGSERIAL PRIMARY KEY",
        };
        let sql =
            format!("CREATE TABLE effect (n {number}, account VARCHAR(64), event VARCHAR(36))");
        tables.db.execute_unprepared(&sql).await.unwrap();
        Self(tables)
    }

    /// Does what an event asks for, once more.
    ///
    /// # Errors
    /// The database's.
    pub async fn add(txn: &impl ConnectionTrait, delivery: &Delivery) -> Result<(), DbErr> {
        Self::add_of(txn, delivery.key().unwrap_or("-"), delivery.id()).await
    }

    /// The same for an event of this account.
    ///
    /// # Errors
    /// The database's.
    pub async fn add_of(
        txn: &impl ConnectionTrait,
        account: &str,
        event: Uuid,
    ) -> Result<(), DbErr> {
        let sql = format!("INSERT INTO effect (account, event) VALUES ('{account}', '{event}')");
        txn.execute_unprepared(&sql).await.map(drop)
    }

    /// What was done and committed, by account, in its order.
    pub async fn all(&self) -> BTreeMap<String, Vec<Uuid>> {
        let sql = "SELECT CONCAT(account, ' ', event) AS v FROM effect ORDER BY n";
        let sql = match self.0.backend() {
            DbBackend::Sqlite => "SELECT account || ' ' || event AS v FROM effect ORDER BY n",
            _ => sql,
        };
        let mut effects: BTreeMap<String, Vec<Uuid>> = BTreeMap::new();
        for text in self.0.texts(sql).await {
            let (account, event) = text.split_once(' ').unwrap();
            let events = effects.entry(account.to_owned()).or_default();
            events.push(event.parse().unwrap());
        }
        effects
    }
}
