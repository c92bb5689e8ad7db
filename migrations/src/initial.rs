use async_trait::async_trait;
use outbox_seaorm::{Names, Outbox, schema};
use sea_orm_migration::{
    DbErr, MigrationName, MigrationTrait, SchemaManager, sea_orm::ConnectionTrait,
};

/// The first version of all tables.
pub(crate) struct Initial {
    /// Fixed: the bookkeeping table of every application that has run it holds this text.
    name: String,
    outbox: Outbox,
}

impl Initial {
    pub(crate) fn new(outbox: &Outbox) -> Self {
        Self {
            name: name("m20261129_000001_outbox_seaorm", outbox.names()),
            outbox: outbox.clone(),
        }
    }
}

impl MigrationName for Initial {
    fn name(&self) -> &str {
        &self.name
    }
}

#[async_trait]
impl MigrationTrait for Initial {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        schema::create_with(&self.outbox, manager.get_connection()).await?;
        Ok(())
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let db = manager.get_connection();
        for statement in schema::drop_sql(db.get_database_backend(), &self.outbox)? {
            db.execute_unprepared(&statement).await?;
        }
        Ok(())
    }

    /// Where the database can roll DDL back, a migration that was killed leaves nothing.
    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }
}

/// The migration's name, a different one for every prefix and schema.
fn name(base: &str, names: &Names) -> String {
    let mut name = base.to_owned();
    if !names.prefix().is_empty() {
        // Escaped, or a prefix with an `@` could read as a prefix and a schema.
        let prefix = names.prefix().replace('\\', "\\\\").replace('@', "\\@");
        name.push('_');
        name.push_str(&prefix);
    }
    if let Some(schema) = names.schema() {
        name.push('@');
        name.push_str(schema);
    }
    name
}

#[cfg(test)]
mod tests {
    use super::Initial;
    use outbox_seaorm::Outbox;
    use sea_orm_migration::MigrationName;
    use std::collections::HashSet;

    fn name(prefix: &str, schema: Option<&str>) -> String {
        let builder = Outbox::builder().prefix(prefix);
        let builder = match schema {
            Some(schema) => builder.schema(schema),
            None => builder,
        };
        Initial::new(&builder.build().unwrap()).name().to_owned()
    }

    #[test]
    fn the_name_of_the_default_never_changes() {
        assert_eq!(name("", None), "m20261129_000001_outbox_seaorm");
    }

    #[test]
    fn every_outbox_has_a_name_of_its_own() {
        let all = [
            name("", None),
            name("a", None),
            name("", Some("a")),
            name("a@b", None),
            name("a", Some("b")),
            name("a\\", Some("b")),
            name("a\\@b", None),
        ];
        assert_eq!(
            all.iter().collect::<HashSet<_>>().len(),
            all.len(),
            "{all:?}"
        );
    }
}
