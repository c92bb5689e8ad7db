use serde::Serialize;
use serde_json::Value;
use std::time::Duration;
use tokio::{
    task::{JoinHandle, spawn_blocking},
    time::{Instant, sleep},
};
use uuid::Uuid;

/// What happened to an order.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Event {
    pub(crate) id: Uuid,
    pub(crate) order_id: String,
    pub(crate) status: &'static str,
}

/// The events of so many orders: those of an order in their order, those of different ones not.
pub(crate) fn events(orders: usize) -> Vec<Event> {
    let statuses = ["placed", "paid", "shipped"];
    // Each order is a step behind the one before.
    let steps = (0..orders + 2).flat_map(|round| {
        let of = move |order: usize| Some((order, *statuses.get(round.checked_sub(order)?)?));
        (0..orders).rev().filter_map(of)
    });
    steps
        .map(|(order, status)| Event {
            id: Uuid::now_v7(),
            order_id: format!("A-{order}"),
            status,
        })
        .collect()
}

/// What delivers the events: at least once, in order per aggregate.
#[derive(Debug, Clone)]
pub(crate) struct Sender {
    address: String,
}

impl Sender {
    pub(crate) fn new(address: &str) -> Self {
        let address = address.to_owned();
        Self { address }
    }

    /// Two copies of each event at the same moment, again and again until both are accepted.
    pub(crate) async fn send(self, events: Vec<Event>) {
        for event in events {
            let copies = [self.copy(event.clone()), self.copy(event)];
            for copy in copies {
                copy.await.unwrap();
            }
        }
    }

    /// How an order stands.
    pub(crate) async fn order(&self, id: &str) -> Value {
        let url = format!("http://{}/orders/{id}", self.address);
        let order = spawn_blocking(move || {
            let mut answer = ureq::get(url).call().unwrap();
            answer.body_mut().read_json().unwrap()
        });
        order.await.unwrap()
    }

    fn copy(&self, event: Event) -> JoinHandle<()> {
        let url = format!("http://{}/events", self.address);
        tokio::spawn(async move {
            let began = Instant::now();
            loop {
                let (url, event) = (url.clone(), event.clone());
                let post = move || ureq::post(&url).send_json(&event).is_ok();
                if spawn_blocking(post).await.unwrap() {
                    return;
                }
                // Only a hang lasts as long.
                assert!(began.elapsed() < Duration::from_secs(120), "no answer");
                sleep(Duration::from_millis(20)).await;
            }
        })
    }
}
