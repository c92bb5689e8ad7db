//! Sessions that are set up in a way in which no dispatcher works.

use super::database::{Database, emit};
use outbox_core::store::StoreErrorKind;
use outbox_seaorm::{
    Dispatcher,
    schema::{self, SchemaErrorKind},
};
use outbox_tests::conformance::Thing;
use std::time::Duration;

#[tokio::test]
async fn sessions_in_which_no_dispatcher_works_are_told() {
    let database = Database::fresh().await;
    for (number, (first, told)) in [
        (
            "SET autocommit = 0",
            "the outbox needs sessions with autocommit = 1, and these have autocommit = 0",
        ),
        (
            "SET sql_mode = 'EMPTY_STRING_IS_NULL'",
            "the outbox needs sessions with a sql_mode without EMPTY_STRING_IS_NULL, \
             and these have a sql_mode with it",
        ),
    ]
    .into_iter()
    .enumerate()
    {
        let db = database.open(2, first).await;
        for error in [
            schema::check(&db).await.unwrap_err(),
            schema::create(&db).await.unwrap_err(),
        ] {
            assert_eq!(error.kind(), SchemaErrorKind::SessionSettings);
            assert_eq!(error.to_string(), told);
        }
        let dispatcher = Dispatcher::builder(&db).on_event(|_: Thing, _| async { Ok(()) });
        let dispatcher = dispatcher.build().unwrap();
        let refused = dispatcher.run_until_idle(Duration::from_secs(60)).await;
        assert_eq!(refused.unwrap_err().kind(), StoreErrorKind::Schema);
        // What has a transaction of its own is as it is anywhere.
        emit(&db, Thing::said("one")).await;
        let events = database.values::<i64>("SELECT COUNT(*) AS v FROM outbox_event");
        assert_eq!(events.await, [i64::try_from(number).unwrap() + 1]);
    }
}
