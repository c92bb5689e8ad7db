use outbox_core::store::MemberId;
use std::{
    collections::BTreeSet,
    sync::{LazyLock, Mutex, MutexGuard, PoisonError},
};

/// The members that joined in this process and neither left nor were dropped. For a database that
/// lives in this process, this is the lease.
static LIVE: LazyLock<Mutex<BTreeSet<MemberId>>> = LazyLock::new(Mutex::default);

/// The members that joined through one store; dropped with its last clone, they are gone. So the
/// members of a dispatcher whose tasks were aborted do not live on.
#[derive(Debug, Default)]
pub(super) struct Joined(Mutex<BTreeSet<MemberId>>);

impl Joined {
    pub(super) fn add(&self, member: MemberId) {
        lock(&self.0).insert(member);
        lock(&LIVE).insert(member);
    }

    pub(super) fn remove(&self, member: MemberId) {
        lock(&self.0).remove(&member);
        lock(&LIVE).remove(&member);
    }
}

impl Drop for Joined {
    fn drop(&mut self) {
        let mut live = lock(&LIVE);
        for member in lock(&self.0).iter() {
            live.remove(member);
        }
    }
}

/// Whether the member lives in this process.
pub(super) fn is_live(member: MemberId) -> bool {
    lock(&LIVE).contains(&member)
}

/// A set is whole after each of its operations: a panic elsewhere cannot have broken it.
fn lock(set: &Mutex<BTreeSet<MemberId>>) -> MutexGuard<'_, BTreeSet<MemberId>> {
    set.lock().unwrap_or_else(PoisonError::into_inner)
}
