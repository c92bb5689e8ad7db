use std::{error, fmt};

/// A payload that is not what its type serialises to.
#[derive(Debug)]
pub struct DecodeError(Cause);

#[derive(Debug)]
enum Cause {
    Json(serde_json::Error),
    OtherTopic {
        expected: &'static str,
        found: &'static str,
    },
}

impl DecodeError {
    pub(crate) fn json(source: serde_json::Error) -> Self {
        Self(Cause::Json(source))
    }

    /// The decoded value says that it belongs to another topic.
    #[must_use]
    pub fn other_topic(expected: &'static str, found: &'static str) -> Self {
        Self(Cause::OtherTopic { expected, found })
    }
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Cause::Json(_) => write!(f, "payload cannot be decoded"),
            Cause::OtherTopic { expected, found } => {
                write!(
                    f,
                    "payload of topic {expected} decoded to an event of {found}"
                )
            }
        }
    }
}

impl error::Error for DecodeError {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        match &self.0 {
            Cause::Json(source) => Some(source),
            Cause::OtherTopic { .. } => None,
        }
    }
}
