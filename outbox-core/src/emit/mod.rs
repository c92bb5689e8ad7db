//! What happens to an event before any SQL: encoding, headers and checks.

mod options;
mod draft;
mod error;
mod limits;
mod new_event;
mod scope;

pub use draft::{Draft, IntoDraft};
pub use error::{InvalidEvent, InvalidEventKind};
pub use limits::Limits;
pub use new_event::{Due, NewEvent};
pub use options::EmitOptions;
pub use scope::Context;
