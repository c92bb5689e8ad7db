use super::{Dispatcher, session::Setting};
use crate::store::Store;
use std::sync::Arc;

impl<S: Store> Dispatcher<S> {
    /// The store.
    pub(crate) fn store(&self) -> &S {
        &self.setting.store
    }

    /// The same dispatcher over another store.
    pub(crate) fn over<T: Store>(&self, store: T) -> Dispatcher<T> {
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
            },
        }
    }
}
