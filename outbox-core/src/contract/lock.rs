use super::{
    ContractError, Schemas,
    canonical::{bare, text},
    change::{Change, ChangeKind, Effect},
    compare::compare,
    payload::Payload,
    shape::Document,
};
use serde_json::{Map, Value, json};
use std::{collections::BTreeMap, fs, io, path::Path};

/// Compares what the types write with the lock file, for a test.
///
/// ```
/// use outbox_core::contract::{self, ContractError, Schemas};
///
/// fn the_contract_is_locked() -> Result<(), ContractError> {
///     contract::check(&Schemas::new(), "outbox.lock.json")
/// }
/// # the_contract_is_locked().unwrap();
/// ```
///
/// # Errors
/// When anything has changed, with every [change](ContractError::changes): what is compatible needs an
/// [`update`] of the file, what is not needs a new version of the topic. A file that is missing is
/// one without topics. Also when the file cannot be read.
pub fn check(schemas: &Schemas, path: impl AsRef<Path>) -> Result<(), ContractError> {
    let path = path.as_ref();
    let changes = Lock::read(path)?.changes(schemas)?;
    match changes.is_empty() {
        true => Ok(()),
        false => Err(ContractError::changed(path, changes)),
    }
}

/// Writes what has changed into the lock file, and says what that was.
///
/// What breaks others is refused. Where it breaks nobody, since no build that wrote it was ever
/// released, take the topic, or the version, out of the file first.
///
/// # Errors
/// When a change needs a new version; then the file is left as it is. Also when it cannot be read or
/// written.
pub fn update(schemas: &Schemas, path: impl AsRef<Path>) -> Result<Vec<Change>, ContractError> {
    let path = path.as_ref();
    let lock = Lock::read(path)?;
    let changes = lock.changes(schemas)?;
    if changes.iter().any(|change| change.effect.breaks()) {
        return Err(ContractError::changed(path, changes));
    }
    if !changes.is_empty() {
        let text = lock.updated(schemas).to_text();
        fs::write(path, text).map_err(|error| ContractError::io(path, error))?;
    }
    Ok(changes)
}

/// What was written so far: a schema a topic and version.
#[derive(Debug, Default)]
pub(super) struct Lock {
    topics: BTreeMap<String, BTreeMap<u32, Value>>,
}

impl Lock {
    fn read(path: &Path) -> Result<Self, ContractError> {
        let text = match fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(error) => return Err(ContractError::io(path, error)),
        };
        let file: Value =
            serde_json::from_str(&text).map_err(|error| ContractError::json(path, error))?;
        Self::parse(&file).ok_or_else(|| ContractError::format(path))
    }

    fn parse(file: &Value) -> Option<Self> {
        let mut lock = Self::default();
        for (topic, versions) in file.get("topics")?.as_object()? {
            let versions = versions.as_object()?.iter().map(|(version, schema)| {
                let version = version.parse().ok()?;
                Some((version, schema.clone()))
            });
            lock.topics
                .insert(topic.clone(), versions.collect::<Option<_>>()?);
        }
        Some(lock)
    }

    fn to_text(&self) -> String {
        let topics: Map<String, Value> = self
            .topics
            .iter()
            .map(|(topic, versions)| {
                let versions = versions
                    .iter()
                    .map(|(version, schema)| (version.to_string(), schema.clone()));
                (topic.clone(), versions.collect())
            })
            .collect();
        text(&json!({ "topics": topics }))
    }

    /// What a build with these types has instead of this.
    pub(super) fn updated(&self, schemas: &Schemas) -> Self {
        let mut topics = BTreeMap::new();
        for (_, spec, payload) in schemas.topics() {
            let mut versions = BTreeMap::from([(spec.version, bare(&payload.written))]);
            for (version, schema) in spec
                .names()
                .filter_map(|name| self.topics.get(name))
                .flatten()
            {
                if (spec.oldest..spec.version).contains(version) {
                    versions.entry(*version).or_insert_with(|| schema.clone());
                }
            }
            topics.insert(spec.name.to_owned(), versions);
        }
        Self { topics }
    }

    /// What these types write otherwise.
    pub(super) fn changes(&self, schemas: &Schemas) -> Result<Vec<Change>, ContractError> {
        let mut changes = Vec::new();
        for (_, spec, payload) in schemas.topics() {
            let change = |version, kind, effect| Change {
                topic: spec.name.to_owned(),
                version,
                path: String::new(),
                kind,
                effect,
            };
            let mut locked = false;
            let mut current = false;
            for name in spec.names() {
                let Some(versions) = self.topics.get(name) else {
                    continue;
                };
                locked = true;
                if name != spec.name {
                    let was = name.to_owned();
                    let kind = ChangeKind::TopicRenamed { was };
                    changes.push(change(spec.version, kind, Effect::Compatible));
                }
                for (&version, schema) in versions {
                    if version > spec.version {
                        let kind = ChangeKind::VersionMissing;
                        changes.push(change(version, kind, Effect::BreaksBoth));
                    } else if version < spec.oldest {
                        let kind = ChangeKind::VersionDropped;
                        changes.push(change(version, kind, Effect::Compatible));
                    } else if version == spec.version {
                        current = true;
                        for found in compared(schema, payload)? {
                            changes.push(Change {
                                path: found.path,
                                ..change(version, found.kind, found.effect)
                            });
                        }
                    }
                }
            }
            if !locked {
                changes.push(change(
                    spec.version,
                    ChangeKind::TopicAdded,
                    Effect::Compatible,
                ));
            } else if !current {
                let kind = ChangeKind::VersionAdded;
                changes.push(change(spec.version, kind, Effect::Compatible));
            }
        }
        let gone = self
            .topics
            .iter()
            .filter(|(topic, _)| !schemas.catalogue().declares(topic));
        changes.extend(gone.map(|(topic, versions)| Change {
            topic: topic.clone(),
            version: versions.keys().last().copied().unwrap_or(1),
            path: String::new(),
            kind: ChangeKind::TopicRemoved,
            effect: Effect::BreaksBoth,
        }));
        Ok(changes)
    }
}

fn compared(
    schema: &Value,
    payload: &Payload,
) -> Result<Vec<super::compare::Found>, ContractError> {
    Ok(compare(
        &Document::parse(schema)?,
        &Document::parse(&payload.written)?,
        &Document::parse(&payload.read)?,
    ))
}
