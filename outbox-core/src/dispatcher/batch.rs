use super::{
    failure::Failure,
    route::{Answer, CallBatch, Read, caught, guarded},
};
use crate::{
    emit::Context,
    event::Topic,
    handler::{BatchHandler, Delivery, State},
};
use futures_util::future::BoxFuture;
use std::time::Duration;

/// The batch handler of one typed topic.
pub(crate) struct Batch<T, H> {
    pub(crate) topic: Topic<T>,
    pub(crate) size: usize,
    pub(crate) handler: H,
}

impl<T: Send + 'static, H: BatchHandler<T>> CallBatch for Batch<T, H> {
    fn size(&self) -> usize {
        self.size
    }

    fn call<'a>(
        &'a self,
        read: Vec<Read>,
        limit: Duration,
        state: &'a State,
    ) -> BoxFuture<'a, Vec<Answer>> {
        Box::pin(async move {
            let mut batch = Vec::with_capacity(read.len());
            // What was wrong with each event, where something was.
            let mut faults = Vec::with_capacity(read.len());
            for Read {
                envelope,
                version,
                headers,
                epoch,
            } in read
            {
                let (delivery, payload) = Delivery::new(envelope, headers, epoch, state.clone());
                let decoded = caught(|| self.topic.decode_version(version, &payload));
                faults.push(match decoded {
                    Ok(Ok(event)) => {
                        batch.push((event, delivery));
                        None
                    }
                    Ok(Err(error)) => Some(Failure::undecodable(&error.into())),
                    Err(panic) => Some(panic),
                });
            }
            let mut answers = self.handle(batch, limit).await.into_iter();
            let none = || Failure::code("the batch handler gave no answer for the event");
            let answer = |fault| match fault {
                Some(fault) => Answer::Failed(fault),
                None => answers.next().unwrap_or_else(|| Answer::Failed(none())),
            };
            faults.into_iter().map(answer).collect()
        })
    }
}

impl<T: Send + 'static, H: BatchHandler<T>> Batch<T, H> {
    async fn handle(&self, batch: Vec<(T, Delivery)>, limit: Duration) -> Vec<Answer> {
        if batch.is_empty() {
            return Vec::new();
        }
        let count = batch.len();
        let headers = batch.iter().map(|(_, delivery)| delivery.headers());
        let context = Context::common(headers);
        match guarded(limit, context.scope(self.handler.handle(batch))).await {
            Ok(outcomes) => {
                let answers = outcomes.into_iter().map(|outcome| match outcome {
                    Ok(()) => Answer::Done,
                    Err(error) => Answer::Failed(error.into()),
                });
                answers.collect()
            }
            Err(failure) => (0..count)
                .map(|_| Answer::Failed(failure.clone()))
                .collect(),
        }
    }
}
