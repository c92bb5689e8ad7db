//! The clock of the database, as statements spell it.

use sea_orm::{DbBackend, sea_query::Expr};
use std::time::Duration;

/// Now.
pub(crate) fn now(backend: DbBackend) -> Expr {
    Expr::cust(match backend {
        DbBackend::Postgres => "clock_timestamp()",
        DbBackend::MySql => "UTC_TIMESTAMP(6)",
        _ => "strftime('%Y-%m-%dT%H:%M:%f+00:00', 'now')",
    })
}

/// So long after now. A delay is rounded up to what the database counts in: nothing is early.
pub(crate) fn later(backend: DbBackend, delay: Duration) -> Expr {
    match backend {
        DbBackend::Postgres => Expr::cust_with_values(
            "clock_timestamp() + $1 * INTERVAL '1 microsecond'",
            [whole(delay, 1_000)],
        ),
        DbBackend::MySql => Expr::cust_with_values(
            "UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND",
            [whole(delay, 1_000)],
        ),
        _ => {
            let millis = whole(delay, 1_000_000);
            Expr::cust_with_values(
                "strftime('%Y-%m-%dT%H:%M:%f+00:00', 'now', ?)",
                [format!("+{}.{:03} seconds", millis / 1000, millis % 1000)],
            )
        }
    }
}

/// The number of units of this many nanoseconds, rounded up.
fn whole(delay: Duration, nanos: u128) -> i64 {
    i64::try_from(delay.as_nanos().div_ceil(nanos)).unwrap_or(i64::MAX)
}
