use crate::{
    errors::Errors,
    model::{Event, Topic},
};
use std::collections::BTreeMap;
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
        key(topic, errors);
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

fn twice(event: &Event, errors: &mut Errors) {
    let mut names = BTreeMap::new();
    let mut constants = BTreeMap::new();
    for topic in &event.topics {
        let (name, ident) = (topic.name.value(), topic.ident);
        if let Some(first) = names.insert(name.clone(), ident) {
            let detail = format!("`{first}` has the topic {name:?} already");
            errors.push(Error::new(topic.name.span(), detail));
        } else if let Some(first) = constants.insert(topic.constant.to_string(), ident) {
            let detail = format!(
                "`{first}` has the constant `{}` already: rename one of the two",
                topic.constant
            );
            errors.push(Error::new(ident.span(), detail));
        }
    }
}
