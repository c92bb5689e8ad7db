//! Delivers the events to services that are pretended by a table and a short wait.
//!
//! Delivery is at least once. Each handler writes its row under the event's id, so that a second
//! delivery changes nothing; a real service would get that id as its idempotency key.

use crate::{
    events::{Letter, OrderEvent, Parcel, Payment},
    model::{charge, mail, parcel},
};
use outbox_seaorm::{
    BuildError, CancellationToken, Delivery, Dispatcher, DispatcherHandle, HandlerError, OnDead,
    RetryPolicy,
};
use sea_orm::{
    ColumnTrait, DatabaseConnection, DbErr, EntityTrait, PaginatorTrait, QueryFilter, Set,
    prelude::Uuid,
};
use std::time::Duration;

/// How long an earlier run that was killed keeps its events. Short, so that nobody waits here; the
/// library's default is longer.
pub(crate) const LEASE: Duration = Duration::from_secs(3);

/// What the handlers need.
struct App {
    db: DatabaseConnection,
    latency: Duration,
}

pub(crate) fn start(
    db: &DatabaseConnection,
    latency: Duration,
    stop: CancellationToken,
) -> Result<DispatcherHandle, BuildError> {
    Dispatcher::builder(db)
        .on(OrderEvent::CHARGE, charge)
        .on(OrderEvent::REFUND, refund)
        // An order that cannot be shipped can still be paid back.
        .topic(OrderEvent::SHIP, |t| {
            t.handler(ship).on_dead(OnDead::Continue)
        })
        .topic(OrderEvent::RECEIPT, |t| {
            t.handler(send)
                .concurrency(4)
                .timeout(Duration::from_secs(30))
                .retry(RetryPolicy::quick().retries(5))
        })
        .with_state(App {
            db: db.clone(),
            latency,
        })
        .lease(LEASE)
        // An event that was in work each time a process died becomes a dead letter. Here processes
        // die because someone kills them, and no event is to blame.
        .configure(|config| config.crash_limit = u32::MAX)
        .spawn(stop)
}

async fn charge(payment: Payment, delivery: Delivery) -> Result<(), HandlerError> {
    let app = delivery.state::<App>()?;
    app.call_service().await;
    app.book(
        &payment.order_id,
        payment.amount,
        &payment.currency,
        delivery.id(),
    )
    .await?;
    Ok(())
}

async fn refund(payment: Payment, delivery: Delivery) -> Result<(), HandlerError> {
    let app = delivery.state::<App>()?;
    // Both events have the key of the order that was paid, so its charge has been handled.
    if !app.has_charged(&payment.order_id).await? {
        let why = format!("{} was never charged", payment.order_id);
        return Err(HandlerError::dead(why));
    }
    app.call_service().await;
    app.book(
        &payment.order_id,
        -payment.amount,
        &payment.currency,
        delivery.id(),
    )
    .await?;
    Ok(())
}

async fn ship(parcel: Parcel, delivery: Delivery) -> Result<(), HandlerError> {
    let app = delivery.state::<App>()?;
    app.call_service().await;
    if parcel.country == "AQ" {
        return Err(HandlerError::dead("no carrier goes to Antarctica"));
    }
    let row = parcel::ActiveModel {
        event_id: Set(delivery.id()),
        order_id: Set(parcel.order_id),
        customer: Set(parcel.customer),
        country: Set(parcel.country),
    };
    parcel::Entity::insert(row)
        .on_conflict_do_nothing()
        .exec_without_returning(&app.db)
        .await?;
    Ok(())
}

async fn send(letter: Letter, delivery: Delivery) -> Result<(), HandlerError> {
    let app = delivery.state::<App>()?;
    app.call_service().await;
    if letter.recipient.ends_with("@greylist.example") && delivery.attempt() == 1 {
        return Err(HandlerError::retry("451 greylisted, try again later"));
    }
    let row = mail::ActiveModel {
        event_id: Set(delivery.id()),
        order_id: Set(letter.order_id),
        recipient: Set(letter.recipient),
        subject: Set(letter.subject),
    };
    mail::Entity::insert(row)
        .on_conflict_do_nothing()
        .exec_without_returning(&app.db)
        .await?;
    Ok(())
}

impl App {
    async fn call_service(&self) {
        tokio::time::sleep(self.latency).await;
    }

    async fn book(
        &self,
        order_id: &str,
        amount: i64,
        currency: &str,
        event_id: Uuid,
    ) -> Result<(), DbErr> {
        let row = charge::ActiveModel {
            event_id: Set(event_id),
            order_id: Set(order_id.to_owned()),
            currency: Set(currency.to_owned()),
            amount: Set(amount),
        };
        charge::Entity::insert(row)
            .on_conflict_do_nothing()
            .exec_without_returning(&self.db)
            .await?;
        Ok(())
    }

    async fn has_charged(&self, order_id: &str) -> Result<bool, DbErr> {
        let charges = charge::Entity::find().filter(charge::Column::OrderId.eq(order_id));
        Ok(charges.count(&self.db).await? > 0)
    }
}
