use super::{config::TopicConfig, failure::Failure};
use crate::{
    emit::Context,
    envelope::Envelope,
    event::{self, OutboxEvent, Topic},
    handler::{Delivery, Handler, Publisher, State},
    headers::Headers,
    store::Epoch,
};
use futures_util::{FutureExt, future::BoxFuture};
use std::{
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};
use tokio::time::timeout;

/// Where the events of a topic go.
pub(crate) struct Route {
    /// The topic or pattern, for messages.
    pub(crate) name: String,
    pub(crate) config: TopicConfig,
    /// The newest schema version that can be decoded; `None` where nothing is decoded.
    version: Option<u32>,
    target: Target,
}

enum Target {
    Handler(Box<dyn Call>),
    Publisher(Arc<dyn Publisher>),
}

/// How many events a publisher gets at once at most.
const PUBLISH_BATCH: usize = 100;

/// How a delivery ended.
#[derive(Debug)]
pub(crate) enum Answer {
    Done,
    Failed(Failure),
    /// The event's schema version is newer than this build's.
    Newer,
}

impl Route {
    pub(crate) fn handler(
        name: String,
        config: TopicConfig,
        version: Option<u32>,
        call: Box<dyn Call>,
    ) -> Self {
        Self {
            name,
            config,
            version,
            target: Target::Handler(call),
        }
    }

    pub(crate) fn publisher(
        name: String,
        config: TopicConfig,
        publisher: Arc<dyn Publisher>,
    ) -> Self {
        Self {
            name,
            config,
            version: None,
            target: Target::Publisher(publisher),
        }
    }

    /// How many events one delivery may take.
    pub(crate) fn batch(&self) -> usize {
        match self.target {
            Target::Handler(_) => 1,
            Target::Publisher(_) => PUBLISH_BATCH,
        }
    }

    /// Delivers events, at most [`batch`](Self::batch), and answers for each in their order.
    /// Panics and timeouts of what the application wrote become failures.
    pub(crate) async fn deliver(
        &self,
        mut envelopes: Vec<(Envelope, Epoch)>,
        state: &State,
    ) -> Vec<Answer> {
        let count = envelopes.len();
        let limit = self.config.timeout;
        let work = async {
            match &self.target {
                Target::Handler(call) => {
                    let mut answers = Vec::with_capacity(count);
                    for (envelope, epoch) in envelopes {
                        answers.push(self.call(&**call, envelope, epoch, state).await);
                    }
                    answers
                }
                Target::Publisher(publisher) => {
                    let slice: Vec<_> = envelopes.drain(..).map(|(envelope, _)| envelope).collect();
                    publish(&**publisher, &slice).await
                }
            }
        };
        let mut work = Box::pin(AssertUnwindSafe(work).catch_unwind());
        let answers = match timeout(limit, &mut work).await {
            Ok(Ok(answers)) => answers,
            Ok(Err(panic)) => {
                let answers = failures(count, || Failure::panic(&*panic));
                discard(panic);
                answers
            }
            Err(_) => failures(count, || Failure::timeout(limit)),
        };
        // What a handler leaves behind may panic too, and must not take the worker along.
        discard(work);
        answers
    }

    async fn call(
        &self,
        call: &dyn Call,
        envelope: Envelope,
        epoch: Epoch,
        state: &State,
    ) -> Answer {
        let unreadable = |problem: &dyn fmt::Display| {
            Answer::Failed(Failure::code(format!("headers cannot be read: {problem}")))
        };
        let headers = match envelope.parse_headers() {
            Ok(headers) => headers,
            Err(error) => return unreadable(&error),
        };
        let version = match headers.schema_version() {
            Some(found) if self.version.is_some_and(|known| found > known) => return Answer::Newer,
            Some(found) => found,
            None => return unreadable(&"schema_version is no version"),
        };
        match call.call(envelope, version, headers, epoch, state).await {
            Ok(()) => Answer::Done,
            Err(failure) => Answer::Failed(failure),
        }
    }
}

async fn publish(publisher: &dyn Publisher, envelopes: &[Envelope]) -> Vec<Answer> {
    let mut outcomes = publisher.publish(envelopes).await.into_iter();
    envelopes
        .iter()
        .map(|_| match outcomes.next() {
            Some(Ok(())) => Answer::Done,
            Some(Err(error)) => Answer::Failed(error.into()),
            None => Answer::Failed(Failure::code("the publisher gave no answer for the event")),
        })
        .collect()
}

/// Drops what the application wrote, which may panic; and so may that panic when it is dropped.
fn discard<T>(value: T) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| drop(value))) {
        std::mem::forget(panic);
    }
}

fn failures(count: usize, failure: impl Fn() -> Failure) -> Vec<Answer> {
    (0..count).map(|_| Answer::Failed(failure())).collect()
}

/// A handler of any event type.
pub(crate) trait Call: Send + Sync {
    fn call<'a>(
        &'a self,
        envelope: Envelope,
        version: u32,
        headers: Headers,
        epoch: Epoch,
        state: &'a State,
    ) -> BoxFuture<'a, Result<(), Failure>>;
}

/// The handler of one typed topic.
pub(crate) struct Typed<T, H> {
    pub(crate) topic: Topic<T>,
    pub(crate) handler: H,
}

impl<T: Send + 'static, H: Handler<T>> Call for Typed<T, H> {
    fn call<'a>(
        &'a self,
        envelope: Envelope,
        version: u32,
        headers: Headers,
        epoch: Epoch,
        state: &'a State,
    ) -> BoxFuture<'a, Result<(), Failure>> {
        let decode = move |payload: &str| self.topic.decode_version(version, payload);
        Box::pin(run(&self.handler, decode, envelope, headers, epoch, state))
    }
}

/// The handler of a whole event type, for one of its topics.
pub(crate) struct Whole<E, H> {
    pub(crate) index: usize,
    pub(crate) handler: Arc<H>,
    pub(crate) event: std::marker::PhantomData<fn(E)>,
}

impl<E: OutboxEvent + Send + 'static, H: Handler<E>> Call for Whole<E, H> {
    fn call<'a>(
        &'a self,
        envelope: Envelope,
        version: u32,
        headers: Headers,
        epoch: Epoch,
        state: &'a State,
    ) -> BoxFuture<'a, Result<(), Failure>> {
        let decode = move |payload: &str| event::decode_version::<E>(self.index, version, payload);
        Box::pin(run(&*self.handler, decode, envelope, headers, epoch, state))
    }
}

/// A handler that takes events as they are.
pub(crate) struct Raw<H>(pub(crate) H);

impl<H: Handler<Envelope>> Call for Raw<H> {
    fn call<'a>(
        &'a self,
        envelope: Envelope,
        _: u32,
        headers: Headers,
        epoch: Epoch,
        state: &'a State,
    ) -> BoxFuture<'a, Result<(), Failure>> {
        let (delivery, _) = Delivery::new(envelope.clone(), headers, epoch, state.clone());
        Box::pin(handle(&self.0, envelope, delivery))
    }
}

async fn run<T, H: Handler<T>>(
    handler: &H,
    decode: impl Fn(&str) -> Result<T, event::DecodeError> + Send,
    envelope: Envelope,
    headers: Headers,
    epoch: Epoch,
    state: &State,
) -> Result<(), Failure> {
    let (delivery, payload) = Delivery::new(envelope, headers, epoch, state.clone());
    let event = decode(&payload).map_err(|error| Failure::undecodable(&error.into()))?;
    drop(payload);
    handle(handler, event, delivery).await
}

async fn handle<T, H: Handler<T>>(
    handler: &H,
    event: T,
    delivery: Delivery,
) -> Result<(), Failure> {
    let context = Context::caused_by(delivery.id(), delivery.shared_headers());
    Ok(context.scope(handler.handle(event, delivery)).await?)
}
