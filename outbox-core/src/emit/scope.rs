use crate::headers::{self, Headers};
use std::{future::Future, sync::Arc};
use uuid::Uuid;

tokio::task_local! {
    static CURRENT: Context;
}

/// Headers for every event that is emitted inside a scope of the current task.
///
/// A middleware opens one per request; the dispatcher opens one around each handler, so that the
/// events a handler emits carry on the trace, tenant and correlation of the event it handles.
/// A scope ends where the task ends: a future given to `tokio::spawn` is outside, unless it is
/// [carried](Self::carry) along.
///
/// ```
/// use outbox_core::{Context, Headers, headers};
///
/// # async fn handle_request() {}
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let context = Context::new(Headers::from_iter([(headers::TENANT_ID, "acme")]));
/// context.scope(handle_request()).await;
/// # });
/// ```
#[derive(Debug, Clone, Default)]
pub struct Context {
    headers: Arc<Headers>,
    /// The event being handled.
    cause: Option<Uuid>,
}

impl Context {
    /// A context that gives these headers.
    #[must_use]
    pub fn new(headers: Headers) -> Self {
        Self {
            headers: Arc::new(headers),
            cause: None,
        }
    }

    /// The context of the handler of an event with these headers.
    pub(crate) fn caused_by(event: Uuid, headers: Arc<Headers>) -> Self {
        Self {
            headers,
            cause: Some(event),
        }
    }

    /// The context of the handler of several events: what they all pass on.
    pub(crate) fn common<'a>(events: impl IntoIterator<Item = &'a Headers>) -> Self {
        let mut events = events.into_iter();
        let mut common = Headers::new();
        if let Some(first) = events.next() {
            let inherited = INHERITED
                .iter()
                .filter_map(|name| Some((*name, first.get(name)?)));
            inherited.for_each(|(name, value)| common.set(name, value.clone()));
        }
        let common = events.fold(common, |common, headers| {
            let same = |name: &&str| {
                common
                    .get(name)
                    .filter(|value| headers.get(name) == Some(*value))
            };
            let kept = INHERITED
                .iter()
                .filter_map(|name| Some((*name, same(name)?.clone())));
            kept.collect()
        });
        Self::new(common)
    }

    /// The context of the current task, empty outside a scope.
    #[must_use]
    pub fn current() -> Self {
        CURRENT.try_with(Self::clone).unwrap_or_default()
    }

    /// Gives a future the context of the current task, to be run in another one.
    ///
    /// # Cancel safety
    /// As that of the future: it has its context to its end, also where it is dropped.
    ///
    /// ```
    /// use outbox_core::{Context, Headers, headers};
    ///
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// let context = Context::new(Headers::from_iter([(headers::TENANT_ID, "acme")]));
    /// context
    ///     .scope(async {
    ///         // … what is emitted here is of the tenant acme, …
    ///         tokio::spawn(async { /* … here of nobody … */ });
    ///         tokio::spawn(Context::carry(async { /* … and here of acme. */ }));
    ///     })
    ///     .await;
    /// # });
    /// ```
    pub fn carry<F: Future>(future: F) -> impl Future<Output = F::Output> {
        Self::current().scope(future)
    }

    /// Runs a future inside this context, which takes the place of an outer one.
    ///
    /// # Cancel safety
    /// As that of the future. What is around it is in the outer context again.
    pub async fn scope<F: Future>(self, future: F) -> F::Output {
        CURRENT.scope(self, future).await
    }
}

/// What an event passes on to those that its handler emits.
const INHERITED: [&str; 5] = [
    headers::TRACEPARENT,
    headers::TRACESTATE,
    headers::TRACE_ID,
    headers::TENANT_ID,
    headers::CORRELATION_ID,
];

/// Adds the current scope's headers to those of an event.
pub(super) fn fill(event: &mut Headers) {
    let _ = CURRENT.try_with(|context| context.fill(event));
}

impl Context {
    fn fill(&self, event: &mut Headers) {
        let Some(cause) = self.cause else {
            event.fill(&self.headers);
            return;
        };
        let mut inherited = Headers::new();
        for name in INHERITED {
            if let Some(value) = self.headers.get(name) {
                inherited.set(name, value.clone());
            }
        }
        inherited.set(headers::CAUSATION_ID, cause.to_string());
        event.fill(&inherited);
        let mut root = Headers::new();
        root.set(headers::CORRELATION_ID, cause.to_string());
        event.fill(&root);
    }
}

#[cfg(test)]
mod tests {
    use super::Context;
    use crate::headers::{Headers, TENANT_ID};
    use std::{
        future::pending,
        sync::{Arc, Mutex},
    };
    use tokio::sync::Notify;

    fn of(tenant: &str) -> Context {
        Context::new(Headers::from_iter([(TENANT_ID, tenant)]))
    }

    fn tenant() -> Option<String> {
        let current = Context::current();
        current.headers.text(TENANT_ID).map(str::to_owned)
    }

    /// Tells in which context it was dropped.
    #[derive(Default, Clone)]
    struct Dropped(Arc<Mutex<Vec<Option<String>>>>);

    impl Drop for Dropped {
        fn drop(&mut self) {
            self.0.lock().unwrap().push(tenant());
        }
    }

    /// The task that it was given to is aborted in the middle.
    #[tokio::test]
    async fn a_carried_future_has_its_context_until_it_is_dropped() {
        let (seen, started) = (Dropped::default(), Arc::new(Notify::new()));
        let (inside, start) = (seen.clone(), Arc::clone(&started));
        let work = async move {
            let _inside = inside;
            tokio::task::yield_now().await;
            assert_eq!(tenant().as_deref(), Some("acme"));
            start.notify_one();
            pending::<()>().await;
        };
        of("acme")
            .scope(async {
                let task = tokio::spawn(Context::carry(work));
                started.notified().await;
                task.abort();
                assert!(task.await.unwrap_err().is_cancelled());
            })
            .await;
        assert_eq!(*seen.0.lock().unwrap(), [Some("acme".to_owned())]);
        assert_eq!(tenant(), None);
    }

    /// A `select!` or a timeout drops it, and what comes after is in the context from before.
    #[tokio::test]
    async fn a_dropped_future_leaves_the_context_around_it() {
        of("acme")
            .scope(async {
                let mut inner = Box::pin(of("other").scope(async {
                    assert_eq!(tenant().as_deref(), Some("other"));
                    pending::<()>().await;
                }));
                tokio::select! {
                    biased;
                    () = &mut inner => {}
                    () = async {} => {}
                }
                assert_eq!(tenant().as_deref(), Some("acme"));
                drop(inner);
                assert_eq!(tenant().as_deref(), Some("acme"));
                let carried = Context::carry(async { tenant() });
                assert_eq!(carried.await.as_deref(), Some("acme"));
            })
            .await;
    }
}
