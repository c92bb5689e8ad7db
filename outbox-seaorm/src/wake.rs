//! Waking the dispatchers of this process after an emit, without a database round trip.

use crate::schema::Names;
use outbox_core::Wake;
use std::{
    collections::HashMap,
    sync::{LazyLock, Mutex, PoisonError},
};

/// One for every set of tables. Applications have a handful, so that none is ever removed.
static WAKES: LazyLock<Mutex<HashMap<Names, Wake>>> = LazyLock::new(Mutex::default);

/// The wake of the outbox with these names: the same for everyone in this process.
///
/// Two databases with the same names share it: it only means that a poll may find something.
pub(crate) fn handle(names: &Names) -> Wake {
    let mut wakes = WAKES.lock().unwrap_or_else(PoisonError::into_inner);
    wakes.entry(names.clone()).or_default().clone()
}
