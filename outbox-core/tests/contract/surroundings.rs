//! What else may stand on and around an event type.

#![deny(warnings)]

use crate::support::{delivered, emitted};
use outbox_seaorm::OutboxEvent;
use serde::{Deserialize, Serialize};

/// The names that generated code needs are not taken from where the type stands.
mod shadowed {
    #![allow(dead_code, non_camel_case_types)]

    use outbox_seaorm::OutboxEvent;
    use serde::{Deserialize, Serialize};

    struct Option;
    struct String;
    struct Some;
    struct None;
    struct Result;
    struct usize;
    struct Contract;
    struct Topic;
    mod core {}
    mod std {}
    mod outbox_core {}

    #[derive(Serialize, Deserialize, OutboxEvent)]
    #[outbox(aggregate = "order")]
    pub(crate) enum Event {
        Placed(#[outbox(key)] u64),
        #[outbox(unordered)]
        Closed,
    }
}

#[test]
fn generated_paths_are_absolute() {
    assert_eq!(
        emitted(&shadowed::Event::Placed(1)).key.as_deref(),
        Some("1")
    );
}

mod visibility {
    #![deny(missing_docs, unreachable_pub, clippy::all)]

    use outbox_seaorm::OutboxEvent;
    use serde::{Deserialize, Serialize};

    #[derive(Serialize, Deserialize)]
    struct Private;

    #[derive(Serialize, Deserialize, OutboxEvent)]
    #[outbox(aggregate = "order")]
    enum Hidden {
        #[outbox(unordered)]
        Placed(Private),
    }

    #[test]
    fn a_topic_is_as_visible_as_its_type() {
        assert_eq!(
            super::emitted(&Hidden::Placed(Private)).topic,
            Hidden::PLACED.name()
        );
    }
}

/// A domain crate depends on outbox-core alone.
#[derive(Debug, PartialEq, Serialize, Deserialize, outbox_core::OutboxEvent)]
#[outbox(aggregate = "order", crate = outbox_core)]
enum CoreOnly {
    Placed(#[outbox(key)] u64),
}

/// An application may re-export the library from a crate, or a module, of its own.
mod facade {
    pub(super) mod messaging {
        pub(crate) use outbox_seaorm as renamed;
    }
}

#[derive(Debug, PartialEq, Serialize, Deserialize, OutboxEvent)]
#[outbox(aggregate = "order", crate = facade::messaging::renamed)]
enum Renamed {
    #[outbox(version = 2, upcast(1 = u64::from_be))]
    Placed(#[outbox(key)] u64),
}

#[test]
fn the_crate_can_be_named() {
    assert_eq!(delivered(&CoreOnly::Placed(4), CoreOnly::PLACED), 4);
    assert_eq!(delivered(&Renamed::Placed(4), Renamed::PLACED), 4);
}

#[derive(Debug, PartialEq, Serialize, Deserialize, OutboxEvent)]
#[outbox(aggregate = "order")]
#[non_exhaustive]
enum Attributes {
    /// A documented variant.
    #[cfg(not(test))]
    #[outbox(unordered)]
    Extra,
    #[cfg(test)]
    #[outbox(unordered)]
    Without {
        #[cfg(not(test))]
        extra: u8,
        #[cfg(test)]
        without: u8,
    },
    #[deprecated = "use `Placed`"]
    #[outbox(unordered)]
    Old {
        #[deprecated]
        id: u8,
    },
    #[cfg_attr(all(), outbox(key_const = "all"))]
    Placed,
}

#[test]
fn variants_under_cfg_shift_no_other() {
    assert_eq!(Attributes::CONTRACT.topics.len(), 3);
    assert_eq!(
        delivered(&Attributes::Placed, Attributes::PLACED),
        Attributes::Placed
    );
    assert_eq!(Attributes::OLD.name(), "order.old");
    #[cfg(not(test))]
    assert_eq!(
        delivered(&Attributes::Extra, Attributes::EXTRA),
        Attributes::Extra
    );
    #[cfg(test)]
    {
        let event = Attributes::Without { without: 1 };
        assert_eq!(delivered(&event, Attributes::WITHOUT), event);
    }
}

macro_rules! event {
    (
        $vis:vis $name:ident, $aggregate:literal, $version:expr, $key:ident: $key_ty:ty,
        $variant:ident($content:ty)
    ) => {
        #[derive(Debug, PartialEq, Serialize, Deserialize, OutboxEvent)]
        #[outbox(aggregate = $aggregate)]
        $vis enum $name {
            #[outbox(version = $version, oldest = 2)]
            Named { #[outbox(key)] $key: $key_ty, value: Option<$content> },
            #[outbox(key_const = $aggregate)]
            $variant($content),
        }
    };
}

event!(pub(crate) Made, "made", 2, id: u64, Content(Vec<String>));

#[test]
fn enums_made_by_a_macro() {
    let event = Made::Named { id: 5, value: None };
    assert_eq!(emitted(&event).key.as_deref(), Some("5"));
    assert_eq!(Made::NAMED.spec().version, 2);
    let event = Made::Content(vec!["a".into()]);
    assert_eq!(emitted(&event).key.as_deref(), Some("made"));
    assert_eq!(delivered(&event, Made::CONTENT), ["a"]);
}
