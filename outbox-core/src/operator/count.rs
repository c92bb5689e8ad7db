use std::fmt;

/// How many there are, and how well that is known: what is exact is cheap up to
/// [`SCAN`](super::SCAN), and not beyond.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Count {
    /// Exactly so many.
    Exact(u64),
    /// So many, and perhaps more: counting stopped.
    AtLeast(u64),
    /// An estimate.
    About(u64),
}

impl Count {
    /// The number, however well it is known.
    #[must_use]
    pub fn number(self) -> u64 {
        match self {
            Self::Exact(number) | Self::AtLeast(number) | Self::About(number) => number,
        }
    }
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exact(number) => write!(f, "{number}"),
            Self::AtLeast(number) => write!(f, "at least {number}"),
            Self::About(number) => write!(f, "about {number}"),
        }
    }
}
