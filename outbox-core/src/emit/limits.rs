use std::time::Duration;

/// How large the parts of an event may be, in bytes of UTF-8. Checked before any SQL is sent.
///
/// The defaults of the names and the key are what the tables can hold, and cannot be raised.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// The payload: 1 MiB. Raise it up to what the database takes in one statement.
    pub payload_bytes: usize,
    /// All headers together as JSON: 16 KiB.
    pub headers_bytes: usize,
}

impl Limits {
    /// The longest topic name and aggregate type, in bytes.
    pub const NAME_BYTES: usize = 200;
    /// The longest aggregate key, in bytes.
    pub const KEY_BYTES: usize = 500;
    /// The longest header name, in bytes.
    pub const HEADER_NAME_BYTES: usize = 100;
    /// The longest dedupe key, in bytes.
    pub const DEDUPE_KEY_BYTES: usize = 250;
    /// A hundred years: beyond it, adding to the database's clock could leave the range.
    pub(crate) const LONGEST: Duration = Duration::from_secs(100 * 366 * 24 * 60 * 60);

    /// Whether a topic, or a kind of aggregate, can have this name.
    pub(crate) fn is_name(name: &str) -> bool {
        !name.is_empty() && name.len() <= Self::NAME_BYTES && !name.contains('\0')
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            payload_bytes: 1024 * 1024,
            headers_bytes: 16 * 1024,
        }
    }
}
