//! Waking dispatchers of other processes. B093, B095 to B097, B101 to B103.

mod ear;
mod sleeper;

mod connection;
mod content;
mod pooler;
mod sleep;
mod trigger;
