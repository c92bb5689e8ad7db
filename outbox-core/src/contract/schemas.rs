use super::{
    ContractError,
    payload::{Payload, payloads},
};
use crate::event::{Catalogue, Contract, OutboxEvent, TopicSpec};
use schemars::JsonSchema;
use serde_json::Value;

/// The event types of a program, with the JSON Schema of each topic's payload.
///
/// What a program writes, in a form that others can read: [`check`](super::check) compares it with
/// what was written before, [`markdown`](Self::markdown) and [`asyncapi`](Self::asyncapi) tell it to
/// those who consume the events.
///
/// ```
/// use outbox_core::{OutboxEvent, contract::{ContractError, Schemas}};
/// use schemars::JsonSchema;
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Serialize, Deserialize, JsonSchema, OutboxEvent)]
/// #[outbox(aggregate = "order", crate = outbox_core)]
/// enum OrderEvent {
///     Placed { #[outbox(key)] order_id: u64 },
/// }
///
/// # fn main() -> Result<(), ContractError> {
/// let schemas = Schemas::new().with::<OrderEvent>()?;
/// let placed = schemas.schema("order.placed").unwrap();
/// assert_eq!(placed["properties"]["order_id"]["format"], "uint64");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default)]
pub struct Schemas {
    catalogue: Catalogue,
    /// Of each topic of the catalogue, in its order.
    payloads: Vec<Payload>,
}

impl Schemas {
    /// The schemas of no types yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The schemas with those of one more type.
    ///
    /// # Errors
    /// When the type's `JsonSchema` is not what its `Serialize` writes, as far as that can be seen: that
    /// of an enum must be one of an externally tagged enum.
    pub fn with<E: OutboxEvent + JsonSchema>(mut self) -> Result<Self, ContractError> {
        let known = self.catalogue.contracts().len();
        self.catalogue = self.catalogue.with::<E>();
        if self.catalogue.contracts().len() > known {
            self.payloads.extend(payloads::<E>()?);
        }
        match self.catalogue.clash() {
            Some(clash) => Err(ContractError::clash(clash)),
            None => Ok(self),
        }
    }

    /// The types and their topics.
    #[must_use]
    pub fn catalogue(&self) -> &Catalogue {
        &self.catalogue
    }

    /// The JSON Schema (draft 7) of what is written to a topic now, complete in itself.
    #[must_use]
    pub fn schema(&self, topic: &str) -> Option<&Value> {
        let mut topics = self.topics();
        let found = topics.find(|(_, spec, _)| spec.name == topic);
        found.map(|(.., payload)| &payload.written)
    }

    pub(super) fn topics(&self) -> impl Iterator<Item = (&Contract, &'static TopicSpec, &Payload)> {
        let topics = self.catalogue.topics().zip(&self.payloads);
        topics.map(|((contract, spec), payload)| (contract, spec, payload))
    }
}
