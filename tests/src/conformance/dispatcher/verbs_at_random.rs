//! Operators, handlers and restarts, all at random.

use super::{Account, Scene, chance::Chance, scene::spawn};
use crate::conformance::{Harness, operators::operator};
use outbox_core::{
    Delivery, DispatcherHandle, Due, HandlerError, Operator,
    operator::{Answer, Bulk, EventFilter, HistoryFilter, LetterFilter},
};
use std::{collections::HashSet, sync::Arc, time::Duration};
use uuid::Uuid;

const TOPICS: [&str; 2] = ["account.changed", "account.closed"];

struct Play<H: Harness> {
    scene: Scene<H>,
    operator: Operator<H::Store>,
    chance: Arc<Chance>,
    emitted: usize,
    dispatchers: Vec<(String, DispatcherHandle)>,
}

impl<H: Harness + 'static> Play<H> {
    fn new(scene: &Scene<H>, seed: u64) -> Self {
        Self {
            scene: scene.clone(),
            operator: operator(&*scene.harness),
            chance: Arc::new(Chance::new(seed)),
            emitted: 0,
            dispatchers: Vec::new(),
        }
    }

    /// An event of one of some aggregates; or a delayed one, of an aggregate of its own, as it
    /// gets its place later.
    async fn emit(&mut self) {
        let text = self.emitted.to_string();
        self.emitted += 1;
        let (key, delay) = match self.chance.below(8) {
            0 => (format!("late{text}"), Some(self.chance.below(200) + 1)),
            _ => (format!("x{}", self.chance.below(5)), None),
        };
        let draft = match self.chance.below(3) {
            0 => Account::closed(&key, &text),
            _ => Account::changed(&key, &text),
        };
        let draft = match delay {
            Some(delay) => draft.after(Duration::from_millis(delay)),
            None => draft,
        };
        let id = self.scene.emit_draft(draft, &text).await;
        self.scene.log.emitted(&key, id);
    }

    /// Handlers succeed, fail, or give up.
    fn start(&mut self, name: String) {
        let chance = Arc::clone(&self.chance);
        let handle = move |_: String, _: Delivery| {
            let (pause, fate) = (chance.below(4), chance.below(20));
            async move {
                tokio::time::sleep(Duration::from_millis(pause)).await;
                match fate {
                    0 | 1 => Err(HandlerError::retry("chance")),
                    2 => Err(HandlerError::dead("chance")),
                    _ => Ok(()),
                }
            }
        };
        let small = |config: &mut outbox_core::Config| {
            (config.window, config.batch) = (30, 8);
            config.retention.delivered = Some(Duration::from_millis(300));
            config.retention.every = Duration::from_millis(100);
        };
        let builder = self.scene.dispatcher(&name, handle).configure(small);
        let dispatcher = spawn(builder.lease(Duration::from_secs(1)));
        self.dispatchers.push((name, dispatcher));
    }

    /// One stops, gently or not.
    async fn stop(&mut self) {
        if self.dispatchers.len() < 2 {
            return;
        }
        let index = usize::try_from(self.chance.below(2)).unwrap_or_default();
        let (name, dispatcher) = self.dispatchers.remove(index);
        if self.chance.below(2) == 0 {
            dispatcher.shutdown().await;
        } else {
            self.scene.log.by(&name).fault();
            dispatcher.abort().await;
        }
    }

    /// Any of the verbs, with whatever is there. Most come too late now and then.
    async fn operate(&self) {
        let (operator, why) = (&self.operator, "chance");
        match self.chance.below(8) {
            verb @ 0..=2 => {
                let all = LetterFilter::all();
                let mut letters = operator.letters(&all, 0).await.unwrap().items;
                // What was skipped before would come after its successors.
                letters.retain(|letter| letter.blocks);
                if let Some(letter) = self.chance.one_of(&letters) {
                    let done = match verb {
                        0 => operator.retry(letter.position, why).await,
                        1 => operator.skip(letter.position, why).await,
                        _ => operator.discard(letter.position, why).await,
                    };
                    assert_eq!(done.unwrap(), Answer::Done, "nobody else decides");
                }
            }
            3 => self.discard_waiting().await,
            4 => {
                let topic = self.chance.one_of(&TOPICS).unwrap();
                operator.pause(topic, why).await.unwrap();
            }
            5 => self.resume().await,
            6 => {
                let bulk = Bulk::new(3).per_second(10_000);
                let all = HistoryFilter::all();
                operator.replay(&all, bulk, why).await.unwrap();
            }
            _ => self.change_delayed().await,
        }
    }

    async fn discard_waiting(&self) {
        let waiting = self.scene.harness.pending().await;
        let Some(row) = self.chance.one_of(&waiting) else {
            return;
        };
        let found = self.operator.status(row.id).await.unwrap();
        let Some(event) = found.iter().find(|event| event.sent_at.is_none()) else {
            return;
        };
        if found.len() > 1 {
            // A replayed one: to take it for the first would hide a loss.
            return;
        }
        let key = event.key.as_deref().unwrap_or("-");
        self.scene.log.discarded(key, row.id);
        let _: Answer = self.operator.discard(row.position, "chance").await.unwrap();
    }

    async fn change_delayed(&self) {
        let all = EventFilter::all();
        let delayed = self.operator.scheduled(&all, Uuid::nil()).await.unwrap();
        let Some(event) = self.chance.one_of(&delayed.items) else {
            return;
        };
        if self.chance.below(2) == 0 {
            let key = event.key.as_deref().unwrap_or("-");
            self.scene.log.discarded(key, event.id);
            let _: Answer = self.operator.cancel(event.id, "chance").await.unwrap();
        } else {
            let due = Due::After(Duration::from_millis(self.chance.below(100)));
            let moved = self.operator.reschedule(event.id, due, "chance").await;
            let _: Answer = moved.unwrap();
        }
    }

    async fn resume(&self) {
        for topic in TOPICS {
            self.operator.resume(topic, "chance").await.unwrap();
        }
    }

    /// Which events the outbox has recorded as taken out: a discard may have come too late.
    async fn taken_out(&self) -> HashSet<Uuid> {
        let (mut ids, mut before) = (HashSet::new(), None);
        loop {
            let page = self.operator.operations(before).await.unwrap();
            let taken_out = page
                .items
                .iter()
                .filter(|operation| ["discard", "skip", "cancel"].contains(&&*operation.act));
            ids.extend(taken_out.filter_map(|operation| operation.event));
            before = page.next;
            if before.is_none() {
                return ids;
            }
        }
    }

    /// Lets everything come to its end. Returns how many events there were, and which were taken out.
    async fn finish(mut self) -> (usize, HashSet<Uuid>) {
        self.resume().await;
        self.start("last".to_owned());
        let drained = || async {
            for blocked in self.operator.blocked(0).await.unwrap().items {
                let position = blocked.letter.position;
                let _: Answer = self.operator.skip(position, "the end").await.unwrap();
            }
            let harness = &self.scene.harness;
            harness.pending().await.is_empty() && harness.delayed().await.is_empty()
        };
        self.scene.until("all is done", drained).await;
        let taken_out = self.taken_out().await;
        for (_, dispatcher) in self.dispatchers {
            dispatcher.shutdown().await;
        }
        (self.emitted, taken_out)
    }
}

/// One run of it.
pub async fn play<H: Harness + 'static>(scene: &Scene<H>, seed: u64) {
    let mut play = Play::new(scene, seed);
    for round in 0..6 {
        for _ in 0..20 {
            play.emit().await;
        }
        play.start(format!("d{round}"));
        for _ in 0..6 {
            let pause = Duration::from_millis(play.chance.below(40));
            tokio::time::sleep(pause).await;
            play.operate().await;
        }
        play.stop().await;
    }
    let (emitted, taken_out) = play.finish().await;
    let history = scene.history().taken_out(&taken_out);
    assert_eq!(history.assert_clean().events, emitted);
}

/// Whatever they do, and whenever.
pub async fn operators_at_random_lose_and_reorder_nothing<H: Harness + 'static>(scene: &Scene<H>) {
    play(scene, 1).await;
}
