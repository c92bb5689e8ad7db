use super::Account;
use crate::{
    conformance::Harness,
    history::{History, Log, What},
};
use outbox_core::{
    CancellationToken, Delivery, Dispatcher, DispatcherBuilder, DispatcherHandle, Draft,
    HandlerError, RetryPolicy, Wish, headers::REPLAY_ID, store::Store,
};
use std::{
    collections::HashMap,
    future::Future,
    sync::{Arc, Mutex},
    time::Duration,
};
use tempfile::TempDir;
use uuid::Uuid;

/// An outbox, and what the handlers of its dispatchers wrote down.
pub struct Scene<H> {
    /// The outbox.
    pub harness: Arc<H>,
    /// Where handlers and emitters write.
    pub log: Log,
    /// What the emitted events say.
    texts: Arc<Mutex<HashMap<Uuid, String>>>,
    _directory: Arc<TempDir>,
}

impl<H> Clone for Scene<H> {
    fn clone(&self) -> Self {
        Self {
            harness: Arc::clone(&self.harness),
            log: self.log.clone(),
            texts: Arc::clone(&self.texts),
            _directory: Arc::clone(&self._directory),
        }
    }
}

impl<H: Harness + 'static> Scene<H> {
    /// An empty outbox.
    pub async fn new() -> Self {
        Self::over(H::fresh().await)
    }

    /// This outbox.
    pub fn over(harness: H) -> Self {
        let directory = tempfile::tempdir().unwrap();
        Self {
            harness: Arc::new(harness),
            log: Log::open(&directory.path().join("log"), "emitter"),
            texts: Arc::default(),
            _directory: Arc::new(directory),
        }
    }

    /// What goes on in another place, written down as before.
    #[must_use]
    pub fn moved_to(&self, harness: H) -> Self {
        let harness = Arc::new(harness);
        Self {
            harness,
            ..self.clone()
        }
    }

    /// Emits an event of an aggregate, and writes it down.
    pub async fn emit(&self, key: &str, text: &str) -> Uuid {
        let id = self.harness.emit(Account::changed(key, text)).await;
        self.emitted(key, text, id);
        id
    }

    /// Emits these texts of aggregates at once.
    pub async fn emit_all(&self, events: &[(String, String)]) {
        let draft = |(key, text): &(String, String)| Account::changed(key, text);
        let emitted = self.harness.emit_all(events.iter().map(draft).collect());
        for ((key, text), emitted) in events.iter().zip(emitted.await) {
            self.emitted(key, text, emitted.id());
        }
    }

    /// Writes down what somebody else has emitted.
    pub fn emitted(&self, key: &str, text: &str, id: Uuid) {
        self.note(id, text);
        self.log.emitted(key, id);
    }

    /// Emits any event, without writing it down.
    pub async fn emit_draft(&self, draft: Draft, text: &str) -> Uuid {
        let id = self.harness.emit(draft).await;
        self.note(id, text);
        id
    }

    /// Remembers what an event says that somebody else has emitted.
    pub fn note(&self, id: Uuid, text: &str) {
        self.texts.lock().unwrap().insert(id, text.to_owned());
    }

    /// A dispatcher that hands every event to `handle` and writes down what becomes of it.
    pub fn dispatcher<F, Fut>(&self, name: &str, handle: F) -> DispatcherBuilder<H::Store>
    where
        F: Fn(String, Delivery) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<(), HandlerError>> + Send,
    {
        self.dispatcher_over(self.harness.store(), name, handle)
    }

    /// The same over another store.
    pub fn dispatcher_over<S: Store, F, Fut>(
        &self,
        store: S,
        name: &str,
        handle: F,
    ) -> DispatcherBuilder<S>
    where
        F: Fn(String, Delivery) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<(), HandlerError>> + Send,
    {
        let (log, handle) = (self.log.by(name), Arc::new(handle));
        quick(store).on_event(move |event: Account, delivery: Delivery| {
            let (log, handle) = (log.clone(), Arc::clone(&handle));
            async move {
                if delivery.headers().text(REPLAY_ID).is_some() {
                    // What was delivered before is meant to come again, beside what has its order.
                    return handle(event.text().to_owned(), delivery).await;
                }
                let key = delivery.key().unwrap_or("-").to_owned();
                let run = log.started(&key, delivery.id());
                let result = handle(event.text().to_owned(), delivery).await;
                match &result {
                    Ok(()) => run.succeeded(),
                    Err(error) if error.wish() == Wish::Dead => run.dead(),
                    Err(_) => run.failed(),
                }
                result
            }
        })
    }

    /// A dispatcher without handlers.
    pub fn bare_dispatcher(&self) -> DispatcherBuilder<H::Store> {
        quick(self.harness.store())
    }

    /// What was handled of an aggregate, in the order in which it succeeded.
    pub fn seen(&self, key: &str) -> Vec<String> {
        let texts = self.texts.lock().unwrap();
        let history = self.history();
        let records = history.records().iter();
        records
            .filter(|record| record.aggregate == key && record.what == What::Succeeded)
            .map(|record| texts[&record.id].clone())
            .collect()
    }

    /// What was written down so far.
    pub fn history(&self) -> History {
        self.log.history()
    }

    /// Waits until the handlers have written that this many events succeeded or were given up.
    pub async fn settled(&self, events: usize) {
        let what = format!("{events} events");
        self.until(&what, || async { self.history().settled() >= events })
            .await;
    }

    /// Waits until the outbox holds this many events.
    pub async fn pending(&self, events: usize) {
        let what = format!("{events} pending events");
        let holds = || async { self.harness.pending().await.len() == events };
        self.until(&what, holds).await;
    }

    /// Waits, with all the patience of the world, until something holds.
    pub async fn until<Fut: Future<Output = bool>>(&self, what: &str, holds: impl Fn() -> Fut) {
        for _ in 0..6_000 {
            if holds().await {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        let history = self.history();
        let last = history.records().iter().rev().take(20);
        let last: Vec<_> = last.map(ToString::to_string).collect();
        unreachable!("never: {what}; the last records, backwards: {last:#?}");
    }
}

/// Short pauses, so that nothing takes long.
pub(super) fn quick<S: Store>(store: S) -> DispatcherBuilder<S> {
    let pause = Duration::from_millis(20);
    let retry = RetryPolicy::new(pause, pause * 2, 1_000).unwrap();
    Dispatcher::<S>::builder(store).retry(retry)
}

/// Starts a dispatcher.
pub(super) fn spawn<S: Store>(builder: DispatcherBuilder<S>) -> DispatcherHandle {
    builder.spawn(CancellationToken::new()).unwrap()
}

/// Handles everything.
///
/// # Errors
/// Never.
pub async fn ok(_: String, _: Delivery) -> Result<(), HandlerError> {
    Ok(())
}
