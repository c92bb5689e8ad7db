//! Under SERIALIZABLE a reading dispatcher would cancel transactions of the application. B035,
//! interleaving 17.

use super::harness::Postgres;
use outbox_core::store::{History, Outcomes, Store};
use outbox_tests::conformance::{
    Actor, Harness, Thing,
    dispatcher::{Scene, crowd},
};
use sea_orm::TransactionTrait;
use std::time::Duration;

/// Makes every statement that touches the tables fail unless it runs READ COMMITTED.
const GUARD: &str = "\
    CREATE FUNCTION @.guarded() RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN \
        IF current_setting('transaction_isolation') <> 'read committed' THEN \
            RAISE 'runs %', current_setting('transaction_isolation'); END IF; \
        RETURN true; END $$; \
    CREATE FUNCTION @.guard() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
        PERFORM @.guarded(); RETURN NULL; END $$; \
    ALTER TABLE \"outbox_delayed\" RENAME TO delayed; \
    CREATE VIEW \"outbox_delayed\" AS SELECT * FROM @.delayed WHERE @.guarded(); \
    ALTER TABLE \"outbox_dead\" RENAME TO dead; \
    CREATE VIEW \"outbox_dead\" AS SELECT * FROM @.dead WHERE @.guarded();";

const TRIGGER: &str = "CREATE TRIGGER guard AFTER INSERT OR UPDATE OR DELETE ON # \
    FOR EACH STATEMENT EXECUTE FUNCTION @.guard();";

/// Where every session is SERIALIZABLE.
#[tokio::test(flavor = "multi_thread")]
async fn many_dispatchers_deliver_each_event_once() {
    let scene = Scene::<Postgres<true>>::new().await;
    crowd::many_dispatchers_deliver_each_event_once(&scene).await;
}

#[tokio::test]
async fn every_verb_runs_read_committed_whatever_the_default_is() {
    let harness = Postgres::<true>::fresh().await;
    harness.emit(Thing::said("one")).await;
    let later = Thing::said("later").after(Duration::from_secs(3600));
    harness.emit(later).await;
    let (database, names) = (&harness.0, harness.0.outbox.names());
    let mut sql = GUARD.to_owned();
    for table in [
        "\"outbox_event\"",
        "\"outbox_shard\"",
        "\"outbox_dispatcher\"",
    ] {
        sql.push_str(&TRIGGER.replace('#', table));
    }
    let schema = format!("\"{}\"", names.schema().unwrap());
    let sql = database.render(&sql.replace('@', &schema));
    super::database::run(&database.db, &sql).await;

    let txn = database.db.begin().await.unwrap();
    let serializable = database.outbox.emit(&txn, Thing::said("two")).await;
    serializable.unwrap_err();
    txn.rollback().await.unwrap();

    let other = Actor::join(&harness).await;
    let mut owner = Actor::owner(&harness).await;
    owner.evict(&other).await;
    let row = owner.rows().await.remove(0);
    let shards: Vec<_> = owner.owned.iter().map(|owned| owned.shard).collect();
    assert_eq!(owner.store.blocked(&shards).await.unwrap(), []);
    let (store, member, owned) = (&owner.store, owner.member.id, owner.of(row.shard));
    assert!(store.renew(member, Duration::from_secs(60)).await.unwrap());
    let marks = [(row.position, 1)];
    assert!(store.mark_crashes(member, &owned, &marks).await.unwrap());
    let retry = outbox_core::store::Verdict::Retry {
        attempts: 1,
        after: Duration::ZERO,
        error: "no".to_owned(),
    };
    owner.settle(&row, retry).await;
    owner.settle(&row, outbox_core::store::Verdict::Done).await;
    let nothing = [Outcomes::new(owned, Vec::new())];
    store
        .settle(member, &nothing, History::Discard)
        .await
        .unwrap();
    owner.release().await;
    assert!(owner.take().await > 0);
    owner.store.leave(owner.member.id).await.unwrap();
}
