//! What the lock says of a change.

mod edits;
mod fields;
mod file;
mod topics;

use outbox_seaorm::contract::{self, Schemas};
use std::path::Path;

/// What is told when a build of the first types is followed by one of the second.
pub(crate) fn told(old: &Schemas, new: &Schemas) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("outbox.lock.json");
    contract::update(old, &path).unwrap();
    contract::check(old, &path).unwrap();
    told_at(new, &path)
}

pub(crate) fn told_at(schemas: &Schemas, path: &Path) -> Vec<String> {
    match contract::check(schemas, path) {
        Ok(()) => Vec::new(),
        Err(error) => error.changes().iter().map(ToString::to_string).collect(),
    }
}
