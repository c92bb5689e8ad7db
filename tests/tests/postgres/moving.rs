//! Delayed events that change under whoever moves them. Interleaving 28.

use super::harness::Postgres;
use outbox_tests::conformance::{Actor, Harness, Thing};
use sea_orm::TransactionTrait;
use std::time::Duration;

#[tokio::test]
async fn an_event_that_is_put_off_while_it_is_about_to_move_stays() {
    let harness = Postgres::<false>::fresh().await;
    let soon = Duration::from_millis(1);
    let put_off = harness.emit(Thing::said("put off").after(soon)).await;
    let moved = harness.emit(Thing::said("moved").after(2 * soon)).await;
    harness.pass(20 * soon).await;
    let owner = Actor::owner(&harness).await;

    let operator = harness.0.db.begin().await.unwrap();
    let sql = "UPDATE outbox_delayed SET due_at = due_at + INTERVAL '1 hour' WHERE id = $1";
    super::database::execute(&operator, sql, [put_off.into()]).await;
    let mover = owner.clone();
    let mover = tokio::spawn(async move { mover.move_due(10).await });
    harness.0.wait_for_waiters().await;
    operator.commit().await.unwrap();
    assert_eq!(mover.await.unwrap(), Some(1));
    assert_eq!(harness.delayed().await, [put_off]);
    let rows = owner.rows().await;
    assert_eq!(rows.iter().map(|row| row.id).collect::<Vec<_>>(), [moved]);
}
