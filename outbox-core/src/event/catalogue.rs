use super::{Contract, OutboxEvent, TopicSpec};
use std::{collections::BTreeMap, fmt::Write};

/// The event types of a program: what it may write into its outbox.
///
/// A dispatcher that is given one refuses handlers of topics that no type declares, and tells of
/// topics that nobody handles: see
/// [`DispatcherBuilder::catalogue`](crate::DispatcherBuilder::catalogue). It is also the source of
/// the documentation for those who consume the events.
///
/// ```
/// use outbox_core::{Catalogue, OutboxEvent};
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Serialize, Deserialize, OutboxEvent)]
/// #[outbox(aggregate = "order", crate = outbox_core)]
/// enum OrderEvent {
///     Placed(#[outbox(key)] u64),
///     #[outbox(was = "order.mail", unordered)]
///     Receipt,
/// }
///
/// let catalogue = Catalogue::new().with::<OrderEvent>();
/// assert_eq!(catalogue.topics().count(), 2);
/// assert!(catalogue.markdown().contains("| `order.placed` | 1 | order | yes | `OrderEvent::Placed` |"));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Catalogue {
    contracts: Vec<Contract>,
}

/// A topic that two event types declare.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Clash {
    /// The topic, or the former name of one.
    pub topic: &'static str,
    /// The types that declare it.
    pub events: [&'static str; 2],
}

impl Catalogue {
    /// A catalogue without any types.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The catalogue with one more type.
    #[must_use]
    pub fn with<E: OutboxEvent>(mut self) -> Self {
        self.add(E::CONTRACT);
        self
    }

    /// Adds a type's contract, unless it is there.
    pub(crate) fn add(&mut self, contract: Contract) {
        if !self.contracts.contains(&contract) {
            self.contracts.push(contract);
        }
    }

    /// The contracts of the types, in the order in which they were added.
    #[must_use]
    pub fn contracts(&self) -> &[Contract] {
        &self.contracts
    }

    /// Every topic, with the contract of the type that declares it.
    pub fn topics(&self) -> impl Iterator<Item = (&Contract, &'static TopicSpec)> {
        let of = |contract| move |topic| (contract, topic);
        self.contracts
            .iter()
            .flat_map(move |contract| contract.topics.iter().map(of(contract)))
    }

    /// Whether a type declares a topic of this name, or one that was called so.
    #[must_use]
    pub fn declares(&self, topic: &str) -> bool {
        self.contracts
            .iter()
            .any(|contract| contract.find(topic).is_some())
    }

    /// The first topic that two types declare, if there is one.
    #[must_use]
    pub fn clash(&self) -> Option<Clash> {
        let mut declared = BTreeMap::new();
        for (contract, spec) in self.topics() {
            for topic in spec.names() {
                match declared.insert(topic, contract) {
                    Some(other) if other != contract => {
                        return Some(Clash {
                            topic,
                            events: [other.event, contract.event],
                        });
                    }
                    _ => {}
                }
            }
        }
        None
    }

    /// A table of all topics for the documentation, in Markdown.
    #[must_use]
    pub fn markdown(&self) -> String {
        let mut table = "| topic | version | aggregate | in order | event | was |\n\
                         |---|---|---|---|---|---|\n"
            .to_owned();
        for (contract, spec) in self.topics() {
            let order = if spec.ordered { "yes" } else { "no" };
            let was: Vec<String> = spec.was.iter().map(|was| format!("`{was}`")).collect();
            // Writing to a String cannot fail.
            let _ = writeln!(
                table,
                "| `{}` | {} | {} | {order} | `{}` | {} |",
                spec.name,
                spec.version,
                contract.aggregate,
                contract.rust_name(spec),
                was.join(", "),
            );
        }
        table
    }
}
