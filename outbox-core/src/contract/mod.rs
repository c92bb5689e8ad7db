#![doc = include_str!("../../docs/contract.md")]

// In reading order: the schemas of the payloads, two of them compared, and what is made of it.
mod error;
mod payload;
mod schemas;
mod shape;
mod fits;
mod change;
mod compare;
mod canonical;
mod lock;
mod table;
mod asyncapi;

pub use asyncapi::Info;
pub use change::{Change, ChangeKind, Effect};
pub use error::ContractError;
pub use lock::{check, update};
pub use schemas::Schemas;
