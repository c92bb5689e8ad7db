//! The large cases, outside of the usual run.

use super::harness::Postgres;

outbox_tests::million_laws!(Postgres<false>);
