//! The events of an application, and what it promises those who consume them.
//!
//! `cargo run -p contract` says what has changed since the files beside this crate were written,
//! `cargo run -p contract -- update` writes them anew. A test does the former.

mod documents;
pub mod events;

pub use documents::{Documents, documents};
