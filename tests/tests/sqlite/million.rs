//! The large cases, outside of the usual run.

use super::harness::Sqlite;

outbox_tests::million_laws!(Sqlite<true>);
