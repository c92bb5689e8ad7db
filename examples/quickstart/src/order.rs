//! An order as it comes in, and the rules that it must keep.

use crate::{
    events::{Letter, OrderEvent, Parcel, Payment},
    model::order,
};
use sea_orm::{ConnectionTrait, DbErr, EntityTrait, QuerySelect, Set};
use serde::Deserialize;

const CURRENCIES: [&str; 5] = ["EUR", "GBP", "INR", "JPY", "USD"];

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Order {
    pub(crate) id: String,
    customer: String,
    mail: String,
    country: String,
    currency: String,
    amount: i64,
    #[serde(default)]
    digital: bool,
    pub(crate) refund_of: Option<String>,
}

impl Order {
    pub(crate) fn row(&self) -> order::ActiveModel {
        order::ActiveModel {
            id: Set(self.id.clone()),
            customer: Set(self.customer.clone()),
            mail: Set(self.mail.clone()),
            country: Set(self.country.clone()),
            currency: Set(self.currency.clone()),
            amount: Set(self.amount),
            digital: Set(self.digital),
            refund_of: Set(self.refund_of.clone()),
        }
    }

    /// What the order sets off: a payment, a receipt, and a parcel when there is something to ship.
    pub(crate) fn events(&self) -> Vec<OrderEvent> {
        let payment = |order_id: &str| Payment {
            order_id: order_id.to_owned(),
            currency: self.currency.clone(),
            amount: self.amount,
        };
        let receipt = |subject: &str| {
            OrderEvent::Receipt(Letter {
                order_id: self.id.clone(),
                recipient: self.mail.clone(),
                subject: format!("{subject}, {}", self.customer),
            })
        };
        if let Some(paid) = &self.refund_of {
            return vec![
                OrderEvent::Refund(payment(paid)),
                receipt("Your money is on its way"),
            ];
        }
        let mut events = vec![
            OrderEvent::Charge(payment(&self.id)),
            receipt("Thank you for your order"),
        ];
        if !self.digital {
            events.push(OrderEvent::Ship(Parcel {
                order_id: self.id.clone(),
                customer: self.customer.clone(),
                country: self.country.clone(),
            }));
        }
        events
    }

    /// Locks the order that this one pays back, if it does.
    pub(crate) async fn lock_paid(&self, db: &impl ConnectionTrait) -> Result<(), DbErr> {
        if let Some(paid) = &self.refund_of {
            order::Entity::find_by_id(paid)
                .lock_exclusive()
                .one(db)
                .await?;
        }
        Ok(())
    }

    /// Why the order must be refused, if it must.
    pub(crate) async fn refusal(&self, db: &impl ConnectionTrait) -> Result<Option<String>, DbErr> {
        if self.amount <= 0 {
            return Ok(Some(format!("amount {} is not positive", self.amount)));
        }
        if !CURRENCIES.contains(&self.currency.as_str()) {
            return Ok(Some(format!("unknown currency {:?}", self.currency)));
        }
        if !self.mail.contains('@') {
            return Ok(Some(format!("{:?} is not a mail address", self.mail)));
        }
        let Some(paid) = &self.refund_of else {
            return Ok(None);
        };
        Ok(match order::Entity::find_by_id(paid).one(db).await? {
            None => Some(format!("pays back {paid}, which nobody ordered")),
            Some(sale) if sale.refund_of.is_some() => Some(format!("{paid} is a refund itself")),
            Some(sale) if sale.currency != self.currency || sale.amount < self.amount => {
                Some(format!("pays back more than {paid} cost"))
            }
            Some(_) => None,
        })
    }
}
