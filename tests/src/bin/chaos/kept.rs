use super::database::Database;
use sea_orm::DbErr;
use std::collections::HashSet;
use uuid::Uuid;

/// What became of the events, as the database says.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    pub(crate) delivered: HashSet<Uuid>,
    pub(crate) dead: HashSet<Uuid>,
    /// What operators took out; not what they were too late for.
    pub(crate) taken_out: HashSet<Uuid>,
}

impl Kept {
    pub(crate) async fn read(database: &Database) -> Result<Self, DbErr> {
        Ok(Self {
            delivered: database.ids("outbox_delivered").await?,
            dead: database.ids("outbox_dead").await?,
            taken_out: database.taken_out().await?,
        })
    }

    /// How many of the committed events operators took out, and how many are nowhere.
    pub(crate) fn missing(&self, emitted: &[Uuid]) -> (usize, usize) {
        let is_missing = |id: &Uuid| !self.delivered.contains(id) && !self.dead.contains(id);
        let missing = emitted.iter().copied().filter(is_missing);
        let (discarded, lost): (Vec<Uuid>, Vec<Uuid>) =
            missing.partition(|id| self.taken_out.contains(id));
        (discarded.len(), lost.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_recorded_as_taken_out_may_be_missing() {
        let ids = [1, 2, 3, 4, 5].map(Uuid::from_u128);
        let kept = Kept {
            delivered: HashSet::from([ids[0]]),
            dead: HashSet::from([ids[1]]),
            taken_out: HashSet::from([ids[1], ids[2]]),
        };
        assert_eq!(kept.missing(&ids), (1, 2));
        assert_eq!(kept.missing(&ids[..3]), (1, 0));
        assert_eq!(Kept::default().missing(&ids), (0, 5));
    }
}
