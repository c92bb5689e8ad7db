//! What an orchestrator sees.

use crate::site::Site;

#[tokio::test]
async fn a_database_that_is_gone_makes_it_unready_and_not_dead() {
    let site = Site::start().await;
    assert_eq!(site.get("/health/live").await.status, 200);
    assert_eq!(site.get("/health/ready").await.status, 200);
    assert_eq!(site.get("/health").await.body["ready"], true);

    site.db().clone().close().await.unwrap();
    assert_eq!(site.get("/health/live").await.status, 200);
    assert_eq!(site.get("/health/ready").await.status, 503);
    assert_eq!(site.get("/health").await.status, 503);
    site.stop().await;
}
