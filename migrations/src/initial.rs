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
        name.push('_');
        push(&mut name, names.prefix());
    }
    if let Some(schema) = names.schema() {
        name.push('@');
        push(&mut name, schema);
    }
    name
}

/// The bookkeeping has the character set and the collation of the application's database, in which a
/// capital may be a small letter and much cannot be written: all but small letters, digits and
/// underscores stands in hexadecimal, with a `-` before and behind it. A single byte between two others is
/// taken along, so that no part is longer than twice itself and one, and the column's 255 are enough.
fn push(name: &mut String, part: &str) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let is_plain = |byte: &u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_');
    let mut bytes = part.bytes().peekable();
    let mut in_hex = false;
    while let Some(byte) = bytes.next() {
        let more_hex = in_hex && bytes.peek().is_some_and(|next| !is_plain(next));
        let as_hex = !is_plain(&byte) || more_hex;
        if as_hex != in_hex {
            name.push('-');
        }
        in_hex = as_hex;
        if as_hex {
            for digit in [byte >> 4, byte & 15] {
                name.push(DIGITS[usize::from(digit)].into());
            }
        } else {
            name.push(byte.into());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Initial;
    use outbox_seaorm::{Names, Outbox};
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
    fn what_a_database_may_take_for_something_else_is_in_hexadecimal() {
        let base = "m20261129_000001_outbox_seaorm";
        for (prefix, schema, expected) in [
            ("billing_2_", Some("app_1"), "_billing_2_@app_1"),
            ("Order_", None, "_-4f-rder_"),
            ("order-é", Some("App"), "_order-2dc3a9@-41-pp"),
            ("A-b-cd", None, "_-412d622d-cd"),
        ] {
            assert_eq!(name(prefix, schema), format!("{base}{expected}"));
        }
    }

    #[test]
    fn the_longest_name_fits_the_column() {
        for pattern in ["A", "aA", "Aa", "aaA", "Aaa", "é", "表"] {
            let of = |bytes: usize| pattern.repeat(bytes / pattern.len());
            let (prefix, schema) = (of(Names::PREFIX_BYTES), of(Names::SCHEMA_BYTES));
            let length = name(&prefix, Some(&schema)).len();
            assert!(length <= 255, "{pattern}: {length}");
        }
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
            name("A", None),
            name("-41", None),
            name("41", None),
            name("-41-", None),
            name("a ", None),
            name("á", None),
        ];
        assert_eq!(
            all.iter().collect::<HashSet<_>>().len(),
            all.len(),
            "{all:?}"
        );
    }
}
