//! The tables: their names and their DDL.

mod names;

pub use names::{InvalidName, Names};
