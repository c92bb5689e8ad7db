//! How long the messages are in which events go to the server. Over TCP one of 16 to 64 KB may wait for
//! 40 ms, as sqlx leaves Nagle's algorithm on.

use super::database::{self, Database};
use outbox_core::Draft;
use outbox_tests::conformance::Thing;
use sea_orm::TransactionTrait;
use std::{
    sync::{Arc, Mutex},
    time::Duration,
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, copy},
    net::{
        TcpListener, TcpStream,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    },
};

/// A wire on which the lengths of the bound messages are written down.
struct Tap {
    port: u16,
    bound: Arc<Mutex<Vec<usize>>>,
}

impl Tap {
    async fn before(server: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let bound = Arc::<Mutex<Vec<usize>>>::default();
        let heard = Arc::clone(&bound);
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let server = TcpStream::connect(("127.0.0.1", server)).await.unwrap();
                // This wire has no such lengths of its own.
                let _ = (client.set_nodelay(true), server.set_nodelay(true));
                let (from_client, mut to_client) = client.into_split();
                let (mut from_server, to_server) = server.into_split();
                tokio::spawn(hear(from_client, to_server, Arc::clone(&heard)));
                tokio::spawn(async move { copy(&mut from_server, &mut to_client).await });
            }
        });
        Self { port, bound }
    }

    fn take(&self) -> Vec<usize> {
        std::mem::take(&mut *self.bound.lock().unwrap())
    }
}

/// Passes on what a client says, message by message.
async fn hear(
    mut client: OwnedReadHalf,
    mut server: OwnedWriteHalf,
    bound: Arc<Mutex<Vec<usize>>>,
) {
    // Only the first one has no kind.
    let mut kind = 0;
    loop {
        let Ok(length) = client.read_u32().await else {
            return;
        };
        let mut rest = vec![0; length as usize - 4];
        client.read_exact(&mut rest).await.unwrap();
        if kind == b'B' {
            bound.lock().unwrap().push(rest.len() + 5);
        }
        let mut message = if kind == 0 { Vec::new() } else { vec![kind] };
        message.extend(length.to_be_bytes());
        message.extend(rest);
        if server.write_all(&message).await.is_err() {
            return;
        }
        let Ok(next) = client.read_u8().await else {
            return;
        };
        kind = next;
    }
}

/// Lengths that may stall.
const STALL: std::ops::RangeInclusive<usize> = 16 * 1024..=64 * 1024;
/// What stands in a message beside a payload, at most.
const BESIDE: usize = 1024;

/// Events are together as far as that does not stall, whatever their number and lengths; one that is as
/// long by itself goes alone.
#[tokio::test]
async fn no_events_share_a_message_of_a_length_that_stalls() {
    let database = Database::plain().await;
    let tap = Tap::before(database::port()).await;
    let db = database.open_through(tap.port, "", 1).await;
    let check = async |events: Vec<Draft>, lengths: &[usize]| {
        let (number, txn) = (events.len(), db.begin().await.unwrap());
        database.outbox.emit_all(&txn, events).await.unwrap();
        txn.rollback().await.unwrap();
        let mut bound = tap.take();
        assert!(!bound.is_empty());
        bound.retain(|bound| STALL.contains(bound));
        bound.sort_unstable();
        let mut alone = lengths.to_vec();
        alone.retain(|length| STALL.contains(&(length + BESIDE)) || STALL.contains(length));
        alone.sort_unstable();
        for bound in bound {
            let explains = |length: &usize| (*length..=length + BESIDE).contains(&bound);
            let event = alone.iter().position(explains);
            let event = event.unwrap_or_else(|| panic!("{number}: {bound}, {alone:?}"));
            alone.remove(event);
        }
    };
    let said = |lengths: &[usize]| -> Vec<Draft> {
        let text = |length: &usize| "x".repeat(*length);
        lengths
            .iter()
            .map(|length| Thing::said(&text(length)))
            .collect()
    };
    for number in [1, 2, 10, 100, 1_000, 10_000] {
        check(said(&vec![1; number]), &[]).await;
        let key = |n| format!("{n}{}", "k".repeat(240));
        let keyed = (0..number).map(|n| Thing::said("x").dedupe_key(key(n)));
        check(keyed.collect(), &[]).await;
        let later = (0..number).map(|_| Thing::said("x").after(Duration::from_secs(60)));
        check(later.collect(), &[]).await;
    }
    let mut chance = fastrand::Rng::with_seed(16);
    for length in (0..=130 * 1024).step_by(509) {
        for lengths in [vec![length], vec![length; 4], vec![1, length, 1]] {
            check(said(&lengths), &lengths).await;
        }
        let lengths: Vec<_> = (0..30).map(|_| chance.usize(..=length)).collect();
        check(said(&lengths), &lengths).await;
    }
}
