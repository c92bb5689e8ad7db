use sea_orm::DatabaseConnection;
use std::sync::{Arc, Mutex};

/// The statements that go through a connection, without those that begin and end transactions.
#[derive(Debug, Clone, Default)]
pub struct Trace(Arc<Mutex<Vec<String>>>);

impl Trace {
    /// Another handle of the same pool, and what goes through it.
    #[must_use]
    pub fn of(db: &DatabaseConnection) -> (DatabaseConnection, Self) {
        let (mut db, trace) = (db.clone(), Self::default());
        let into = trace.clone();
        db.set_metric_callback(move |info| {
            into.0.lock().unwrap().push(info.statement.sql.clone());
        });
        (db, trace)
    }

    /// Those since the last call.
    #[must_use]
    pub fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}
