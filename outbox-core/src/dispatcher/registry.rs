//! Which topic goes where, and whether all of them go somewhere.

use super::{
    config::{TopicConfig, Unhandled},
    error::BuildError,
    route::{Call, Route, Target, Whole},
    router::Router,
};
use crate::{
    event::{Catalogue, OutboxEvent, TopicSpec},
    handler::Handler,
};
use std::{marker::PhantomData, sync::Arc};

/// Adds the handler of a declared topic. What is stored under a former name goes there too.
pub(super) fn declared(
    router: &mut Router,
    spec: &TopicSpec,
    config: TopicConfig,
    target: Target,
) -> Result<(), BuildError> {
    add(router, spec.name, Some(spec.version), config, target)?;
    match spec.was.iter().find(|former| !router.also(former)) {
        None => Ok(()),
        Some(former) => Err(BuildError::DuplicateHandler {
            topic: (*former).to_owned(),
        }),
    }
}

/// Adds the handler of whatever topics of a type have none.
pub(super) fn whole<E: OutboxEvent + Send + 'static, H: Handler<E>>(
    router: &mut Router,
    config: TopicConfig,
    handler: &Arc<H>,
) -> Result<(), BuildError> {
    let mut added = false;
    for (index, spec) in E::CONTRACT.topics.iter().enumerate() {
        if router.has(spec.name) {
            continue;
        }
        added = true;
        let call = Whole {
            index,
            handler: Arc::clone(handler),
            event: PhantomData,
        };
        declared(router, spec, config, Target::Handler(Box::new(call)))?;
    }
    match E::CONTRACT.topics.first() {
        // Every topic has a handler: this one could never run.
        Some(first) if !added => Err(BuildError::DuplicateHandler {
            topic: first.name.to_owned(),
        }),
        _ => Ok(()),
    }
}

/// Adds a handler that takes events encoded.
pub(super) fn raw(
    router: &mut Router,
    topic: &str,
    config: TopicConfig,
    call: Box<dyn Call>,
) -> Result<(), BuildError> {
    add(router, topic, None, config, Target::Handler(call))
}

fn add(
    router: &mut Router,
    topic: &str,
    version: Option<u32>,
    config: TopicConfig,
    target: Target,
) -> Result<(), BuildError> {
    let route = Route::new(topic.to_owned(), config, version, target);
    if router.topic(topic, route) {
        return Ok(());
    }
    Err(BuildError::DuplicateHandler {
        topic: topic.to_owned(),
    })
}

/// No two types may declare one topic.
pub(super) fn check_types(declared: &Catalogue) -> Result<(), BuildError> {
    match declared.clash() {
        None => Ok(()),
        Some(clash) => Err(BuildError::DuplicateTopic {
            topic: clash.topic,
            events: clash.events,
        }),
    }
}

/// Every route must be that of a declared topic.
pub(super) fn check_routes(router: &Router, declared: &Catalogue) -> Result<(), BuildError> {
    let used = |id| {
        let mut names = declared.topics().flat_map(|(_, spec)| spec.names());
        names.any(|topic| router.leads_to(topic, id))
    };
    let unused = router
        .routes()
        .iter()
        .enumerate()
        .find(|(id, _)| !used(*id));
    match unused {
        None => Ok(()),
        Some((_, route)) => Err(BuildError::UnknownTopic {
            topic: route.name.clone(),
        }),
    }
}

/// Every declared topic should have a route.
pub(super) fn check_topics(
    router: &Router,
    declared: &Catalogue,
    unhandled: Unhandled,
) -> Result<(), BuildError> {
    for (contract, spec) in declared.topics() {
        for topic in spec.names().filter(|topic| router.find(topic).is_none()) {
            let event = contract.event;
            match unhandled {
                Unhandled::Refuse => return Err(BuildError::Unhandled { topic, event }),
                Unhandled::Warn => tracing::warn!(
                    topic,
                    event,
                    "no handler for a declared topic: its events will stay in the outbox"
                ),
                Unhandled::Ignore => {}
            }
        }
    }
    Ok(())
}
