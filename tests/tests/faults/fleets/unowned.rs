//! Shards that lie although somebody could take them.

use crate::{server::connect, site::Site};
use sea_orm::{ConnectionTrait, DatabaseConnection, DbErr, QueryResult, Statement};
use std::{
    collections::HashMap,
    hash::Hash,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
        mpsc::{Sender, TryRecvError, channel},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};
use uuid::Uuid;

/// Asks all the time which shards nobody owns and who could, on a thread of its own.
pub(crate) struct Unowned {
    end: Sender<()>,
    thread: JoinHandle<Duration>,
}

impl Unowned {
    pub(crate) fn watch(site: &Site, stalls: Arc<AtomicUsize>) -> Self {
        let (end, ended) = channel();
        let url = site.url().to_owned();
        let watch = async move {
            let db = connect(&url).await;
            let (mut lying, mut known) = (Lying::default(), 0);
            while ended.try_recv() == Err(TryRecvError::Empty) {
                let asked = Instant::now();
                let seen = look(&db).await;
                let before = std::mem::replace(&mut known, stalls.load(Ordering::Relaxed));
                match seen {
                    // Who is kept waiting knows nothing, and everybody may have been.
                    Ok((shards, able)) if known == before && asked.elapsed() < TOO_LONG => {
                        lying.see(&shards, &able, asked);
                    }
                    _ => lying.forget(),
                }
                tokio::time::sleep(PAUSE).await;
            }
            // Otherwise nothing is shown.
            assert!(lying.looks > 100, "{} looks", lying.looks);
            lying.longest
        };
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = runtime.enable_all().build().unwrap();
        Self {
            end,
            thread: thread::spawn(move || runtime.block_on(watch)),
        }
    }

    /// The longest that a shard lay while the same process could have taken it.
    pub(crate) fn longest(self) -> Duration {
        drop(self.end);
        self.thread.join().unwrap()
    }
}

const PAUSE: Duration = Duration::from_millis(50);
/// A third of the lease.
const TOO_LONG: Duration = Duration::from_millis(333);

/// The shards that nobody owns, and the members whose processes run.
async fn look(db: &DatabaseConnection) -> Result<(Vec<String>, Vec<Uuid>), DbErr> {
    let sql = "SELECT CAST(shard AS CHAR(9)) AS shard FROM outbox_shard WHERE owner IS NULL OR owner NOT IN \
        (SELECT id FROM outbox_dispatcher)";
    let shards = rows(db, sql).await?;
    let shards = shards.iter().map(|row| row.try_get("", "shard").unwrap());
    let members = rows(db, "SELECT id, place FROM outbox_dispatcher").await?;
    let mut able = Vec::new();
    for row in members {
        let place: String = row.try_get("", "place").unwrap();
        if place.rsplit(':').next().is_some_and(is_running) {
            able.push(row.try_get("", "id").unwrap());
        }
    }
    Ok((shards.collect(), able))
}

async fn rows(db: &DatabaseConnection, sql: &str) -> Result<Vec<QueryResult>, DbErr> {
    let statement = Statement::from_string(db.get_database_backend(), sql);
    db.query_all_raw(statement).await
}

/// Neither stopped nor dead.
fn is_running(pid: &str) -> bool {
    let state = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = state.rsplit(')').next().unwrap_or_default();
    state.trim_start().starts_with(['R', 'S', 'D'])
}

/// Since when shards lie, and members could take them.
#[derive(Debug, Default)]
struct Lying {
    shards: HashMap<String, Instant>,
    able: HashMap<Uuid, Instant>,
    longest: Duration,
    /// How often there was somebody to take something.
    looks: usize,
}

impl Lying {
    fn see(&mut self, shards: &[String], able: &[Uuid], now: Instant) {
        keep(&mut self.shards, shards, now);
        keep(&mut self.able, able, now);
        self.looks += usize::from(!able.is_empty());
        let (shard, able) = (self.shards.values().min(), self.able.values().min());
        if let (Some(shard), Some(able)) = (shard, able) {
            self.longest = self.longest.max(now - *shard.max(able));
        }
    }

    fn forget(&mut self) {
        self.shards.clear();
        self.able.clear();
    }
}

/// Those that were there before have been since then.
fn keep<K: Clone + Eq + Hash>(since: &mut HashMap<K, Instant>, there: &[K], now: Instant) {
    since.retain(|key, _| there.contains(key));
    for key in there {
        since.entry(key.clone()).or_insert(now);
    }
}

#[test]
fn a_shard_lies_as_long_as_the_same_process_could_take_it() {
    let (start, mut lying) = (Instant::now(), Lying::default());
    let (d0, d1) = (Uuid::from_u128(0), Uuid::from_u128(1));
    let named = |shards: &[i32]| shards.iter().map(i32::to_string).collect::<Vec<_>>();
    let mut longest = |second: u64, shards: &[i32], able: &[Uuid]| {
        lying.see(&named(shards), able, start + Duration::from_secs(second));
        lying.longest.as_secs()
    };
    assert_eq!(longest(0, &[1], &[]), 0);
    assert_eq!(longest(4, &[1], &[d0]), 0, "from now on somebody can");
    assert_eq!(longest(5, &[1, 2], &[d0]), 1);
    assert_eq!(longest(6, &[1], &[d0, d1]), 2);
    assert_eq!(longest(8, &[1], &[d1]), 2, "the other one since then");
    assert_eq!(longest(9, &[1], &[d1]), 3);
    assert_eq!(longest(20, &[], &[d1]), 3);
    assert_eq!(longest(30, &[1], &[d1]), 3, "anew");
    lying.forget();
    lying.see(&named(&[1]), &[d1], start + Duration::from_secs(40));
    assert_eq!(lying.longest.as_secs(), 3);
}
