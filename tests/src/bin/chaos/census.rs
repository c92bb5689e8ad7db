use super::database::{Database, Member};
use outbox_tests::history::{Log, What};
use std::{
    collections::HashMap,
    pin::pin,
    sync::{Arc, Mutex},
    time::Duration,
};
use tokio::{task::AbortHandle, time::timeout};
use uuid::Uuid;

/// Which members each process has had, as the database shows it; asked all the time.
#[derive(Debug)]
pub(crate) struct Census {
    seen: Arc<Mutex<HashMap<Uuid, Seen>>>,
    task: AbortHandle,
}

#[derive(Debug, Clone)]
struct Seen {
    member: Member,
    /// How often its lease was renewed.
    renewals: u64,
    is_there: bool,
}

/// Where the members of a process were at a moment.
#[derive(Debug, Clone, Default)]
pub(crate) struct Mark(HashMap<Uuid, u64>);

impl Mark {
    pub(crate) fn members(&self) -> impl Iterator<Item = &Uuid> {
        self.0.keys()
    }
}

const PAUSE: Duration = Duration::from_millis(50);

impl Census {
    pub(crate) fn start(database: &Database, log: &Log, lease: Duration) -> Self {
        let seen = Arc::default();
        let task = tokio::spawn(watch(
            database.clone(),
            log.by("*"),
            lease / 3,
            Arc::clone(&seen),
        ));
        Self {
            seen,
            task: task.abort_handle(),
        }
    }

    /// The members that a process has now.
    pub(crate) fn mark(&self, pid: u32) -> Mark {
        let seen = lock(&self.seen);
        let own = seen
            .values()
            .filter(|seen| seen.member.pid == pid && seen.is_there);
        Mark(own.map(|seen| (seen.member.id, seen.renewals)).collect())
    }

    /// Whether a process has joined anew since, or renewed its lease twice: the first renewal may
    /// have been on its way.
    pub(crate) fn has_recovered(&self, pid: u32, since: &Mark) -> bool {
        lock(&self.seen).values().any(|seen| {
            let before = since.0.get(&seen.member.id);
            let renewed = before.is_none_or(|before| seen.renewals >= before + 2);
            seen.member.pid == pid && seen.is_there && renewed
        })
    }
}

impl Drop for Census {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn watch(
    database: Database,
    all: Log,
    limit: Duration,
    seen: Arc<Mutex<HashMap<Uuid, Seen>>>,
) {
    for number in 0_u64.. {
        let ask = async {
            let members = database.members().await;
            // Who reads does not notice that nobody can write.
            database.is_locked().await;
            members
        };
        let mut ask = pin!(ask);
        let members = match timeout(limit, &mut ask).await {
            Ok(members) => members,
            Err(_) => {
                // Nobody can renew a lease in time while the database takes that long. In a restart
                // it is nothing new.
                all.about(What::Fault, &format!("stall-{number}"));
                ask.await
            }
        };
        if let Ok(members) = members {
            update(&mut lock(&seen), members);
        }
        tokio::time::sleep(PAUSE).await;
    }
}

fn update(seen: &mut HashMap<Uuid, Seen>, members: Vec<Member>) {
    for seen in seen.values_mut() {
        seen.is_there = false;
    }
    for member in members {
        let seen = seen.entry(member.id).or_insert_with(|| Seen {
            member: member.clone(),
            renewals: 0,
            is_there: true,
        });
        seen.is_there = true;
        if seen.member.lease_until != member.lease_until {
            seen.renewals += 1;
            seen.member = member;
        }
    }
}

fn lock(seen: &Mutex<HashMap<Uuid, Seen>>) -> std::sync::MutexGuard<'_, HashMap<Uuid, Seen>> {
    seen.lock().unwrap_or_else(|lock| lock.into_inner())
}
