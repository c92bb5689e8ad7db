//! Dispatchers in the server's default isolation, told of conflicts in another language. B035.

use super::{
    database::Database,
    harness::{MariaDb, Sessions},
};
use outbox_tests::conformance::dispatcher::{Scene, crowd};
use sea_orm::ConnectionTrait;

#[tokio::test(flavor = "multi_thread")]
async fn many_dispatchers_deliver_each_event_once() {
    for first in [
        "SET SESSION tx_isolation = 'REPEATABLE-READ', lc_messages = 'de_DE'",
        "SET SESSION tx_isolation = 'SERIALIZABLE', lc_messages = 'de_DE'",
    ] {
        let mut database = Database::fresh().await;
        database.db = database.open(16, first).await;
        let german = database
            .db
            .execute_unprepared("SELECT nothing FROM nowhere");
        let german = german.await.unwrap_err().to_string();
        assert!(german.contains("Tabelle"), "{german}");
        let scene = Scene::<MariaDb>::over(Sessions(database));
        crowd::many_dispatchers_deliver_each_event_once(&scene).await;
    }
}
