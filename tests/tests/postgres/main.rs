//! The store in PostgreSQL, on the private server that `./tests/run` starts.
#![expect(
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test that cannot go on has failed"
)]

mod database;
mod harness;

mod apart;
mod budget;
mod cancelled;
mod commits;
mod counts;
mod emit;
mod errors;
mod fences;
mod hash;
mod horizon;
mod idle;
mod isolation;
mod messages;
mod migrations;
mod million;
mod moving;
mod pool;
mod pooler;
mod restart;
mod schema;
mod settles;
mod take_over;
mod wake;

mod plain {
    use super::harness::Postgres;
    outbox_tests::conformance!(Postgres<false>);
    outbox_tests::claim_laws!(Postgres<false>);

    mod dispatcher {
        use super::Postgres;
        outbox_tests::dispatcher_laws!(Postgres<false>);
        outbox_tests::claiming_dispatcher_laws!(Postgres<false>);
    }
}

/// Whatever a session can have set, and names that need care.
mod hostile {
    use super::harness::Postgres;
    outbox_tests::conformance!(Postgres<true>);
    outbox_tests::claim_laws!(Postgres<true>);

    mod dispatcher {
        use super::Postgres;
        outbox_tests::dispatcher_laws!(Postgres<true>);
    }
}
