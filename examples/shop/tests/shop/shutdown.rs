//! Signals to the real program, and the order in which it stops.

use crate::site::{Patience, Site, database_url, get, tea};
use outbox_seaorm::entity::{delivered, event};
use sea_orm::{Database, DatabaseConnection, EntityTrait, PaginatorTrait};
use serde_json::json;
use shop::orders::{self, NewOrder};
use std::{
    io::{BufRead, BufReader},
    process::{Child, Command, ExitStatus, Stdio},
    time::Duration,
};
use tempfile::TempDir;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    time::sleep,
};

struct Program {
    child: Child,
    url: String,
    database_url: String,
    _folder: TempDir,
}

impl Program {
    /// Starts it with a gateway this slow, on a database of its own.
    async fn start(gateway_latency: u64) -> Self {
        let folder = TempDir::new().unwrap();
        let database_url = database_url(folder.path()).await;
        let mut child = Command::new(env!("CARGO_BIN_EXE_shop"))
            .args(["--listen", "127.0.0.1:0"])
            .args(["--gateway-latency", &gateway_latency.to_string()])
            .args(["--database-url", &database_url])
            .env_remove("RUST_LOG")
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut log = BufReader::new(child.stderr.take().unwrap()).lines();
        let url = log
            .find_map(|line| Some(line.unwrap().split_once("listening on ")?.1.to_owned()))
            .unwrap();
        // Its log must not fill the pipe.
        std::thread::spawn(move || log.for_each(drop));
        Self {
            child,
            url,
            database_url,
            _folder: folder,
        }
    }

    /// Places an order and waits until the gateway is being asked.
    async fn order(&self) {
        let url = format!("{}/orders", self.url);
        let post = ureq::post(url).header("idempotency-key", "1");
        tokio::task::spawn_blocking(move || post.send_json(tea()).unwrap())
            .await
            .unwrap();
        // The mail is gone, the charge is not.
        let patience = Patience::new();
        let under_way = json!([1, 1]);
        loop {
            let events = &get(&self.url, "/health").await.body["events"];
            if json!([events["delivered"], events["in_work"]]) == under_way {
                return;
            }
            patience.wait().await;
        }
    }

    fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        let killed = Command::new("kill").args([name, &id]).status().unwrap();
        assert!(killed.success());
    }

    async fn ended(&mut self) -> ExitStatus {
        let patience = Patience::new();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            patience.wait().await;
        }
    }

    async fn database(&self) -> DatabaseConnection {
        Database::connect(&self.database_url).await.unwrap()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[tokio::test]
async fn a_running_handler_finishes_before_the_program_ends() {
    let mut program = Program::start(3_000).await;
    program.order().await;
    program.signal("-TERM");
    assert_eq!(program.ended().await.code(), Some(0));

    let db = program.database().await;
    assert_eq!(delivered::Entity::find().count(&db).await.unwrap(), 2);
    // What the handler emitted is for the next run.
    let left = event::Entity::find().all(&db).await.unwrap();
    assert_eq!(left.len(), 1);
    assert_eq!(left[0].topic, "order.paid");
}

#[tokio::test]
async fn a_second_signal_drops_it_and_keeps_its_event() {
    let mut program = Program::start(600_000).await;
    program.order().await;
    // As Ctrl-C does.
    program.signal("-INT");
    sleep(Duration::from_millis(300)).await;
    assert!(program.child.try_wait().unwrap().is_none());
    program.signal("-TERM");
    assert_eq!(program.ended().await.code(), Some(0));

    let db = program.database().await;
    let left = event::Entity::find().all(&db).await.unwrap();
    assert_eq!(
        (left.len(), &*left[0].topic, left[0].attempts),
        (1, "payment.charge", 0)
    );
}

/// The requests under way may still emit.
#[tokio::test]
async fn the_dispatcher_works_until_the_last_request_is_answered() {
    let site = Site::start().await;
    let body = tea().to_string();
    let (first, rest) = body.split_at(body.len() / 2);
    let head = format!(
        "POST /orders HTTP/1.1\r\nhost: shop\r\nconnection: close\r\nidempotency-key: 1\r\n\
         content-type: application/json\r\ncontent-length: {}\r\nexpect: 100-continue\r\n\r\n",
        body.len()
    );
    let mut request = site.connect().await;
    request.write_all(head.as_bytes()).await.unwrap();
    // Once this comes the request is under way.
    let mut go_on = [0; 25];
    request.read_exact(&mut go_on).await.unwrap();
    assert_eq!(&go_on, b"HTTP/1.1 100 Continue\r\n\r\n");
    request.write_all(first.as_bytes()).await.unwrap();

    site.ask_to_stop();
    let tea: NewOrder = serde_json::from_value(tea()).unwrap();
    orders::place(site.db(), "acme", "2", &tea).await.unwrap();
    assert!(site.delivered().await.len() >= 2, "charged and mailed");

    request.write_all(rest.as_bytes()).await.unwrap();
    let mut answer = String::new();
    request.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 201 "), "{answer}");
    site.stop().await;
}
