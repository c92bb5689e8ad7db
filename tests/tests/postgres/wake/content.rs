//! What a notification carries: nothing. B097.

use super::{ear::Ear, trigger::sleep};
use crate::database::Database;
use outbox_core::{
    __private::{Contract, Shape, TopicSpec},
    Draft, Limits, OutboxEvent,
};
use sea_orm::TransactionTrait;
use serde::{Deserialize, Serialize};

const TOPICS: usize = 500;

/// As long as it can be, and mostly of characters of four bytes.
type Name = [u8; Limits::NAME_BYTES];

const fn names() -> [Name; TOPICS] {
    const LONG: &[u8] = "🦀".as_bytes();
    let (mut names, mut topic) = ([[0; Limits::NAME_BYTES]; TOPICS], 0);
    while topic < TOPICS {
        let (mut number, mut at) = (topic, Limits::NAME_BYTES);
        while at > 0 {
            at -= 1;
            names[topic][at] = LONG[at % LONG.len()];
            if at < LONG.len() {
                names[topic][at] = b'0' + (number % 10) as u8;
                number /= 10;
            }
        }
        topic += 1;
    }
    names
}

const NAMES: &[Name; TOPICS] = &names();

const fn topics() -> [TopicSpec; TOPICS] {
    let (mut topics, mut topic) = ([TopicSpec::new("", "Many"); TOPICS], 0);
    while topic < TOPICS {
        if let Ok(name) = std::str::from_utf8(&NAMES[topic]) {
            topics[topic] = TopicSpec::new(name, "Many");
        }
        topic += 1;
    }
    topics
}

/// An event of one of many topics.
#[derive(Debug, Serialize, Deserialize)]
struct Many {
    topic: usize,
    text: String,
}

impl OutboxEvent for Many {
    const CONTRACT: Contract = Contract::new("Many", "many", Shape::Struct, &topics()).unverified();

    fn topic_index(&self) -> usize {
        self.topic
    }

    fn key(&self) -> Option<String> {
        Some("🦀".repeat(Limits::KEY_BYTES / 4))
    }
}

/// PostgreSQL refuses one of 8,000 bytes, and with it the transaction.
#[tokio::test]
async fn however_long_everything_is_a_notification_is_short() {
    for database in [Database::plain().await, Database::hostile().await] {
        let mut ear = Ear::of(&database).await;
        sleep(&database).await;
        let draft = |topic| {
            let text = "x".repeat(if topic == 0 { 1_000_000 } else { 10 });
            Draft::new(&Many { topic, text })
        };
        let txn = database.db.begin().await.unwrap();
        let emitted = database.outbox.emit_all(&txn, (0..TOPICS).map(draft));
        assert_eq!(emitted.await.unwrap().len(), TOPICS);
        txn.commit().await.unwrap();
        assert_eq!(ear.take_wakes(&database).await, 1);
        let topics = "SELECT count(DISTINCT topic) AS n FROM \"outbox_event\"";
        assert_eq!(database.number(topics).await, 500);
    }
}
