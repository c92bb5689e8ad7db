use super::{
    address::Address,
    arguments::Arguments,
    census::Census,
    clock::{self, Clock},
    database::Database,
    fault::Fault,
    process::Process,
    proxy::Proxy,
    tail::Tail,
};
use outbox_seaorm::CancellationToken;
use outbox_tests::{history::Log, worker::Conduct};
use std::{
    error::Error,
    fs::File,
    path::PathBuf,
    process::{Command, Stdio},
    sync::{
        Arc, Mutex, MutexGuard,
        atomic::{AtomicU64, Ordering},
    },
};
use tempfile::TempDir;

/// All that takes part.
pub(crate) struct Stage {
    pub(crate) arguments: Arguments,
    pub(crate) database: Database,
    pub(crate) log: Log,
    pub(crate) census: Census,
    pub(crate) dispatchers: Mutex<Vec<Arc<Process>>>,
    pub(crate) writers: Mutex<Vec<Arc<Process>>>,
    /// Cancelled when nothing more is to befall anybody.
    pub(crate) quiet: CancellationToken,
    /// The longest that the shards of a killed dispatcher were its own, in milliseconds.
    pub(crate) takeover: AtomicU64,
    tail: Mutex<Tail>,
    numbers: AtomicU64,
    clocks: Option<PathBuf>,
    folder: TempDir,
}

/// What a process is to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Dispatcher,
    Writer,
}

impl Stage {
    pub(crate) async fn new(arguments: Arguments) -> Result<Self, Box<dyn Error>> {
        let clocks = arguments
            .has(Fault::Clock)
            .then(clock::library)
            .transpose()?;
        let folder = tempfile::tempdir()?;
        let database = Database::open(&arguments.database_url).await?;
        database.prepare(arguments.aggregates).await?;
        let log = Log::open(&folder.path().join("log"), "chaos");
        Ok(Self {
            census: Census::start(&database, &log, arguments.lease()),
            tail: Mutex::new(Tail::open(log.path())?),
            arguments,
            database,
            log,
            dispatchers: Mutex::default(),
            writers: Mutex::default(),
            quiet: CancellationToken::new(),
            takeover: AtomicU64::new(0),
            numbers: AtomicU64::new(0),
            clocks,
            folder,
        })
    }

    /// A number that is used once.
    pub(crate) fn number(&self) -> u64 {
        self.numbers.fetch_add(1, Ordering::Relaxed)
    }

    /// The log as far as it is now.
    pub(crate) fn tail(&self) -> Result<MutexGuard<'_, Tail>, String> {
        let mut tail = lock(&self.tail);
        tail.catch_up()?;
        Ok(tail)
    }

    pub(crate) fn processes(&self, role: Role) -> MutexGuard<'_, Vec<Arc<Process>>> {
        lock(match role {
            Role::Dispatcher => &self.dispatchers,
            Role::Writer => &self.writers,
        })
    }

    /// Starts a process among those of its role.
    pub(crate) async fn start(
        &self,
        role: Role,
        name: &str,
    ) -> Result<Arc<Process>, Box<dyn Error>> {
        let (mode, conduct) = match role {
            Role::Dispatcher => ("deliver", self.delivering()),
            Role::Writer => ("emit", self.writing()),
        };
        let proxy = match self.arguments.has(Fault::Disconnect) {
            true => Some(Proxy::start(&Address::of(&self.arguments.database_url)?).await?),
            false => None,
        };
        let url = match &proxy {
            Some(proxy) => Address::of(&self.arguments.database_url)?.through(proxy.port()),
            None => self.arguments.database_url.clone(),
        };
        let file = |suffix: &str| self.folder.path().join(format!("{name}.{suffix}"));
        let clock = self.clocks.as_ref();
        let clock = clock
            .map(|library| Clock::new(library, file("clock")))
            .transpose()?;
        let seed = self.arguments.seed ^ (self.number() << 32);
        let mut command = Command::new(std::env::current_exe()?);
        command
            .args(["worker", mode, &url])
            .arg(self.log.path())
            .args([name, &seed.to_string(), &serde_json::to_string(&conduct)?])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(File::create(file("errors"))?);
        if let Some(clock) = &clock {
            clock.give(&mut command);
        }
        let process = Process::new(command.spawn()?, self.log.by(name), name, proxy, clock);
        let process = Arc::new(process);
        self.processes(role).push(Arc::clone(&process));
        Ok(process)
    }

    pub(crate) fn remove(&self, role: Role, process: &Arc<Process>) {
        self.processes(role)
            .retain(|other| !Arc::ptr_eq(other, process));
    }

    fn delivering(&self) -> Conduct {
        let chance = |fault, chance| if self.arguments.has(fault) { chance } else { 0 };
        Conduct {
            lease_ms: self.arguments.lease_ms,
            timeout_ms: self.arguments.lease_ms * 2,
            work_ms: 60,
            slow: chance(Fault::Slow, 8),
            hang: chance(Fault::Hang, 5),
            panic: chance(Fault::Panic, 20),
            blocking: self.arguments.has(Fault::Operator),
            ..Conduct::default()
        }
    }

    fn writing(&self) -> Conduct {
        let chance = |fault, chance| if self.arguments.has(fault) { chance } else { 0 };
        let Arguments {
            events, writers, ..
        } = self.arguments;
        let quota = events.div_ceil(writers as u64);
        // A transaction commits about two events and a bit, and takes a while itself.
        let a_transaction = self.arguments.duration().as_millis() as u64 * 23 / (quota * 10);
        Conduct {
            lease_ms: self.arguments.lease_ms,
            quota,
            pause_ms: a_transaction.saturating_sub(12) * 10 / 6,
            rollback: chance(Fault::Rollback, 200),
            late: chance(Fault::Late, 15),
            mixed: true,
            ..Conduct::default()
        }
    }

    /// Keeps the logs.
    pub(crate) fn keep(&self) -> PathBuf {
        let kept = std::env::temp_dir().join(format!("chaos-{}", std::process::id()));
        match std::fs::create_dir_all(&kept) {
            Ok(()) => copy_all(&self.folder, &kept),
            Err(error) => eprintln!("{}: {error}", kept.display()),
        }
        kept
    }
}

fn copy_all(folder: &TempDir, kept: &std::path::Path) {
    let entries = std::fs::read_dir(folder.path())
        .into_iter()
        .flatten()
        .flatten();
    for entry in entries {
        let _ = std::fs::copy(entry.path(), kept.join(entry.file_name()));
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|lock| lock.into_inner())
}
