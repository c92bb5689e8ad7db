use crate::{
    errors::Errors,
    model::{Event, Topic},
};
use std::collections::{BTreeMap, BTreeSet};
use syn::{Error, LitStr};

/// What can only be said of the whole type: what is missing, and what is there twice.
pub(crate) fn check(event: &Event, errors: &mut Errors) {
    let sound = name("aggregate", &event.aggregate, errors)
        & event
            .topic_prefix
            .as_ref()
            .is_none_or(|prefix| name("topic prefix", prefix, errors));
    for topic in &event.topics {
        // A default topic is as wrong as the name it begins with, which is reported once.
        if sound || topic.explicit {
            name("topic", &topic.name, errors);
        }
        for former in &topic.was {
            name("former topic", former, errors);
        }
        key(topic, errors);
        versions(topic, errors);
    }
    twice(event, errors);
}

/// Whether brokers, Debezium and the tables can take a name as it is.
fn name(what: &str, name: &LitStr, errors: &mut Errors) -> bool {
    /// `Limits::NAME_BYTES` of outbox-core.
    const LONGEST: usize = 200;
    let value = name.value();
    let legal = |c: char| c.is_ascii_alphanumeric() || ['.', '_', '-', ':', '/'].contains(&c);
    let detail = if value.is_empty() {
        format!("the {what} is empty")
    } else if value.len() > LONGEST {
        format!(
            "the {what} has {} bytes, at most {LONGEST} are allowed",
            value.len()
        )
    } else if let Some(illegal) = value.chars().find(|c| !legal(*c)) {
        format!(
            "{illegal:?} cannot stand in the {what} {value:?}: use ASCII letters, digits and `.` `_` `-` `:` `/`"
        )
    } else {
        return true;
    };
    errors.push(Error::new(name.span(), detail));
    false
}

fn key(topic: &Topic, errors: &mut Errors) {
    if topic.has_key || topic.unordered {
        return;
    }
    let detail = format!(
        "`{}` has no key: mark a field with `#[outbox(key)]` or write `#[outbox(key = path)]`, \
         or `#[outbox(unordered)]` if its order does not matter",
        topic.ident
    );
    errors.push(Error::new(topic.ident.span(), detail));
}

/// Every version from the oldest to the one before the current must say how it is read.
fn versions(topic: &Topic, errors: &mut Errors) {
    if topic.doubtful {
        return;
    }
    let (oldest, current) = (topic.oldest, topic.version);
    let [version, written_oldest] = topic.written;
    if let Some(written) = written_oldest.filter(|_| oldest > current) {
        let detail = format!("the topic has version {current}, its oldest cannot be newer");
        errors.push(Error::new(written.span, detail));
        return;
    }
    let mut known = BTreeSet::new();
    for upcast in &topic.upcasts {
        let from = upcast.from;
        let detail = if from.number >= current {
            format!(
                "the topic has version {current}: write `version = {}`, or take this away",
                from.number.saturating_add(1)
            )
        } else if from.number < oldest {
            format!("version {oldest} is the oldest that is read, so this is never called")
        } else if !known.insert(from.number) {
            format!("version {} is brought up to date already", from.number)
        } else {
            continue;
        };
        errors.push(Error::new(from.span, detail));
    }
    let missing: Vec<String> = (oldest..current)
        .filter(|version| !known.contains(version))
        .map(|version| version.to_string())
        .take(4)
        .collect();
    if let ([first, ..], Some(version)) = (&missing[..], version) {
        let detail = format!(
            "how are payloads of version {} read? Write `upcast({first} = function)`, \
             `upcast({first} = _)` if they read like the next version's, \
             or `oldest = {current}` if there are none left",
            missing.join(", "),
        );
        errors.push(Error::new(version.span, detail));
    }
}

fn twice(event: &Event, errors: &mut Errors) {
    // By its lower case: brokers and file names may not tell two apart that differ in nothing else.
    let mut names = BTreeMap::new();
    let mut constants = BTreeMap::new();
    for topic in &event.topics {
        let ident = topic.ident;
        let mut fresh = true;
        for name in std::iter::once(&topic.name).chain(&topic.was) {
            let value = name.value();
            let Some((first, taken)) =
                names.insert(value.to_ascii_lowercase(), (ident, value.clone()))
            else {
                continue;
            };
            fresh = false;
            let detail = if taken == value {
                format!("`{first}` has the topic {value:?} already")
            } else {
                format!("`{first}` has the topic {taken:?}, which differs in case alone")
            };
            errors.push(Error::new(name.span(), detail));
        }
        if fresh && let Some(first) = constants.insert(topic.constant.to_string(), ident) {
            let detail = format!(
                "`{first}` has the constant `{}` already: rename one of the two",
                topic.constant
            );
            errors.push(Error::new(ident.span(), detail));
        }
    }
}
