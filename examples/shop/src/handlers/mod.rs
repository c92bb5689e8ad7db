//! What happens after an order was placed.
//!
//! Delivery is at least once, so each handler is of the kind that is right anyway: see
//! [`outbox_seaorm::consumers`].

mod charge;
mod fulfil;
mod confirm;
mod reorder;

pub use charge::charge;
pub use confirm::Confirm;
pub use fulfil::{decline, fulfil};
pub use reorder::reorder;

use crate::{
    app::App,
    events::{OrderEvent, StockLow},
};
use outbox_seaorm::{Delivery, Dispatcher, DispatcherBuilder, SeaOrmStore, headers};
use std::time::Duration;

/// The dispatcher with the shop's handlers.
pub fn dispatcher(app: &App) -> DispatcherBuilder<SeaOrmStore> {
    let confirm = Confirm { app: app.clone() };
    Dispatcher::builder(&app.db)
        // Calls a service, with an idempotency key.
        .topic(OrderEvent::CHARGE, |t| {
            t.handler(charge).timeout(Duration::from_secs(30))
        })
        // Write rows of this database only: exactly once.
        .on_transactional(OrderEvent::PAID, fulfil)
        .on_transactional(OrderEvent::DECLINED, decline)
        // Calls a service that takes many at once.
        .topic(OrderEvent::CONFIRMATION, |t| {
            t.batch(50, confirm).concurrency(4)
        })
        .on(StockLow::TOPIC, reorder)
        .with_state(app.clone())
}

/// The request that it all began with.
fn request(delivery: &Delivery) -> Option<&str> {
    delivery.headers().text(headers::CORRELATION_ID)
}
