use super::{around::Around, config::TopicConfig, failure::Failure};
use crate::{
    envelope::Envelope,
    event::{self, OutboxEvent, Topic},
    handler::{Delivery, Handler, Publisher, State},
    headers::Headers,
    store::{Claim, Epoch, Owned, Room},
};
use futures_util::{FutureExt, future::BoxFuture};
use std::{
    fmt,
    future::Future,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    time::Duration,
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

/// Who gets the events.
pub(crate) enum Target {
    Handler(Box<dyn Call>),
    Transactional(Box<dyn CallInTransaction>),
    Batch(Box<dyn CallBatch>),
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
    /// The handler's transaction has committed, and the event's completion with it.
    Completed,
    /// Somebody else has settled the event.
    Gone,
    /// Somebody else works on the event, or nobody knows yet what became of its transaction.
    Busy,
    /// The event's shard belongs to somebody else now.
    Lost,
}

impl Route {
    pub(crate) fn new(
        name: String,
        config: TopicConfig,
        version: Option<u32>,
        target: Target,
    ) -> Self {
        Self {
            name,
            config,
            version,
            target,
        }
    }

    pub(crate) fn publisher(
        name: String,
        config: TopicConfig,
        publisher: Arc<dyn Publisher>,
    ) -> Self {
        Self::new(name, config, None, Target::Publisher(publisher))
    }

    /// How many events one delivery may take.
    pub(crate) fn batch(&self) -> usize {
        match &self.target {
            Target::Handler(_) | Target::Transactional(_) => 1,
            Target::Batch(call) => call.size(),
            Target::Publisher(_) => PUBLISH_BATCH,
        }
    }

    /// How many deliveries of all such routes there may be at once, where they complete their
    /// events by themselves.
    pub(crate) fn room(&self) -> Option<Room> {
        match &self.target {
            Target::Transactional(call) => Some(call.room()),
            Target::Handler(_) | Target::Batch(_) | Target::Publisher(_) => None,
        }
    }

    /// Delivers events, at most [`batch`](Self::batch), and answers for each in their order.
    /// Panics and timeouts of what the application wrote become failures.
    pub(crate) async fn deliver(
        &self,
        mut envelopes: Vec<(Envelope, Owned)>,
        around: &Around,
    ) -> Vec<Answer> {
        let count = envelopes.len();
        let limit = self.config.timeout;
        let answers = match &self.target {
            Target::Handler(call) => {
                guarded(limit, async {
                    let mut answers = Vec::with_capacity(count);
                    for (envelope, owned) in envelopes {
                        answers.push(self.call(&**call, envelope, owned, around).await);
                    }
                    answers
                })
                .await
            }
            Target::Transactional(call) => {
                let mut answers = Vec::with_capacity(count);
                for (envelope, owned) in envelopes {
                    answers.push(self.complete(&**call, envelope, owned, around).await);
                }
                Ok(answers)
            }
            Target::Batch(call) => Ok(self.call_batch(&**call, envelopes, around).await),
            Target::Publisher(publisher) => {
                let slice: Vec<_> = envelopes.drain(..).map(|(envelope, _)| envelope).collect();
                guarded(limit, publish(&**publisher, &slice)).await
            }
        };
        answers.unwrap_or_else(|failure| {
            let failures = (0..count).map(|_| Answer::Failed(failure.clone()));
            failures.collect()
        })
    }

    async fn call(
        &self,
        call: &dyn Call,
        envelope: Envelope,
        owned: Owned,
        around: &Around,
    ) -> Answer {
        let (headers, version) = match self.headers(&envelope) {
            Ok(read) => read,
            Err(answer) => return answer,
        };
        let call = call.call(envelope, version, headers, owned.epoch, &around.state);
        match call.await {
            Ok(()) => Answer::Done,
            Err(failure) => Answer::Failed(failure),
        }
    }

    async fn call_batch(
        &self,
        call: &dyn CallBatch,
        envelopes: Vec<(Envelope, Owned)>,
        around: &Around,
    ) -> Vec<Answer> {
        let (mut read, mut unread) = (Vec::new(), Vec::new());
        for (envelope, owned) in envelopes {
            let found = self.headers(&envelope);
            unread.push(match found {
                Ok((headers, version)) => {
                    read.push(Read {
                        envelope,
                        version,
                        headers,
                        epoch: owned.epoch,
                    });
                    None
                }
                Err(answer) => Some(answer),
            });
        }
        let answers = call.call(read, self.config.timeout, &around.state).await;
        let mut answers = answers.into_iter();
        let answers = unread
            .into_iter()
            .filter_map(|answer| answer.or_else(|| answers.next()));
        answers.collect()
    }

    async fn complete(
        &self,
        call: &dyn CallInTransaction,
        envelope: Envelope,
        owned: Owned,
        around: &Around,
    ) -> Answer {
        let (headers, version) = match self.headers(&envelope) {
            Ok(read) => read,
            Err(answer) => return answer,
        };
        let claim = Claim::new(around.member, owned, envelope.position, envelope.id);
        let limit = self.config.timeout;
        call.call(envelope, version, headers, (claim, limit), around)
            .await
    }

    /// The headers and the schema version that they name, or what becomes of the event.
    fn headers(&self, envelope: &Envelope) -> Result<(Headers, u32), Answer> {
        let unreadable = |problem: &dyn fmt::Display| {
            Answer::Failed(Failure::code(format!("headers cannot be read: {problem}")))
        };
        let headers = envelope.parse_headers();
        let headers = headers.map_err(|error| unreadable(&error))?;
        match headers.schema_version() {
            Some(found) if self.version.is_some_and(|known| found > known) => Err(Answer::Newer),
            Some(found) => Ok((headers, found)),
            None => Err(unreadable(&"schema_version is no version")),
        }
    }
}

/// Runs what the application wrote: no longer than this, and its panics are failures.
pub(crate) async fn guarded<T>(
    limit: Duration,
    work: impl Future<Output = T>,
) -> Result<T, Failure> {
    let mut work = Box::pin(AssertUnwindSafe(work).catch_unwind());
    let result = match timeout(limit, &mut work).await {
        Ok(Ok(result)) => Ok(result),
        Ok(Err(panic)) => {
            let failure = Failure::panic(&*panic);
            discard(panic);
            Err(failure)
        }
        Err(_) => Err(Failure::timeout(limit)),
    };
    // What a handler leaves behind may panic too, and must not take the worker along.
    discard(work);
    result
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

/// Runs what the application wrote and what does not wait: its panics are failures.
pub(crate) fn caught<T>(work: impl FnOnce() -> T) -> Result<T, Failure> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| {
        let failure = Failure::panic(&*panic);
        discard(panic);
        failure
    })
}

/// Drops what the application wrote, which may panic; and so may that panic when it is dropped.
fn discard<T>(value: T) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| drop(value))) {
        std::mem::forget(panic);
    }
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

/// A handler that completes its events in its transactions.
pub(crate) trait CallInTransaction: Send + Sync {
    /// How many transactions there may be.
    fn room(&self) -> Room;

    fn call<'a>(
        &'a self,
        envelope: Envelope,
        version: u32,
        headers: Headers,
        claim: (Claim, Duration),
        around: &'a Around,
    ) -> BoxFuture<'a, Answer>;
}

/// A handler of several events at once.
pub(crate) trait CallBatch: Send + Sync {
    /// How many it takes at most.
    fn size(&self) -> usize;

    /// As many answers as there are events.
    fn call<'a>(
        &'a self,
        read: Vec<Read>,
        limit: Duration,
        state: &'a State,
    ) -> BoxFuture<'a, Vec<Answer>>;
}

/// An event whose headers have been read.
pub(crate) struct Read {
    pub(crate) envelope: Envelope,
    pub(crate) version: u32,
    pub(crate) headers: Headers,
    pub(crate) epoch: Epoch,
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
    let context = delivery.context();
    Ok(context.scope(handler.handle(event, delivery)).await?)
}
