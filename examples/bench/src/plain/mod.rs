//! What an application would write by hand: SQL over the same tables, by the same driver.

mod insert;
mod loops;

pub(crate) use insert::Insert;
pub(crate) use loops::Loop;
