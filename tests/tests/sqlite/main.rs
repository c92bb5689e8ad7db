//! The store in SQLite, in memory and in a file.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod database;
mod harness;

mod apart;
mod contention;
mod counts;
mod liveness;
mod locked;
mod million;
mod pattern;
mod refused;
mod reopened;
mod schema;

mod in_memory {
    use super::harness::Sqlite;
    outbox_tests::conformance!(Sqlite<false>);

    mod dispatcher {
        use super::Sqlite;
        outbox_tests::dispatcher_laws!(Sqlite<false>);
    }
}

mod in_file {
    use super::harness::Sqlite;
    outbox_tests::conformance!(Sqlite<true>);

    mod dispatcher {
        use super::Sqlite;
        outbox_tests::dispatcher_laws!(Sqlite<true>);
    }
}
