use crate::store::Position;

/// How many rows one look at a table passes at most.
pub const SCAN: usize = 10_000;

/// A part of an answer.
///
/// It may be short, even empty, and yet not the last one: a look at a table passes at most
/// [`SCAN`] rows. There is more as long as `next` is something.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Page<T, K = Position> {
    /// What was found.
    pub items: Vec<T>,
    /// Where to go on.
    pub next: Option<K>,
}

impl<T, K> Page<T, K> {
    /// A page, and where the next one starts.
    #[must_use]
    pub fn new(items: Vec<T>, next: Option<K>) -> Self {
        Self { items, next }
    }
}

/// Which part of a table to look at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Span<K = Position> {
    /// Behind this one.
    pub after: K,
    /// How many to return at most.
    pub most: usize,
}

impl<K> Span<K> {
    /// A span behind `after`.
    #[must_use]
    pub fn new(after: K, most: usize) -> Self {
        Self { after, most }
    }
}
