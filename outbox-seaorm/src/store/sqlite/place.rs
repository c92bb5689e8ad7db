use super::{Sqlite, statement};
use crate::store::apart;
use sea_orm::{ConnectOptions, ConnectionTrait, Database, DatabaseConnection, DbErr};
use std::fmt::Write;

/// Where the database is.
#[derive(Debug)]
pub(super) enum Place {
    /// In this process: nobody else can open it.
    Memory,
    /// In a file.
    File(String),
}

impl Sqlite {
    async fn place(&self, db: &DatabaseConnection) -> Result<&Place, DbErr> {
        self.place.get_or_try_init(|| self.find_place(db)).await
    }

    async fn find_place(&self, db: &DatabaseConnection) -> Result<Place, DbErr> {
        let sql = "SELECT coalesce(file, '') AS file FROM pragma_database_list WHERE name = ?1";
        let schema = self.schema.as_deref().unwrap_or("main");
        let row = db.query_one_raw(statement(sql, [schema.into()])).await?;
        let file = row
            .map(|row| row.try_get::<String>("", "file"))
            .transpose()?;
        Ok(match file {
            Some(file) if !file.is_empty() => Place::File(file),
            _ => Place::Memory,
        })
    }

    pub(in crate::store) async fn in_process(
        &self,
        db: &DatabaseConnection,
    ) -> Result<bool, DbErr> {
        let in_process = matches!(self.place(db).await?, Place::Memory);
        if in_process {
            self.keep_memory(db).await;
        }
        Ok(in_process)
    }

    /// A database in memory is gone with its last connection, and a pool drops one that somebody
    /// was just about to get when he is dropped: a handler at its time limit. A second connection,
    /// which does nothing, keeps it. Where the first one is the only one that can see it, that one
    /// is an empty database of its own.
    async fn keep_memory(&self, db: &DatabaseConnection) {
        // Without it all is as it was.
        let _ = self.memory.get_or_try_init(|| apart::sqlite(db)).await;
    }

    /// A second connection to the file; to memory there is none. An attached database becomes the main one there, with its
    /// tables still found under its schema's name.
    pub(in crate::store) async fn connect_apart(
        &self,
        db: &DatabaseConnection,
    ) -> Result<DatabaseConnection, DbErr> {
        let Place::File(path) = self.place(db).await? else {
            return Ok(db.clone());
        };
        let mut options = ConnectOptions::new(url(path));
        options
            .max_connections(1)
            .idle_timeout(None)
            .max_lifetime(None)
            .sqlx_logging(false);
        let apart = Database::connect(options).await?;
        // Who waits for the write lock looks for it less and less often, every tenth of a second in
        // the end, and writers who come later overtake: among many a lease would run out. The
        // heartbeat asks anew instead.
        apart.execute_unprepared("PRAGMA busy_timeout = 30").await?;
        if let Some(schema) = self.schema.as_deref().filter(|schema| *schema != "main") {
            let attach = "ATTACH DATABASE ?1 AS ?2";
            let values = [path.as_str().into(), schema.into()];
            apart.execute_raw(statement(attach, values)).await?;
        }
        Ok(apart)
    }
}

impl Sqlite {
    /// Ends the connections that nobody uses, where new ones find the same tables.
    pub(in crate::store) fn let_go(&self, db: &DatabaseConnection) {
        let attached = self
            .schema
            .as_deref()
            .is_some_and(|schema| schema != "main");
        if !attached && matches!(self.place.get(), Some(Place::File(_))) {
            apart::let_go_of_file(db);
        }
    }
}

/// Percent-encodes whatever could mean something in a URL.
fn url(path: &str) -> String {
    let mut url = "sqlite://".to_owned();
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"/._-".contains(&byte) {
            url.push(char::from(byte));
        } else {
            // Writing to a String cannot fail.
            let _ = write!(url, "%{byte:02X}");
        }
    }
    url.push_str("?mode=rw");
    url
}

#[cfg(test)]
mod tests {
    use super::url;

    #[test]
    fn odd_characters_are_encoded() {
        assert_eq!(url("/a b/50%?é"), "sqlite:///a%20b/50%25%3F%C3%A9?mode=rw");
    }
}
