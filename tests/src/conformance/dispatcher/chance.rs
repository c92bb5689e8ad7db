use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A sequence of numbers that look random, the same in every run.
#[derive(Debug)]
pub(super) struct Chance(AtomicU64);

impl Chance {
    pub(super) fn new(seed: u64) -> Self {
        Self(AtomicU64::new(seed))
    }

    pub(super) fn below(&self, limit: u64) -> u64 {
        let next = |n: u64| n.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let before = self.0.fetch_update(Relaxed, Relaxed, |n| Some(next(n)));
        (before.unwrap_or_default() >> 33) % limit
    }

    /// One of these.
    pub(super) fn one_of<'a, T>(&self, items: &'a [T]) -> Option<&'a T> {
        let index = usize::try_from(self.below(items.len().max(1) as u64));
        items.get(index.unwrap_or_default())
    }
}
