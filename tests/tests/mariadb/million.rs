//! The large cases, outside of the usual run.

use super::harness::MariaDb;

outbox_tests::million_laws!(MariaDb);
