use super::server::connect;
use outbox_tests::{
    history::{Log, What},
    worker::Conduct,
};
use sea_orm::{SqliteTransactionMode, TransactionOptions, TransactionTrait};
use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
        mpsc::{Sender, TryRecvError, channel},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

/// Writes what a lease needs, all the time, on a thread of its own; and writes down when that took
/// a third of a lease. It knows nothing of the dispatchers.
pub(crate) struct Watch {
    stalls: Arc<AtomicUsize>,
    end: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Watch {
    pub(crate) fn start(url: &str, log: &Log) -> Self {
        let (end, ended) = channel();
        let (url, all) = (url.to_owned(), log.by("*"));
        let stalls = Arc::<AtomicUsize>::default();
        let count = Arc::clone(&stalls);
        let watch = async move {
            let limit = Duration::from_millis(Conduct::default().lease_ms) / 3;
            let db = connect(&url).await;
            let options = TransactionOptions {
                sqlite_transaction_mode: Some(SqliteTransactionMode::Immediate),
                ..TransactionOptions::default()
            };
            for number in 0_u64.. {
                if ended.try_recv() != Err(TryRecvError::Empty) {
                    return;
                }
                let asked = Instant::now();
                if let Ok(txn) = db.begin_with_options(options).await {
                    let _ = txn.rollback().await;
                }
                if asked.elapsed() > limit {
                    all.about(What::Fault, &format!("stall-{number}"));
                    count.fetch_add(1, Ordering::Relaxed);
                }
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = runtime.enable_all().build().unwrap();
        let thread = thread::spawn(move || runtime.block_on(watch));
        Self {
            stalls,
            end: Some(end),
            thread: Some(thread),
        }
    }

    /// How often that took so long.
    pub(crate) fn stalls(&self) -> Arc<AtomicUsize> {
        Arc::clone(&self.stalls)
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        drop(self.end.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
