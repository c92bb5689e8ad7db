//! Each handler, whatever befalls it.

use crate::site::{app, tea};
use outbox_seaorm::{
    CancellationToken, Dispatcher,
    testing::{Accept, Faulty, Recorder, assert_emitted},
};
use sea_orm::{EntityTrait, PaginatorTrait};
use serde_json::json;
use shop::{
    app::App,
    entities::{mail, order, order::Status, payment, shipment},
    events::{OrderEvent, StockLow},
    handlers::{self, Confirm, fulfil},
    mailer::FakeMailer,
    orders,
};
use std::{sync::Arc, time::Duration};

async fn place(app: &App, key: &str, item: &str, mail: &str) -> order::Model {
    let mut order = tea();
    (order["item"], order["mail"], order["quantity"]) = (item.into(), mail.into(), json!(1));
    let order = serde_json::from_value(order).unwrap();
    orders::place(&app.db, "acme", key, &order).await.unwrap()
}

#[tokio::test]
async fn an_order_is_fulfilled_once_however_often_its_handler_runs() {
    let (app, _folder) = app().await;
    let placed = place(&app, "1", "tea", "ada@example.com").await;
    let recorder = Recorder::new();
    // It panics, hangs, and twice it does everything and fails then.
    let flaky = Faulty::new(recorder.wrap(fulfil))
        .panics(1)
        .hangs(1)
        .forgets(2);
    let dispatcher = Dispatcher::builder(&app.db)
        .on(OrderEvent::CHARGE, handlers::charge)
        .topic(OrderEvent::PAID, |t| {
            t.transactional(flaky).timeout(Duration::from_millis(100))
        })
        .on_event::<OrderEvent>(Accept)
        .with_state(app.clone())
        .build()
        .unwrap();
    let drained = dispatcher.fast_forward().await.unwrap();
    assert_eq!(drained.of(OrderEvent::PAID).len(), 5);
    assert_eq!(recorder.seen().len(), 3);

    assert_eq!(payment::Entity::find().count(&app.db).await.unwrap(), 1);
    assert_eq!(shipment::Entity::find().count(&app.db).await.unwrap(), 1);
    let found = order::Entity::find_by_id(placed.id).one(&app.db).await;
    assert_eq!(found.unwrap().unwrap().status, Status::Shipped);
}

#[tokio::test]
async fn mails_go_out_together_and_each_once() {
    let (mut app, _folder) = app().await;
    let mailer = Arc::new(FakeMailer::default());
    app.mailer = mailer.clone();
    for number in 0..5 {
        let customer = ["ada@example.com", "nobody@example.invalid"][usize::from(number == 3)];
        place(&app, &number.to_string(), "tea", customer).await;
    }
    let recorder = Recorder::new();
    let confirm = Confirm { app: app.clone() };
    let flaky = Faulty::new(recorder.wrap(confirm)).forgets(1);
    let dispatcher = Dispatcher::builder(&app.db)
        .topic(OrderEvent::CONFIRMATION, |t| {
            t.batch(50, flaky).linger(Duration::from_millis(200))
        })
        .on_event::<OrderEvent>(Accept)
        .build()
        .unwrap();
    let drained = dispatcher.fast_forward().await.unwrap();
    assert_eq!(recorder.seen()[0].together, 5);
    assert_eq!(recorder.duplicates().len(), 4);
    assert_eq!(mailer.sent().len(), 4);
    assert_eq!(mail::Entity::find().count(&app.db).await.unwrap(), 4);
    // Nobody reads the fifth one, and it holds back nobody.
    assert_eq!(drained.summary.dead, 1);
}

#[tokio::test]
async fn the_buyer_is_told_once_a_day_that_there_is_little_left() {
    let (mut app, _folder) = app().await;
    let mailer = Arc::new(FakeMailer::default());
    app.mailer = mailer.clone();
    place(&app, "1", "teapot", "ada@example.com").await;
    place(&app, "2", "teapot", "bob@example.com").await;
    assert_emitted!(
        &app.db,
        [
            OrderEvent::Charge(_),
            OrderEvent::Confirmation(_),
            StockLow { left: 2, .. },
            OrderEvent::Charge(_),
            OrderEvent::Confirmation(_),
        ]
    );
    let day = Duration::from_secs(24 * 60 * 60);
    outbox_seaorm::testing::advance(&app.db, day).await.unwrap();
    place(&app, "3", "teapot", "eve@example.com").await;
    assert_emitted!(&app.db, [.., StockLow { left: 0, .. }]);

    let recorder = Recorder::new();
    let dispatcher = Dispatcher::builder(&app.db)
        .on(StockLow::TOPIC, recorder.wrap(handlers::reorder))
        .with_state(app)
        .spawn(CancellationToken::new())
        .unwrap();
    recorder.wait_for(StockLow::TOPIC, 2).await.unwrap();
    dispatcher.shutdown().await;
    assert_eq!(mailer.sent().len(), 2);
}
