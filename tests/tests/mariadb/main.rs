//! The store in MariaDB, on the server that `./tests/run` starts: its default character set is
//! latin1, its time zone five and a half hours off, and a packet at most 1 MiB.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot go on has failed"
)]

mod database;
mod harness;

mod apart;
mod budget;
mod cancelled;
mod counts;
mod emit;
mod entities;
mod failures;
mod ids;
mod idle;
mod isolation;
mod locks;
mod million;
mod migrations;
mod packets;
mod plans;
mod pool;
mod questions;
mod restart;
mod schema;
mod sessions;
mod times;

mod plain {
    use super::harness::MariaDb;
    outbox_tests::conformance!(MariaDb);
    outbox_tests::claim_laws!(MariaDb);

    mod dispatcher {
        use super::MariaDb;
        outbox_tests::dispatcher_laws!(MariaDb);
        outbox_tests::claiming_dispatcher_laws!(MariaDb);
    }
}

mod hostile_sessions {
    use super::harness::Sessions;
    outbox_tests::conformance!(Sessions<true>);
    outbox_tests::claim_laws!(Sessions<true>);

    mod dispatcher {
        use super::Sessions;
        outbox_tests::dispatcher_laws!(Sessions<true>);
    }
}
