use sea_orm::{ConnectionTrait, DatabaseConnection, DbBackend, DbErr};

/// What kind of event a row of `emitted` tells of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// One with a place among those of its account.
    Ordered,
    /// One that gets its place when it is due.
    Delayed,
    /// One without a place.
    Unordered,
}

impl Kind {
    /// As the database has it.
    #[must_use]
    pub fn code(self) -> i32 {
        match self {
            Self::Ordered => 0,
            Self::Delayed => 1,
            Self::Unordered => 2,
        }
    }

    /// The kind of a row.
    #[must_use]
    pub fn of(code: i32) -> Self {
        match code {
            1 => Self::Delayed,
            2 => Self::Unordered,
            _ => Self::Ordered,
        }
    }
}

/// The tables of the application: `account` has a row an aggregate, and `emitted` tells, in the
/// order of the commits of an account, which events there are: a killed emitter cannot. `effect` has
/// a row for each time that a handler has done what an event asks for.
#[must_use]
pub fn tables(backend: DbBackend) -> [String; 3] {
    let number = match backend {
        DbBackend::Sqlite => "INTEGER PRIMARY KEY",
        DbBackend::MySql => "BIGINT AUTO_INCREMENT PRIMARY KEY",
        _ => "BIGSERIAL PRIMARY KEY",
    };
    [
        "CREATE TABLE account (name VARCHAR(8) PRIMARY KEY, version INTEGER)".to_owned(),
        format!(
            "CREATE TABLE emitted (n {number}, account VARCHAR(8), event VARCHAR(36), \
            kind INTEGER DEFAULT 0, writer VARCHAR(16))"
        ),
        format!("CREATE TABLE effect (n {number}, account VARCHAR(64), event VARCHAR(36))"),
    ]
}

/// Makes the tables, with accounts `x0`, `x1`, ….
///
/// # Errors
/// As the database says.
pub async fn accounts(db: &DatabaseConnection, count: u32) -> Result<(), DbErr> {
    for sql in tables(db.get_database_backend()) {
        db.execute_unprepared(&sql).await?;
    }
    let accounts: Vec<_> = (0..count).map(|n| format!("('x{n}', 0)")).collect();
    let sql = format!(
        "INSERT INTO account (name, version) VALUES {}",
        accounts.join(", ")
    );
    db.execute_unprepared(&sql).await?;
    Ok(())
}
