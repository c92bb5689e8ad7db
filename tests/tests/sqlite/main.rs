//! The store in SQLite, in memory and in a file.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod database;
mod harness;

mod apart;
mod budget;
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
    outbox_tests::claim_laws!(Sqlite<false>);

    mod dispatcher {
        use super::Sqlite;
        outbox_tests::dispatcher_laws!(Sqlite<false>);
        outbox_tests::claiming_dispatcher_laws!(Sqlite<false>);
    }
}

mod in_file {
    use super::harness::Sqlite;
    outbox_tests::conformance!(Sqlite<true>);
    outbox_tests::claim_laws!(Sqlite<true>);

    mod dispatcher {
        use super::Sqlite;
        outbox_tests::dispatcher_laws!(Sqlite<true>);
        outbox_tests::claiming_dispatcher_laws!(Sqlite<true>);
    }
}
