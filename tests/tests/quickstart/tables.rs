//! Looks into the database of a shop.

use sea_orm::{ConnectionTrait, Database, DatabaseConnection, DbBackend, Statement};
use std::path::Path;

pub(crate) struct Tables(DatabaseConnection);

const EFFECTS: &str = "(SELECT 'charge' AS kind, order_id, amount < 0 AS back FROM charges
    UNION ALL SELECT 'parcel', order_id, FALSE FROM parcels
    UNION ALL SELECT 'mail', order_id, FALSE FROM mails)";

impl Tables {
    pub(crate) async fn open(path: &Path) -> Self {
        let url = format!("sqlite://{}", path.display());
        Self(Database::connect(url).await.unwrap())
    }

    pub(crate) async fn count(&self, table: &str, condition: &str) -> i64 {
        let sql = format!("SELECT COUNT(*) FROM {table} WHERE {condition}");
        let row = self
            .0
            .query_one_raw(Statement::from_string(DbBackend::Sqlite, sql))
            .await;
        row.unwrap().unwrap().try_get_by_index(0).unwrap()
    }

    pub(crate) async fn execute(&self, sql: &str) {
        self.0.execute_unprepared(sql).await.unwrap();
    }

    /// Charges, paybacks, parcels and mails that exist more than once for their order.
    pub(crate) async fn repeated_effects(&self) -> i64 {
        let groups = format!("{EFFECTS} GROUP BY kind, order_id, back HAVING COUNT(*) > 1");
        self.count(&format!("(SELECT 1 FROM {groups})"), "TRUE")
            .await
    }

    /// Effects of orders that were refused.
    pub(crate) async fn effects_without_order(&self) -> i64 {
        self.count(EFFECTS, "order_id NOT IN (SELECT id FROM orders)")
            .await
    }
}
