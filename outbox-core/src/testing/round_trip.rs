use crate::{
    emit::{Draft, InvalidEvent, Limits},
    event::{self, DecodeError, OutboxEvent},
    headers::Headers,
};
use std::{error, fmt};

/// Encodes an event as `emit` does, with all of its checks, and decodes it as a dispatcher does. It
/// must come back as it went in: what it is encoded to once more must be the same.
///
/// Made for property tests of your own types.
///
/// ```
/// # use outbox_core::OutboxEvent;
/// use outbox_core::testing::round_trip;
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Debug, Serialize, Deserialize, OutboxEvent)]
/// #[outbox(aggregate = "order", crate = outbox_core)]
/// struct Placed {
///     #[outbox(key)]
///     order_id: u32,
///     weight: f64,
/// }
///
/// let placed = round_trip(&Placed { order_id: 7, weight: 1.5 })?;
/// assert_eq!(placed.weight, 1.5);
/// assert!(round_trip(&Placed { order_id: 7, weight: f64::NAN }).is_err());
/// # Ok::<(), outbox_core::testing::RoundTripError>(())
/// ```
///
/// # Errors
/// When the event could not be emitted, could not be read, or would be read as another one.
pub fn round_trip<E: OutboxEvent>(event: &E) -> Result<E, RoundTripError> {
    let index = event.topic_index();
    let encode = |event| Draft::new(event).finish(&Limits::default(), &Headers::new());
    let before = encode(event).map_err(RoundTripError::Invalid)?.payload;
    let version = event.topic().version;
    let back = event::decode_version::<E>(index, version, &before);
    let back = back.map_err(RoundTripError::Undecodable)?;
    let after = encode(&back).map_err(RoundTripError::Invalid)?.payload;
    if same(&before, &after) {
        Ok(back)
    } else {
        Err(RoundTripError::Changed { before, after })
    }
}

/// The order of an object's fields says nothing: a hash map has another one each time.
fn same(before: &str, after: &str) -> bool {
    let value = serde_json::from_str::<serde_json::Value>;
    before == after
        || matches!((value(before), value(after)), (Ok(before), Ok(after)) if before == after)
}

/// An event that does not come back as it went in.
#[derive(Debug)]
#[non_exhaustive]
pub enum RoundTripError {
    /// It cannot be emitted.
    Invalid(InvalidEvent),
    /// What it is encoded to cannot be decoded.
    Undecodable(DecodeError),
    /// It is decoded as another event.
    Changed {
        /// The payload that was written.
        before: String,
        /// The payload of what was read.
        after: String,
    },
}

impl fmt::Display for RoundTripError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Invalid(_) => f.write_str("the event cannot be emitted"),
            Self::Undecodable(_) => f.write_str("the event cannot be read back"),
            Self::Changed { before, after } => {
                write!(f, "the event comes back changed: {before} became {after}")
            }
        }
    }
}

impl error::Error for RoundTripError {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        match self {
            Self::Invalid(source) => Some(source),
            Self::Undecodable(source) => Some(source),
            Self::Changed { .. } => None,
        }
    }
}
