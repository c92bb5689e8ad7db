use crate::{entities::order, error::Error};
use serde::Deserialize;

/// An order as a customer sends it.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewOrder {
    /// Where the confirmation goes.
    pub mail: String,
    /// Where the parcel goes.
    pub address: String,
    /// The name of an item.
    pub item: String,
    /// How many of them.
    pub quantity: i32,
}

impl NewOrder {
    pub(super) fn check(&self) -> Result<(), Error> {
        let texts = [&self.mail, &self.address, &self.item];
        let problem = if texts.iter().any(|text| text.contains(char::is_control)) {
            "no control characters, please"
        } else if texts.iter().any(|text| text.len() > 255) {
            "no more than 255 bytes for each text, please"
        } else if !self.mail.contains('@') {
            "`mail` is not a mail address"
        } else if self.address.trim().is_empty() {
            "`address` is missing"
        } else if !(1..=1_000).contains(&self.quantity) {
            "`quantity` must be from 1 to 1000"
        } else {
            return Ok(());
        };
        Err(Error::Invalid(problem.to_owned()))
    }

    pub(super) fn is_of(&self, order: &order::Model) -> bool {
        (&self.mail, &self.address, &self.item, self.quantity)
            == (&order.mail, &order.address, &order.item, order.quantity)
    }
}
