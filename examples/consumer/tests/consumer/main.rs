//! Every event comes twice, at the same moment and once more later; the process is killed while a
//! mail is being sent; and each order ends as if nothing had happened.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod process;
mod sender;
mod service;

use process::Process;
use sender::{Sender, events};
use service::Service;
use std::collections::HashSet;

#[tokio::test(flavor = "multi_thread")]
async fn every_event_comes_twice_the_process_is_killed_and_all_ends_right() {
    let folder = tempfile::tempdir().unwrap();
    let mut service = Service::start().await;
    let first = Process::start(folder.path(), "127.0.0.1:0", &service.url);
    let address = first.address.clone();
    let sender = Sender::new(&address);
    let events = events(12);

    let sending = tokio::spawn(sender.clone().send(events.clone()));
    // A mail was asked for, and nobody can say yet that it was.
    let held = service.held().await;
    first.kill();
    let second = Process::start(folder.path(), &address, &service.url);
    service.answer_all();
    sending.await.unwrap();

    // Late copies of everything, the first events last.
    let late: Vec<_> = events.iter().rev().cloned().collect();
    sender.clone().send(late).await;
    for order in events
        .iter()
        .map(|event| &event.order_id)
        .collect::<HashSet<_>>()
    {
        let seen = sender.order(order).await;
        assert_eq!(seen["status"], "shipped", "{seen}");
        assert_eq!(seen["events"], 3, "{seen}");
    }
    second.kill();

    let shipped = events.iter().filter(|event| event.status == "shipped");
    let shipped: HashSet<_> = shipped.map(|event| event.id).collect();
    let asked = service.asked();
    assert_eq!(asked.keys().copied().collect::<HashSet<_>>(), shipped);
    for (key, times) in asked {
        assert_eq!(times, if key == held { 2 } else { 1 }, "{key}");
    }
}
