use super::{fault::Fault, tail::Strikes};
use serde::Serialize;
use std::collections::BTreeMap;

/// The last line.
#[derive(Debug, Clone, Default, Serialize)]
pub(crate) struct Counts {
    pub(crate) emitted: usize,
    pub(crate) delivered: usize,
    pub(crate) dead: usize,
    /// What operators took out.
    pub(crate) discarded: usize,
    pub(crate) lost: usize,
    pub(crate) reordered: usize,
    pub(crate) duplicates: usize,
    pub(crate) unexplained: usize,
    pub(crate) faults: usize,
    pub(crate) max_takeover_ms: u64,
}

impl Counts {
    /// Whether all went as it must: a fault that never struck in work has shown nothing.
    pub(crate) fn is_good(&self, missed: &[Fault]) -> bool {
        self.lost + self.reordered + self.unexplained == 0 && missed.is_empty()
    }
}

/// The faults of the list that never struck while an event was in work.
pub(crate) fn missed(list: &[Fault], strikes: &BTreeMap<Fault, Strikes>) -> Vec<Fault> {
    let is_missed = |fault: &&Fault| strikes.get(fault).is_none_or(|it| it.in_work == 0);
    list.iter().filter(is_missed).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_or_was_missed_is_not_good() {
        let none = Counts::default;
        let table = [
            (none(), &[][..], true),
            (none(), &[Fault::Kill], false),
            (Counts { lost: 1, ..none() }, &[], false),
            (
                Counts {
                    reordered: 1,
                    ..none()
                },
                &[],
                false,
            ),
            (
                Counts {
                    unexplained: 1,
                    ..none()
                },
                &[],
                false,
            ),
            (
                Counts {
                    emitted: 6,
                    delivered: 3,
                    dead: 2,
                    discarded: 1,
                    duplicates: 4,
                    faults: 5,
                    max_takeover_ms: 9_000,
                    ..none()
                },
                &[],
                true,
            ),
        ];
        for (counts, missed, is_good) in table {
            assert_eq!(counts.is_good(missed), is_good, "{counts:?} {missed:?}");
        }
    }

    #[test]
    fn a_fault_of_the_list_is_missed_unless_it_struck_in_work() {
        let strikes = |all, in_work| Strikes { all, in_work };
        let struck = BTreeMap::from([
            (Fault::Kill, strikes(3, 1)),
            (Fault::Freeze, strikes(3, 0)),
            (Fault::Scale, strikes(0, 0)),
        ]);
        let list = [Fault::Kill, Fault::Freeze, Fault::Hang];
        assert_eq!(missed(&list, &struck), [Fault::Freeze, Fault::Hang]);
        assert_eq!(missed(&[Fault::Kill], &struck), []);
        assert_eq!(missed(&[], &struck), [], "only what was asked for");
        assert_eq!(missed(&list, &BTreeMap::new()), list);
    }
}
