//! A store that counts what is asked of it, and fails or waits when it is told to.

mod call;
mod gate;
mod verbs;

pub use call::{Call, Moment, Verb};
pub use gate::Gate;

use outbox_core::{
    Wake,
    store::{Horizon, StoreError, StoreErrorKind},
};
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

/// Any store, watched. A clone is the same.
#[derive(Clone)]
pub struct Watched<S> {
    store: S,
    watch: Arc<Watch>,
    /// Instead of the store's own.
    wake: Option<Wake>,
    /// What listens, instead of the store.
    listens: Option<S>,
    /// What every fetch proves, instead of what the store says.
    horizon: Option<Horizon>,
}

type Fail = Box<dyn Fn(&Call<'_>) -> Option<StoreErrorKind> + Send + Sync>;

#[derive(Default)]
struct Watch {
    counts: Mutex<BTreeMap<Verb, usize>>,
    fail: Mutex<Option<Arc<Fail>>>,
    gate: Mutex<Option<Gate>>,
    /// Whose next call is never answered.
    swallow: Mutex<Option<Verb>>,
}

impl<S> Watched<S> {
    /// Watches a store.
    pub fn new(store: S) -> Self {
        Self {
            store,
            watch: Arc::default(),
            wake: None,
            listens: None,
            horizon: None,
        }
    }

    /// Hears nothing of what is emitted in this process, as other tests do.
    #[must_use]
    pub fn deaf(self) -> Self {
        let wake = Some(Wake::new());
        Self { wake, ..self }
    }

    /// Listens through another store.
    #[must_use]
    pub fn listening_through(self, store: S) -> Self {
        let listens = Some(store);
        Self { listens, ..self }
    }

    /// Believes that nothing is written late, where the store would believe it after an hour.
    #[must_use]
    pub fn trusting(self) -> Self {
        let horizon = Some(Horizon::CommitOrder);
        Self { horizon, ..self }
    }

    /// Fails the calls for which this says how: before anything was done, or after everything was,
    /// so that only the answer is lost.
    pub fn fail(&self, fail: impl Fn(&Call<'_>) -> Option<StoreErrorKind> + Send + Sync + 'static) {
        *self.watch.fail.lock().unwrap() = Some(Arc::new(Box::new(fail)));
    }

    /// Fails a verb from now on. When this returns no call of a single caller is under way: one has
    /// failed.
    pub async fn refuse(&self, verb: Verb) {
        let (seen, mut refused) = tokio::sync::watch::channel(false);
        self.fail(move |call| {
            let refuse = call.verb == verb && call.moment == Moment::Before;
            if refuse {
                seen.send_replace(true);
            }
            refuse.then_some(StoreErrorKind::Unavailable)
        });
        refused.wait_for(|refused| *refused).await.unwrap();
    }

    /// Holds the calls of a verb from now on, as a database would that does not answer yet.
    #[must_use]
    pub fn hold(&self, verb: Verb) -> Gate {
        self.hold_when(verb, Moment::Before)
    }

    /// Holds the answers to a verb from now on: what is asked for is done.
    #[must_use]
    pub fn hold_answers(&self, verb: Verb) -> Gate {
        self.hold_when(verb, Moment::After)
    }

    fn hold_when(&self, verb: Verb, moment: Moment) -> Gate {
        let gate = Gate::new(verb, moment);
        *self.watch.gate.lock().unwrap() = Some(gate.clone());
        gate
    }

    /// Never answers the next call of a verb, as on a connection that is dead without knowing it.
    pub fn swallow(&self, verb: Verb) {
        *self.watch.swallow.lock().unwrap() = Some(verb);
    }

    /// Fails nothing any more.
    pub fn mend(&self) {
        *self.watch.fail.lock().unwrap() = None;
    }

    /// How often each verb was called since the last call of this.
    pub fn take_counts(&self) -> BTreeMap<Verb, usize> {
        std::mem::take(&mut self.watch.counts.lock().unwrap())
    }

    /// How often a verb was called.
    pub fn count(&self, verb: Verb) -> usize {
        let counts = self.watch.counts.lock().unwrap();
        counts.get(&verb).copied().unwrap_or(0)
    }

    fn is_swallowed(&self, verb: Verb) -> bool {
        let mut swallow = self.watch.swallow.lock().unwrap();
        swallow.take_if(|swallowed| *swallowed == verb).is_some()
    }

    fn see(&self, call: &Call<'_>) -> Result<(), StoreError> {
        if call.moment == Moment::Before {
            let mut counts = self.watch.counts.lock().unwrap();
            *counts.entry(call.verb).or_default() += 1;
        }
        let fail = self.watch.fail.lock().unwrap().clone();
        match fail.and_then(|fail| fail(call)) {
            Some(kind) => Err(StoreError::new(kind, "being watched", "told to fail")),
            None => Ok(()),
        }
    }
}
