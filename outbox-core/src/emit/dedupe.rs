use super::{InvalidEvent, InvalidEventKind as Kind, Limits};
use std::time::Duration;
use uuid::Uuid;

/// How the outbox knows an event that was emitted before.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Dedupe {
    /// The key: events with the same one are the same event.
    pub key: String,
    /// How long the key is remembered from now on.
    pub window: Duration,
}

impl Dedupe {
    /// How long a key is remembered unless the emit says otherwise: 24 hours.
    pub const WINDOW: Duration = Duration::from_secs(24 * 60 * 60);

    pub(super) fn new(key: String, window: Option<Duration>) -> Result<Self, InvalidEvent> {
        let window = window.unwrap_or(Self::WINDOW);
        let wrong = if key.is_empty() || key.len() > Limits::DEDUPE_KEY_BYTES {
            format!("must have 1 to {} bytes", Limits::DEDUPE_KEY_BYTES)
        } else if key.contains('\0') {
            "has a NUL character (U+0000)".to_owned()
        } else if key.ends_with(' ') {
            "ends with a space, which is no difference to MySQL".to_owned()
        } else if window.is_zero() || window > Limits::LONGEST {
            "must be remembered for some time, of 100 years at most".to_owned()
        } else {
            return Ok(Self { key, window });
        };
        Err(InvalidEvent::new(
            Kind::DedupeKey,
            format!("the dedupe key {wrong}"),
        ))
    }
}

/// What became of an event that was emitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Emitted {
    /// It was written, and this is its id.
    New(Uuid),
    /// It was not written: an event with the same dedupe key was, and this is that one's id.
    Duplicate(Uuid),
}

impl Emitted {
    /// The id of the event that is in the outbox, or was.
    #[must_use]
    pub const fn id(self) -> Uuid {
        match self {
            Self::New(id) | Self::Duplicate(id) => id,
        }
    }

    /// Whether another event with the same dedupe key was there already.
    #[must_use]
    pub const fn is_duplicate(self) -> bool {
        matches!(self, Self::Duplicate(_))
    }
}
