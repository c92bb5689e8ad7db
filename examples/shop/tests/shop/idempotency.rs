//! One key, one order.

use crate::site::{Site, tea};
use sea_orm::{EntityTrait, PaginatorTrait};
use serde_json::json;
use shop::entities::{item, order, payment};
use std::sync::Arc;
use tokio::task::JoinSet;

#[tokio::test(flavor = "multi_thread")]
async fn twenty_equal_orders_at_once_are_one() {
    let site = Arc::new(Site::start().await);
    let mut posts = JoinSet::new();
    for _ in 0..20 {
        let site = Arc::clone(&site);
        posts.spawn(async move { site.order("the key", &tea()).await });
    }
    let answers = posts.join_all().await;
    assert_eq!(answers[0].status, 201);
    assert!(
        answers.iter().all(|answer| *answer == answers[0]),
        "{answers:?}"
    );

    site.until(&answers[0], "shipped").await;
    assert_eq!(site.delivered().await.len(), 3);
    assert_eq!(order::Entity::find().count(site.db()).await.unwrap(), 1);
    assert_eq!(payment::Entity::find().count(site.db()).await.unwrap(), 1);
    let left = item::Entity::find_by_id("tea")
        .one(site.db())
        .await
        .unwrap();
    assert_eq!(left.unwrap().in_stock, 999_998);
    Arc::into_inner(site).unwrap().stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn different_orders_at_once_are_all_placed() {
    let site = Arc::new(Site::start().await);
    let mut posts = JoinSet::new();
    for number in 0..20 {
        let site = Arc::clone(&site);
        posts.spawn(async move { site.order(&number.to_string(), &tea()).await });
    }
    let answers = posts.join_all().await;
    assert!(
        answers.iter().all(|answer| answer.status == 201),
        "{answers:?}"
    );
    for answer in &answers {
        site.until(answer, "shipped").await;
    }
    assert_eq!(site.delivered().await.len(), 60);
    Arc::into_inner(site).unwrap().stop().await;
}

#[tokio::test]
async fn the_same_answer_after_the_order_was_shipped() {
    let site = Site::start().await;
    let first = site.order("1", &tea()).await;
    site.until(&first, "shipped").await;
    assert_eq!(site.order("1", &tea()).await, first);
    site.stop().await;
}

#[tokio::test]
async fn a_key_is_not_for_another_order() {
    let site = Site::start().await;
    let first = site.order("1", &tea()).await;
    let mut other = tea();
    other["quantity"] = json!(3);
    assert_eq!(site.order("1", &other).await.status, 422);
    site.until(&first, "shipped").await;
    assert_eq!(site.delivered().await.len(), 3);
    site.stop().await;
}
