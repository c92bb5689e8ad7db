use std::{fmt, str::FromStr};

/// What befalls the processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Fault {
    /// SIGKILL of dispatchers and writers.
    Kill,
    /// SIGSTOP past the lease, then SIGCONT.
    Freeze,
    /// Connections cut, or open at one end only.
    Disconnect,
    /// The database server ends and comes back.
    Restart,
    /// Handlers that take longer than the lease.
    Slow,
    /// Handlers that never return.
    Hang,
    /// Handlers that panic.
    Panic,
    /// Transactions that are rolled back after their events got their positions.
    Rollback,
    /// Transactions that commit seconds after their events got their positions.
    Late,
    /// Dispatchers join and leave.
    Scale,
    /// The wall clocks of the processes jump by hours.
    Clock,
    /// Somebody decides about dead letters, discards, pauses, replays and puts off.
    Operator,
}

pub(crate) const ALL: [(Fault, &str); 12] = [
    (Fault::Kill, "kill"),
    (Fault::Freeze, "freeze"),
    (Fault::Disconnect, "disconnect"),
    (Fault::Restart, "restart"),
    (Fault::Slow, "slow"),
    (Fault::Hang, "hang"),
    (Fault::Panic, "panic"),
    (Fault::Rollback, "rollback"),
    (Fault::Late, "late"),
    (Fault::Scale, "scale"),
    (Fault::Clock, "clock"),
    (Fault::Operator, "operator"),
];

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = ALL.iter().find(|(fault, _)| fault == self);
        f.write_str(name.map_or("", |(_, name)| name))
    }
}

impl FromStr for Fault {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        let fault = ALL.iter().find(|(_, name)| *name == word);
        fault.map(|(fault, _)| *fault).ok_or_else(|| {
            let names: Vec<_> = ALL.iter().map(|(_, name)| *name).collect();
            format!("no fault {word:?}: there are {}", names.join(", "))
        })
    }
}
