//! What older builds have left in the outbox.

use crate::support::*;
use outbox_core::{BuildError, Delivery, Envelope, MemoryStore, OutboxEvent};
use serde::{Deserialize, Serialize};
use std::sync::{Arc, Mutex};

/// The build before.
#[derive(Debug, Serialize, Deserialize, OutboxEvent)]
#[outbox(aggregate = "bill", crate = outbox_core)]
enum Before {
    #[outbox(topic = "bill.payment")]
    Pay {
        #[outbox(key)]
        bill: u32,
        dollars: i64,
    },
    #[outbox(topic = "bill.sent")]
    Sent {
        #[outbox(key)]
        bill: u32,
        dollars: i64,
    },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Amount {
    bill: u32,
    cents: i64,
}

#[derive(Deserialize)]
struct Dollars {
    bill: u32,
    dollars: i64,
}

fn in_cents(old: Dollars) -> Result<Amount, &'static str> {
    let cents = old.dollars.checked_mul(100).ok_or("too many dollars")?;
    Ok(Amount {
        bill: old.bill,
        cents,
    })
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, OutboxEvent)]
#[outbox(aggregate = "bill", crate = outbox_core)]
enum Bill {
    #[outbox(was = "bill.payment", key = bill, version = 2, upcast(1 = in_cents))]
    Paid(Amount),
    #[outbox(key = bill, version = 2, upcast(1 = in_cents))]
    Sent(Amount),
}

fn pay(dollars: i64) -> Before {
    Before::Pay { bill: 1, dollars }
}

fn sent(dollars: i64) -> Before {
    Before::Sent { bill: 1, dollars }
}

#[tokio::test(start_paused = true)]
async fn old_versions_and_former_names_are_handled_in_their_order() {
    let store = MemoryStore::new();
    store.emit_all([pay(1), pay(2)]).unwrap();
    store.emit(sent(3)).unwrap();
    let paid = |cents| Bill::Paid(Amount { bill: 1, cents });
    store.emit(paid(400)).unwrap();
    store.emit(pay(5)).unwrap();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let (whole, typed) = (Arc::clone(&seen), Arc::clone(&seen));
    let dispatcher = builder(&store)
        .on(Bill::PAID, move |amount: Amount, delivery: Delivery| {
            let topic = delivery.topic().to_owned();
            typed.lock().unwrap().push((topic, amount.cents));
            async { Ok(()) }
        })
        .on_event(move |event: Bill, delivery: Delivery| {
            let topic = delivery.topic().to_owned();
            if let Bill::Sent(amount) = event {
                whole.lock().unwrap().push((topic, amount.cents));
            }
            async { Ok(()) }
        });
    let dispatcher = spawn(dispatcher);
    until("all", || store.pending().is_empty()).await;
    dispatcher.shutdown().await;
    let expected = [
        ("bill.payment", 100),
        ("bill.payment", 200),
        ("bill.sent", 300),
        ("bill.paid", 400),
        ("bill.payment", 500),
    ];
    let seen = seen.lock().unwrap();
    let seen: Vec<_> = seen.iter().map(|(topic, n)| (&**topic, *n)).collect();
    assert_eq!(seen, expected);
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_brought_up_to_date_is_tried_again_and_then_dead() {
    let store = MemoryStore::new();
    store.emit(pay(i64::MAX)).unwrap();
    let dispatcher = builder(&store).on_event(|_: Bill, _: Delivery| async { Ok(()) });
    let dispatcher = spawn(dispatcher);
    until("dead", || !store.dead().is_empty()).await;
    assert_eq!(dispatcher.stats().retried, 3);
    dispatcher.shutdown().await;
    assert_eq!(
        store.dead()[0].error,
        "payload of version 1 cannot be brought up to date: too many dollars"
    );
}

#[test]
fn a_former_name_can_have_no_other_handler() {
    let store = MemoryStore::new();
    let error = builder(&store)
        .on(Bill::PAID, |_: Amount, _| async { Ok(()) })
        .on_raw("bill.payment", |_: Envelope, _| async { Ok(()) })
        .build()
        .err();
    let topic = "bill.payment".to_owned();
    assert_eq!(error, Some(BuildError::DuplicateHandler { topic }));

    let error = builder(&store)
        .on_event(|_: Bill, _: Delivery| async { Ok(()) })
        .on_event(|_: Before, _: Delivery| async { Ok(()) })
        .build()
        .err();
    assert!(
        matches!(error, Some(BuildError::DuplicateTopic { .. })),
        "{error:?}"
    );
}
