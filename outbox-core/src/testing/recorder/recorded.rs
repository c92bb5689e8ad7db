use super::{Ending, Recorder, Seen};
use crate::handler::{Delivery, Handler, HandlerError};
use std::thread;

/// A handler whose deliveries are written down: see [`Recorder::wrap`].
#[derive(Debug, Clone)]
pub struct Recorded<H> {
    recorder: Recorder,
    handler: H,
}

impl<H> Recorded<H> {
    pub(super) fn new(recorder: Recorder, handler: H) -> Self {
        Self { recorder, handler }
    }
}

impl<E: Send, H: Handler<E>> Handler<E> for Recorded<H> {
    async fn handle(&self, event: E, delivery: Delivery) -> Result<(), HandlerError> {
        let run = Run::start(&self.recorder, &delivery);
        let result = self.handler.handle(event, delivery).await;
        run.end(&result);
        result
    }
}

/// A delivery that is under way.
struct Run<'a> {
    recorder: &'a Recorder,
    index: usize,
    ended: Option<Ending>,
}

impl<'a> Run<'a> {
    fn start(recorder: &'a Recorder, delivery: &Delivery) -> Self {
        let index = recorder.write(|seen, moment| {
            seen.push(Seen::new(delivery.clone(), moment));
            seen.len() - 1
        });
        Self {
            recorder,
            index,
            ended: None,
        }
    }

    fn end(mut self, result: &Result<(), HandlerError>) {
        self.ended = Some(match result {
            Ok(()) => Ending::Done,
            Err(error) => Ending::Failed(error.wish()),
        });
    }
}

impl Drop for Run<'_> {
    fn drop(&mut self) {
        let unsaid = if thread::panicking() {
            Ending::Panicked
        } else {
            Ending::Dropped
        };
        let ending = self.ended.unwrap_or(unsaid);
        self.recorder
            .write(|seen, moment| seen[self.index].ended(ending, moment));
    }
}
