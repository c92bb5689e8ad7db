//! The application, started in this process on a database of its own: on SQLite, or on a PostgreSQL
//! server where `SHOP_TEST_POSTGRES_URL` names one (with the feature `postgres`).

use outbox_seaorm::entity::{delivered, event};
use sea_orm::{
    ConnectionTrait, Database, DatabaseConnection, EntityTrait, PaginatorTrait, QueryOrder,
};
use serde_json::{Value, json};
use shop::{
    app::{self, App},
    database,
    gateway::FakeGateway,
    mailer::FakeMailer,
    stop::Stop,
};
use std::{env, path::Path, sync::Arc, time::Duration};
use tempfile::TempDir;
use tokio::{
    net::{TcpListener, TcpStream},
    task::JoinHandle,
    time::{Instant, sleep},
};
use uuid::Uuid;

pub(crate) struct Site {
    pub(crate) app: App,
    url: String,
    stop: Stop,
    served: JoinHandle<()>,
    _folder: TempDir,
}

/// What came back.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: Value,
}

/// A new database: on the server that the environment names, or a file in this folder.
pub(crate) async fn database_url(folder: &Path) -> String {
    let Ok(server) = env::var("SHOP_TEST_POSTGRES_URL") else {
        return format!("sqlite://{}/shop.db?mode=rwc", folder.display());
    };
    let name = format!("shop_{}", Uuid::now_v7().simple());
    let admin = Database::connect(&server).await.unwrap();
    let create = format!("CREATE DATABASE {name}");
    admin.execute_unprepared(&create).await.unwrap();
    admin.close().await.unwrap();
    let (server, _) = server.rsplit_once('/').unwrap();
    format!("{server}/{name}")
}

/// The application without its server and dispatcher.
pub(crate) async fn app() -> (App, TempDir) {
    let folder = TempDir::new().unwrap();
    let url = database_url(folder.path()).await;
    let app = App {
        db: database::open(&url).await.unwrap(),
        gateway: Arc::new(FakeGateway::new(Duration::ZERO)),
        mailer: Arc::new(FakeMailer::default()),
    };
    (app, folder)
}

/// Two pots of tea, please.
pub(crate) fn tea() -> Value {
    json!({ "mail": "ada@example.com", "address": "1 Main Street", "item": "tea", "quantity": 2 })
}

impl Site {
    pub(crate) async fn start() -> Self {
        let (app, folder) = app().await;
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let stop = Stop::default();
        let serving = app::serve(app.clone(), listener, stop.clone());
        Self {
            app,
            url,
            stop,
            served: tokio::spawn(async { serving.await.unwrap() }),
            _folder: folder,
        }
    }

    pub(crate) fn db(&self) -> &DatabaseConnection {
        &self.app.db
    }

    pub(crate) async fn order(&self, key: &str, order: &Value) -> Answer {
        self.post(&[("idempotency-key", key)], order).await
    }

    pub(crate) async fn post(&self, headers: &[(&str, &str)], order: &Value) -> Answer {
        let mut request = agent().post(format!("{}/orders", self.url));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let order = order.clone();
        answer(move || request.send_json(order)).await
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        get(&self.url, path).await
    }

    /// Asks for an order until its handlers have done all of their work.
    pub(crate) async fn until(&self, order: &Answer, status: &str) -> Answer {
        let path = format!("/orders/{}", order.body["id"].as_str().unwrap());
        let patience = Patience::new();
        loop {
            let seen = self.get(&path).await;
            if seen.body["status"] == status && seen.body["mailed"] == true {
                return seen;
            }
            patience.wait().await;
        }
    }

    /// All events once they are delivered.
    pub(crate) async fn delivered(&self) -> Vec<delivered::Model> {
        let patience = Patience::new();
        while event::Entity::find().count(self.db()).await.unwrap() > 0 {
            patience.wait().await;
        }
        let events = delivered::Entity::find().order_by_asc(delivered::Column::Seq);
        events.all(self.db()).await.unwrap()
    }

    /// A connection to send a request over by hand.
    pub(crate) async fn connect(&self) -> TcpStream {
        let address = self.url.trim_start_matches("http://");
        TcpStream::connect(address).await.unwrap()
    }

    pub(crate) fn ask_to_stop(&self) {
        self.stop.first.cancel();
    }

    pub(crate) async fn stop(self) {
        self.ask_to_stop();
        self.served.await.unwrap();
    }
}

/// Only a hang exhausts it.
pub(crate) struct Patience(Instant);

impl Patience {
    pub(crate) fn new() -> Self {
        Self(Instant::now() + Duration::from_secs(60))
    }

    /// Waits a moment between two looks.
    pub(crate) async fn wait(&self) {
        assert!(Instant::now() < self.0, "it never happened");
        sleep(Duration::from_millis(20)).await;
    }
}

pub(crate) async fn get(url: &str, path: &str) -> Answer {
    let request = agent().get(format!("{url}{path}"));
    answer(move || request.call()).await
}

fn agent() -> ureq::Agent {
    let config = ureq::Agent::config_builder()
        .http_status_as_error(false)
        .timeout_global(Some(Duration::from_secs(60)));
    config.build().new_agent()
}

/// The client blocks.
async fn answer<F>(call: F) -> Answer
where
    F: FnOnce() -> Result<ureq::http::Response<ureq::Body>, ureq::Error> + Send + 'static,
{
    let call = move || {
        let mut response = call().unwrap();
        Answer {
            status: response.status().as_u16(),
            body: response.body_mut().read_json().unwrap_or_default(),
        }
    };
    tokio::task::spawn_blocking(call).await.unwrap()
}
