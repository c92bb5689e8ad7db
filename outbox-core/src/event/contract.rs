/// The static description of an event type: its aggregate and its topics.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Contract {
    /// The event type's name, for messages.
    pub event: &'static str,
    /// The kind of aggregate the events belong to: `order`, `customer`.
    pub aggregate: &'static str,
    /// Whether the type is a struct (one topic) or an enum (a topic a variant).
    pub shape: Shape,
    /// The topics; an enum's stand in the order of its variants.
    pub topics: &'static [TopicSpec],
    /// Whether emitting decodes what it has just encoded, so that a payload that could never be
    /// read is an error in the caller's hand.
    pub verify: bool,
}

/// How the payload of an event type is taken apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Shape {
    /// The payload is the struct itself.
    Struct,
    /// The struct has no fields: the payload is `{}`, and whatever is read will do.
    Unit,
    /// The payload is the variant's content; the topic says which variant.
    Enum,
}

/// The static description of one topic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct TopicSpec {
    /// The topic's name: `order.placed`.
    pub name: &'static str,
    /// The variant's (or struct's) Rust name, for messages.
    pub variant: &'static str,
    /// What the topic was called before: events of these names are handled as its own.
    pub was: &'static [&'static str],
    /// The payload's schema version, sent in the header `schema_version`.
    pub version: u32,
    /// The oldest schema version that can still be read.
    pub oldest: u32,
    /// Whether the payload says nothing: the variant, or struct, has no fields.
    pub unit: bool,
    /// Whether events of one aggregate are delivered in the order they were written.
    pub ordered: bool,
}

impl Contract {
    /// Describes an event type; the derive writes this call.
    #[must_use]
    pub const fn new(
        event: &'static str,
        aggregate: &'static str,
        shape: Shape,
        topics: &'static [TopicSpec],
    ) -> Self {
        Self {
            event,
            aggregate,
            shape,
            topics,
            verify: true,
        }
    }

    /// The same contract without decoding what was just encoded.
    #[must_use]
    pub const fn unverified(self) -> Self {
        Self {
            verify: false,
            ..self
        }
    }

    /// How Rust calls what is written to a topic: `OrderEvent::Placed`, or a struct's name.
    #[must_use]
    pub fn rust_name(&self, topic: &TopicSpec) -> String {
        match self.shape {
            Shape::Struct | Shape::Unit => self.event.to_owned(),
            Shape::Enum => format!("{}::{}", self.event, topic.variant),
        }
    }

    /// The index of the topic that has this name, or had it.
    #[must_use]
    pub fn find(&self, topic: &str) -> Option<usize> {
        self.topics
            .iter()
            .position(|spec| spec.names().any(|name| name == topic))
    }
}

impl TopicSpec {
    /// Describes an ordered topic of version 1.
    #[must_use]
    pub const fn new(name: &'static str, variant: &'static str) -> Self {
        Self {
            name,
            variant,
            was: &[],
            version: 1,
            oldest: 1,
            unit: false,
            ordered: true,
        }
    }

    /// The same topic at another schema version.
    #[must_use]
    pub const fn version(self, version: u32) -> Self {
        Self { version, ..self }
    }

    /// The same topic, which had other names before.
    #[must_use]
    pub const fn was(self, was: &'static [&'static str]) -> Self {
        Self { was, ..self }
    }

    /// The same topic without what reads the versions before `oldest`.
    #[must_use]
    pub const fn oldest(self, oldest: u32) -> Self {
        Self { oldest, ..self }
    }

    /// The same topic, whose payload says nothing.
    #[must_use]
    pub const fn unit(self) -> Self {
        Self { unit: true, ..self }
    }

    /// The topic's name, and those that it had before.
    pub fn names(&self) -> impl Iterator<Item = &'static str> + use<> {
        std::iter::once(self.name).chain(self.was.iter().copied())
    }

    /// The same topic without an order among the events of an aggregate.
    #[must_use]
    pub const fn unordered(self) -> Self {
        Self {
            ordered: false,
            ..self
        }
    }
}
