use serde_json::Number;
use std::fmt;

/// An end of a range of integers, from that of `i128` to that of `u128`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::contract) struct Whole {
    half: i128,
    odd: bool,
}

impl Whole {
    pub(super) const LEAST: Self = Self::signed(i128::MIN);
    pub(super) const MOST: Self = Self::unsigned(u128::MAX);

    pub(super) const fn signed(number: i128) -> Self {
        Self {
            half: number >> 1,
            odd: number & 1 == 1,
        }
    }

    pub(super) const fn unsigned(number: u128) -> Self {
        Self {
            // Half of it is no more than `i128::MAX`.
            half: (number >> 1) as i128,
            odd: number & 1 == 1,
        }
    }

    /// How many bits the type of such a range has, and whether it has a sign.
    pub(super) fn width(least: Self, most: Self) -> Option<(u32, bool)> {
        [8, 16, 32, 64, 128].into_iter().find_map(|bits| {
            let all = u128::MAX >> (128 - bits);
            let lowest = Self::signed(i128::MIN >> (128 - bits));
            if (least, most) == (Self::signed(0), Self::unsigned(all)) {
                return Some((bits, false));
            }
            ((least, most) == (lowest, Self::unsigned(all >> 1))).then_some((bits, true))
        })
    }

    /// `None` for a fraction.
    pub(super) fn parse(number: &Number) -> Option<Self> {
        let text = number.to_string();
        let signed = text.parse().map(Self::signed);
        signed.or_else(|_| text.parse().map(Self::unsigned)).ok()
    }
}

impl fmt::Display for Whole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.half.checked_mul(2) {
            Some(even) => write!(f, "{}", even + i128::from(self.odd)),
            // Only what is above `i128::MAX` has such a half.
            None => write!(f, "{}", self.half.unsigned_abs() * 2 + u128::from(self.odd)),
        }
    }
}
