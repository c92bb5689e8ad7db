use axum::{Router, extract::State, http::HeaderMap, routing::post};
use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
};
use tokio::{
    net::TcpListener,
    sync::{mpsc, watch},
};
use uuid::Uuid;

/// The mail service, which lives in the test: it answers a few requests, and then none until it is
/// told to.
pub(crate) struct Service {
    pub(crate) url: String,
    asked: Arc<Mutex<HashMap<Uuid, u32>>>,
    held: mpsc::UnboundedReceiver<Uuid>,
    open: watch::Sender<bool>,
}

#[derive(Clone)]
struct Shared {
    asked: Arc<Mutex<HashMap<Uuid, u32>>>,
    held: mpsc::UnboundedSender<Uuid>,
    open: watch::Receiver<bool>,
}

/// So many mails are sent before one is held.
const AT_ONCE: usize = 5;

impl Service {
    pub(crate) async fn start() -> Self {
        let asked = Arc::new(Mutex::new(HashMap::new()));
        let (held_sender, held) = mpsc::unbounded_channel();
        let (open, open_receiver) = watch::channel(false);
        let shared = Shared {
            asked: Arc::clone(&asked),
            held: held_sender,
            open: open_receiver,
        };
        let router = Router::new().route("/", post(send)).with_state(shared);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        tokio::spawn(async { axum::serve(listener, router).await.unwrap() });
        Self {
            url,
            asked,
            held,
            open,
        }
    }

    /// The first request that gets no answer.
    pub(crate) async fn held(&mut self) -> Uuid {
        self.held.recv().await.unwrap()
    }

    /// Answers from now on.
    pub(crate) fn answer_all(&self) {
        self.open.send(true).unwrap();
    }

    /// How often each mail was asked for, by its key.
    pub(crate) fn asked(&self) -> HashMap<Uuid, u32> {
        self.asked.lock().unwrap().clone()
    }
}

async fn send(State(mut shared): State<Shared>, headers: HeaderMap) {
    let key = headers["idempotency-key"].to_str().unwrap();
    let key: Uuid = key.parse().unwrap();
    let mails = {
        let mut asked = shared.asked.lock().unwrap();
        *asked.entry(key).or_insert(0) += 1;
        asked.len()
    };
    if mails > AT_ONCE && !*shared.open.borrow() {
        let _ = shared.held.send(key);
        let _ = shared.open.wait_for(|open| *open).await;
    }
}
