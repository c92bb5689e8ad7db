use super::{
    database::persist,
    process::Process,
    stage::{Role, Stage},
};
use outbox_tests::history::{Log, What};
use std::{sync::Arc, time::Duration};

/// A fault while it lasts, as the checker is told of it.
pub(crate) struct Window<'a> {
    stage: &'a Stage,
    log: Log,
    name: String,
    /// Whom it befalls; nobody for all.
    victim: Option<Arc<Process>>,
}

impl<'a> Window<'a> {
    /// Written before the fault strikes: somebody else may be quicker than a line.
    pub(crate) fn open(
        stage: &'a Stage,
        what: What,
        kind: &str,
        victim: Option<&Arc<Process>>,
    ) -> Self {
        let log = match victim {
            Some(victim) => victim.log.clone(),
            None => stage.log.by("*"),
        };
        let window = Self {
            stage,
            log,
            name: format!("{kind}-{}", stage.number()),
            victim: victim.cloned(),
        };
        window.log.about(what, &window.name);
        window
    }

    pub(crate) fn struck(&self) {
        self.log.about(What::Struck, &self.name);
    }

    /// Writes down which outcomes the database does not have yet.
    pub(crate) async fn survey(&self) -> Result<(), String> {
        let by = self.victim.as_ref().map(|victim| &*victim.name);
        let ended = self.stage.tail()?.ended(by);
        let rows = persist(|| self.stage.database.first_deliveries()).await;
        for id in rows.intersection(&ended) {
            self.log.unsettled(&self.name, *id);
        }
        self.log.about(What::Surveyed, &self.name);
        Ok(())
    }

    /// Waits until the victims have shown in the database that they are themselves again.
    pub(crate) async fn recovered(&self) {
        let victims = match &self.victim {
            Some(victim) => vec![Arc::clone(victim)],
            None => self.stage.processes(Role::Dispatcher).clone(),
        };
        for victim in victims {
            let mark = self.stage.census.mark(victim.pid);
            let is_gone = || {
                let others = self.stage.processes(Role::Dispatcher);
                !others.iter().any(|other| Arc::ptr_eq(other, &victim))
            };
            while !self.stage.census.has_recovered(victim.pid, &mark) && !is_gone() {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
    }

    /// It is over.
    pub(crate) fn close(self) {
        self.log.about(What::Over, &self.name);
    }
}
