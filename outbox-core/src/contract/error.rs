use super::Change;
use crate::event::Clash;
use std::{error, fmt, io, path::PathBuf};

/// Why a contract does not hold, or could not be derived, read or written.
///
/// `Debug` prints what `Display` does, and the source: it is what a test that returns it shows.
pub struct ContractError(Cause);

enum Cause {
    Changed {
        path: PathBuf,
        changes: Vec<Change>,
    },
    Clash(Clash),
    Shape {
        event: &'static str,
    },
    Reference {
        name: String,
    },
    Json {
        path: PathBuf,
        source: serde_json::Error,
    },
    Format {
        path: PathBuf,
    },
    Io {
        path: PathBuf,
        source: io::Error,
    },
}

impl ContractError {
    /// What has changed since the lock file was written; empty where that is not what is wrong.
    #[must_use]
    pub fn changes(&self) -> &[Change] {
        match &self.0 {
            Cause::Changed { changes, .. } => changes,
            _ => &[],
        }
    }

    pub(super) fn changed(path: impl Into<PathBuf>, changes: Vec<Change>) -> Self {
        let path = path.into();
        Self(Cause::Changed { path, changes })
    }

    pub(super) fn clash(clash: Clash) -> Self {
        Self(Cause::Clash(clash))
    }

    pub(super) fn shape(event: &'static str) -> Self {
        Self(Cause::Shape { event })
    }

    pub(super) fn reference(name: &str) -> Self {
        let name = name.to_owned();
        Self(Cause::Reference { name })
    }

    pub(super) fn json(path: impl Into<PathBuf>, source: serde_json::Error) -> Self {
        let path = path.into();
        Self(Cause::Json { path, source })
    }

    pub(super) fn format(path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        Self(Cause::Format { path })
    }

    pub(super) fn io(path: impl Into<PathBuf>, source: io::Error) -> Self {
        let path = path.into();
        Self(Cause::Io { path, source })
    }
}

impl fmt::Display for ContractError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Cause::Changed { path, changes } => {
                writeln!(f, "the events are not those of {}:", path.display())?;
                for change in changes {
                    writeln!(f, "- {change}")?;
                }
                f.write_str(match changes.iter().any(|change| change.effect.breaks()) {
                    true => {
                        "what breaks others needs a new version: write `version = N` at the topic, and \
                         `upcast(…)` for the one before; or take the change back"
                    }
                    false => "nothing is broken: update the file",
                })
            }
            Cause::Clash(clash) => {
                let [one, other] = clash.events;
                write!(
                    f,
                    "{one} and {other} both declare the topic {}",
                    clash.topic
                )
            }
            Cause::Shape { event } => write!(
                f,
                "the JSON Schema of {event} is not that of an externally tagged enum: \
                 derive `JsonSchema`, with no attributes of schemars on the type and its variants"
            ),
            Cause::Reference { name } => {
                write!(f, "a JSON Schema refers to {name}, which is not there")
            }
            Cause::Json { path, .. } => write!(f, "{} is not JSON", path.display()),
            Cause::Format { path } => write!(
                f,
                "{} is no lock of this format: `topics`, each with a schema a version",
                path.display()
            ),
            Cause::Io { path, .. } => write!(f, "cannot read or write {}", path.display()),
        }
    }
}

impl error::Error for ContractError {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        match &self.0 {
            Cause::Json { source, .. } => Some(source),
            Cause::Io { source, .. } => Some(source),
            Cause::Changed { .. }
            | Cause::Clash(_)
            | Cause::Shape { .. }
            | Cause::Reference { .. }
            | Cause::Format { .. } => None,
        }
    }
}

impl fmt::Debug for ContractError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)?;
        match error::Error::source(self) {
            Some(source) => write!(f, ": {source}"),
            None => Ok(()),
        }
    }
}
