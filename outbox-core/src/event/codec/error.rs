use crate::error::BoxError;
use std::{error, fmt};

/// A payload that is not what its type serialises to.
#[derive(Debug)]
pub struct DecodeError {
    /// The version it was written at, where that is known.
    version: Option<u32>,
    cause: Cause,
}

#[derive(Debug)]
enum Cause {
    Json {
        /// Empty where the payload as a whole is wrong.
        path: String,
        source: serde_json::Error,
    },
    Upcast(BoxError),
    OtherTopic {
        expected: &'static str,
        found: &'static str,
    },
    TooOld {
        oldest: u32,
    },
    Newer {
        known: u32,
    },
}

impl DecodeError {
    pub(super) fn json(path: String, source: serde_json::Error) -> Self {
        Self::new(Cause::Json { path, source })
    }

    /// A function that brings old payloads up to date has failed.
    pub(in crate::event) fn upcast(source: BoxError) -> Self {
        Self::new(Cause::Upcast(source))
    }

    /// The decoded value says that it belongs to another topic.
    #[must_use]
    pub fn other_topic(expected: &'static str, found: &'static str) -> Self {
        Self::new(Cause::OtherTopic { expected, found })
    }

    pub(super) fn too_old(oldest: u32) -> Self {
        Self::new(Cause::TooOld { oldest })
    }

    pub(super) fn newer(known: u32) -> Self {
        Self::new(Cause::Newer { known })
    }

    pub(super) fn of(self, version: u32) -> Self {
        Self {
            version: Some(version),
            ..self
        }
    }

    fn new(cause: Cause) -> Self {
        Self {
            version: None,
            cause,
        }
    }

    /// Where in the payload the mistake is: `lines[2].quantity`. `None` where it is the payload as a
    /// whole, or not known.
    #[must_use]
    pub fn path(&self) -> Option<&str> {
        match &self.cause {
            Cause::Json { path, .. } if !path.is_empty() => Some(path),
            _ => None,
        }
    }
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("payload")?;
        if let Some(version) = self.version {
            write!(f, " of version {version}")?;
        }
        match &self.cause {
            Cause::Json { path, .. } if path.is_empty() => f.write_str(" cannot be decoded"),
            Cause::Json { path, .. } => write!(f, " cannot be decoded at {path}"),
            Cause::Upcast(_) => f.write_str(" cannot be brought up to date"),
            Cause::OtherTopic { expected, found } => {
                write!(f, " of topic {expected} decoded to an event of {found}")
            }
            Cause::TooOld { oldest } => {
                write!(
                    f,
                    " is older than version {oldest}, the oldest that is read here"
                )
            }
            Cause::Newer { known } => {
                write!(f, " is newer than version {known}, the newest known here")
            }
        }
    }
}

impl error::Error for DecodeError {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        match &self.cause {
            Cause::Json { source, .. } => Some(source),
            Cause::Upcast(source) => Some(&**source),
            Cause::OtherTopic { .. } | Cause::TooOld { .. } | Cause::Newer { .. } => None,
        }
    }
}
