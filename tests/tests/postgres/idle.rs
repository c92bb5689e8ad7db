//! Transactions whose process stands still, or is not heard of any more.

use super::{
    database::{self, Database},
    harness::Postgres,
};
use outbox_core::{
    Delivery,
    store::{Claim, TransactionalStore},
};
use outbox_seaorm::SeaOrmStore;
use outbox_tests::{
    Proxy,
    conformance::{
        Actor, Harness, Thing, claims, conflicts,
        dispatcher::{Account, Scene},
    },
};
use sea_orm::{ConnectionTrait, DatabaseTransaction, Statement};
use std::time::Duration;

const SETTING: &str = "idle_in_transaction_session_timeout";

async fn claim(scene: &Scene<Postgres<false>>) -> Claim {
    let owner = Actor::owner(&*scene.harness).await;
    let row = owner.rows().await.remove(0);
    Claim::new(owner.member.id, owner.of(row.shard), row.position, row.id)
}

async fn setting(db: &impl ConnectionTrait) -> String {
    let sql = format!("SELECT current_setting('{SETTING}') AS v");
    let row = db.query_one_raw(Statement::from_string(db.get_database_backend(), sql));
    row.await.unwrap().unwrap().try_get("", "v").unwrap()
}

#[tokio::test]
async fn a_claim_that_stands_idle_is_ended_by_the_server() {
    let harness: Postgres<false> = Postgres(Database::plain().await);
    let idle = Duration::from_millis(50);
    claims::a_claim_that_stands_idle_is_ended_by_the_server(&harness, idle).await;
}

/// In a transaction, as where sessions default to SERIALIZABLE.
#[tokio::test]
async fn a_settle_whose_client_is_silent_is_ended_by_the_server() {
    let harness = Postgres::<true>::fresh().await;
    let proxy = Proxy::start(database::port(), b"").await;
    let through = harness.0.open_through(proxy.port, "", 1).await;
    let through = SeaOrmStore::new(&through, &harness.0.outbox);
    let silence = || proxy.silence();
    conflicts::a_settle_whose_client_is_silent_is_ended_by_the_server(&harness, through, silence)
        .await;
}

/// For the transaction only, and only where the session has nothing of its own.
#[tokio::test]
async fn what_a_session_has_set_itself_stays() {
    let database = Database::plain().await;
    let one = database.open_again(1).await;
    let scene = Scene::over(Postgres::<false>(database));
    scene.harness.emit(Thing::said("one")).await;
    let tables = scene.harness.tables().unwrap();
    let store = SeaOrmStore::new(&one, &tables.outbox);
    let claim = claim(&scene).await.idle_for(Duration::from_secs(70));
    for (own, within) in [("0", "70s"), ("30s", "30s"), ("2min", "2min")] {
        let set = format!("SET {SETTING} = '{own}'");
        one.execute_unprepared(&set).await.unwrap();
        let txn = store.claim(&claim).await.unwrap().unwrap();
        assert_eq!(setting(&txn).await, within);
        store.roll_back(txn).await.unwrap();
        assert_eq!(setting(&one).await, own);
    }
}

/// A handler's own time is the measure.
#[tokio::test]
async fn a_handler_has_its_time_to_stand_idle() {
    async fn see(
        _: Account,
        _: Delivery,
        txn: &DatabaseTransaction,
    ) -> Result<(), outbox_core::HandlerError> {
        assert_eq!(setting(txn).await, "40s");
        Ok(())
    }
    let scene = Scene::over(Postgres::<false>(Database::plain().await));
    scene.emit("a", "one").await;
    let dispatcher = scene.bare_dispatcher().topic(Account::CHANGED, |topic| {
        topic.transactional(see).timeout(Duration::from_secs(30))
    });
    let drained = dispatcher.build().unwrap().drain().await.unwrap();
    assert_eq!((drained.summary.delivered, drained.summary.retried), (1, 0));
}
