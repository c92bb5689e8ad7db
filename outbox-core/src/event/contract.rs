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
    /// The payload's schema version, sent in the header `schema_version`.
    pub version: u32,
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

    /// The index of the topic with this name.
    #[must_use]
    pub fn find(&self, topic: &str) -> Option<usize> {
        self.topics.iter().position(|spec| spec.name == topic)
    }
}

impl TopicSpec {
    /// Describes an ordered topic of version 1.
    #[must_use]
    pub const fn new(name: &'static str, variant: &'static str) -> Self {
        Self {
            name,
            variant,
            version: 1,
            ordered: true,
        }
    }

    /// The same topic at another schema version.
    #[must_use]
    pub const fn version(self, version: u32) -> Self {
        Self { version, ..self }
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
