//! What happens to an event before any SQL: encoding, headers and checks.

mod limits;
mod error;
mod dedupe;
mod new_event;
mod options;
mod scope;
mod nul;
mod draft;

pub use dedupe::{Dedupe, Emitted};
pub use draft::{Draft, IntoDraft};
pub use error::{InvalidEvent, InvalidEventKind};
pub use limits::Limits;
pub use new_event::{Due, NewEvent};
pub use options::EmitOptions;
pub use scope::Context;
