use super::{Dispatcher, session::Setting, witness::Witness};
use crate::store::Store;
use std::sync::Arc;

impl<S: Store> Dispatcher<S> {
    /// The store.
    pub(crate) fn store(&self) -> &S {
        &self.setting.store
    }

    /// The same dispatcher over another store, and with a witness of what does not go through it.
    pub(crate) fn over<T: Store>(&self, store: T, witness: Arc<dyn Witness>) -> Dispatcher<T> {
        let Setting {
            config,
            router,
            state,
            counters,
            pulse,
            ..
        } = &self.setting;
        Dispatcher {
            setting: Setting {
                store,
                config: Arc::clone(config),
                router: Arc::clone(router),
                state: state.clone(),
                counters: Arc::clone(counters),
                pulse: Arc::clone(pulse),
                witness: Some(witness),
            },
        }
    }
}
