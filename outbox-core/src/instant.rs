//! Instants as a database can keep them.

use chrono::{DateTime, Utc};

/// The nearest instant that every database can keep: a whole microsecond, none of them a leap second,
/// within the years 1 to 9999.
pub(crate) fn storable(time: DateTime<Utc>) -> DateTime<Utc> {
    let micros = time.timestamp_micros().clamp(FIRST, LAST);
    DateTime::from_timestamp_micros(micros).unwrap_or(time)
}

/// 0001-01-01T00:00:00Z.
const FIRST: i64 = -62_135_596_800_000_000;

/// 9999-12-31T23:59:59.999999Z.
const LAST: i64 = 253_402_300_799_999_999;

#[cfg(test)]
mod tests {
    use super::storable;
    use chrono::{DateTime, Utc};

    #[test]
    fn stored_instants_are_in_four_digits() {
        for (time, expected) in [
            (DateTime::<Utc>::MIN_UTC, "0001-01-01T00:00:00+00:00"),
            (DateTime::<Utc>::MAX_UTC, "9999-12-31T23:59:59.999999+00:00"),
            (DateTime::UNIX_EPOCH, "1970-01-01T00:00:00+00:00"),
        ] {
            assert_eq!(storable(time).to_rfc3339(), expected);
        }
    }

    #[test]
    fn times_are_cut_to_microseconds_and_have_no_leap_second() {
        for (given, stored) in [
            (
                "2026-01-01T00:00:00.123456789+05:45",
                "2025-12-31T18:15:00.123456Z",
            ),
            (
                "1969-12-31T23:59:58.999999999Z",
                "1969-12-31T23:59:58.999999Z",
            ),
            ("2016-12-31T23:59:60.5Z", "2017-01-01T00:00:00.5Z"),
        ] {
            let time = |text: &str| text.parse::<DateTime<Utc>>().unwrap();
            assert_eq!(storable(time(given)), time(stored));
        }
    }
}
