use super::{
    Meaning, backend_of, by_mysql_number, by_sqlite_code, is_contention, meaning, spoils_session,
};
use sea_orm::{
    ConnAcquireErr, DbBackend, DbErr, RuntimeErr,
    sqlx::{
        self,
        error::{DatabaseError, ErrorKind},
    },
};
use std::{borrow::Cow, error::Error, fmt, sync::Arc};

/// What some servers say, in whatever language, about any error: nothing is told by it (B035).
const FOREIGN: &str = "Verklemmung entdeckt: 1146 (42S02)";

/// An error as a driver makes it: MySQL's writes its number before the SQLSTATE.
#[derive(Debug)]
struct Said {
    code: &'static str,
    number: Option<u32>,
}

impl fmt::Display for Said {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.number {
            Some(number) => write!(f, "{number} ({}): {FOREIGN}", self.code),
            None => f.write_str(FOREIGN),
        }
    }
}

impl Error for Said {}

impl DatabaseError for Said {
    fn message(&self) -> &str {
        FOREIGN
    }

    fn code(&self) -> Option<Cow<'_, str>> {
        Some(self.code.into())
    }

    fn as_error(&self) -> &(dyn Error + Send + Sync + 'static) {
        self
    }

    fn as_error_mut(&mut self) -> &mut (dyn Error + Send + Sync + 'static) {
        self
    }

    fn into_error(self: Box<Self>) -> Box<dyn Error + Send + Sync + 'static> {
        self
    }

    fn kind(&self) -> ErrorKind {
        ErrorKind::Other
    }
}

fn said(code: &'static str, number: Option<u32>) -> DbErr {
    let error = sqlx::Error::Database(Box::new(Said { code, number }));
    DbErr::Query(RuntimeErr::SqlxError(Arc::new(error)))
}

/// What befalls a database, as each says it.
#[test]
fn every_bad_day_has_its_meaning() {
    use Meaning::{Contention, Missing, Refused, Unavailable};
    use sea_orm::DatabaseBackend::{MySql, Postgres, Sqlite};
    let postgres = |code, means| (Postgres, code, None, means);
    let mysql = |number, code, means| (MySql, code, Some(number), means);
    let sqlite = |code, means| (Sqlite, code, None, means);
    let table = [
        // Read-only after a failover.
        postgres("25006", Unavailable),
        mysql(1290, "HY000", Unavailable),
        mysql(1792, "25006", Unavailable),
        mysql(1836, "HY000", Unavailable),
        sqlite("8", Unavailable),
        sqlite("1032", Unavailable),
        // Serialization failure, deadlock, a lock that was not to be had.
        postgres("40001", Contention),
        postgres("40P01", Contention),
        postgres("55P03", Contention),
        mysql(1213, "40001", Contention),
        mysql(1205, "HY000", Contention),
        mysql(1020, "HY000", Contention),
        sqlite("5", Contention),
        sqlite("517", Contention),
        sqlite("6", Contention),
        // A statement that took too long, or was cancelled.
        postgres("57014", Unavailable),
        mysql(3024, "HY000", Unavailable),
        mysql(1969, "70100", Unavailable),
        sqlite("9", Unavailable),
        // Too many connections, too little memory.
        postgres("53300", Unavailable),
        postgres("53200", Unavailable),
        mysql(1040, "08004", Unavailable),
        mysql(1203, "42000", Unavailable),
        sqlite("7", Unavailable),
        // The disk is full, or broken.
        postgres("53100", Unavailable),
        postgres("58030", Unavailable),
        mysql(1021, "HY000", Unavailable),
        mysql(1114, "HY000", Unavailable),
        sqlite("13", Unavailable),
        sqlite("10", Unavailable),
        // It ends, starts, or is cut off.
        postgres("57P01", Unavailable),
        postgres("57P03", Unavailable),
        postgres("08006", Unavailable),
        mysql(1053, "08S01", Unavailable),
        mysql(1927, "70100", Unavailable),
        sqlite("14", Unavailable),
        // Somebody took a right away, which comes back as it went.
        postgres("42501", Unavailable),
        mysql(1142, "42000", Unavailable),
        // Tables that are not there.
        postgres("42P01", Missing),
        mysql(1146, "42S02", Missing),
        // Data that it does not take.
        postgres("22P02", Refused),
        postgres("23505", Refused),
        mysql(1062, "23000", Refused),
        mysql(1366, "22007", Refused),
        sqlite("1555", Refused),
    ];
    for (backend, code, number, means) in table {
        let error = said(code, number);
        assert_eq!(
            meaning(backend, &error),
            means,
            "{backend:?} {code} {number:?}"
        );
        assert_eq!(backend_of(&error), Some(backend), "{code} {number:?}");
        assert_eq!(is_contention(&error), means == Contention, "{code}");
        let read_only = code == "25006" || matches!(number, Some(1290 | 1836));
        let ended = backend == DbBackend::Sqlite
            && matches!(code.parse().map(|code: u32| code & 0xff), Ok(7 | 10 | 13));
        let spoils = spoils_session(backend, &error);
        assert_eq!(spoils, read_only || ended, "{code}");
    }
}

#[test]
fn an_error_without_a_code_is_an_outage() {
    let io = std::io::Error::from(std::io::ErrorKind::ConnectionReset);
    for error in [
        sqlx::Error::PoolTimedOut,
        sqlx::Error::PoolClosed,
        io.into(),
    ] {
        let error = DbErr::Conn(RuntimeErr::SqlxError(Arc::new(error)));
        assert_eq!(meaning(DbBackend::Postgres, &error), Meaning::Unavailable);
    }
    let timeout = DbErr::ConnectionAcquire(ConnAcquireErr::Timeout);
    assert_eq!(meaning(DbBackend::MySql, &timeout), Meaning::Unavailable);
}

#[test]
fn extended_codes_count_as_their_primary_code() {
    let busy_snapshot = by_sqlite_code(517, "database is locked");
    assert_eq!(busy_snapshot, Meaning::Contention);
    let primary_key = by_sqlite_code(1555, "UNIQUE constraint failed");
    assert_eq!(primary_key, Meaning::Refused);
    let moved = by_sqlite_code(1032, "attempt to write a readonly database");
    assert_eq!(moved, Meaning::Unavailable);
}

#[test]
fn a_missing_table_is_told_from_other_bad_statements() {
    let missing = by_sqlite_code(1, "no such table: outbox_event");
    assert_eq!(missing, Meaning::Missing);
    assert_eq!(by_sqlite_code(1, "malformed JSON"), Meaning::Refused);
}

#[test]
fn errors_of_mysql_and_mariadb_are_told_by_their_number() {
    assert_eq!(by_mysql_number(1213), Some(Meaning::Contention));
    // A CHECK that failed: on MySQL, on MariaDB.
    assert_eq!(by_mysql_number(3819), Some(Meaning::Refused));
    assert_eq!(by_mysql_number(4025), Some(Meaning::Refused));
    assert_eq!(by_mysql_number(1836), Some(Meaning::Unavailable));
    assert_eq!(by_mysql_number(1064), None);
}
