//! Every mistake is reported in one build, and none of them a second time where the type is used.

use outbox_seaorm::{Draft, OutboxEvent, Topic};
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
struct Charge {
    order_id: u64,
}

#[derive(Serialize, Deserialize, OutboxEvent)]
#[outbox(topic_prefix = "my shop", agregate = "order")]
enum Event {
    Placed {
        order_id: u64,
    },
    #[outbox(key = order, version = 0, topik = "charge")]
    Charge(Charge),
    #[serde(skip)]
    #[outbox(unordered, topic = "order.placed")]
    Receipt {
        #[outbox(keys)]
        order_id: u64,
    },
}

fn main() {
    let _: Topic<Charge> = Event::CHARGE;
    let _: Topic<Event> = Event::PLACED;
    let event = Event::Placed { order_id: 1 };
    let _ = (event.key(), event.topic(), Event::CONTRACT);
    let _ = Draft::new(&event);
}
