//! Times are UTC in microseconds, whatever the session's time zone.

use super::{
    database::Database,
    harness::{MariaDb, Sessions},
};
use outbox_core::store::{Liveness, Member, Moved, Store, Verdict};
use outbox_seaorm::{
    Emit, SeaOrmStore,
    entity::{delayed, event},
};
use outbox_tests::{
    conformance::{Actor, Harness, Tables, Thing},
    servers::PrivateServer,
};
use sea_orm::{DatabaseConnection, EntityTrait, TransactionTrait, prelude::DateTimeUtc};
use std::time::Duration;

/// A session of the server's zone whose clock stands still at this time of UTC.
macro_rules! at {
    ($time:literal) => {
        concat!(
            "SET time_zone = '+00:00'; SET timestamp = UNIX_TIMESTAMP('2026-11-01 ",
            $time,
            "'); SET time_zone = SYSTEM"
        )
    };
}

const HOUR: Duration = Duration::from_secs(3600);
const ZONES: [&str; 3] = [
    "SET time_zone = '+05:30'",
    "SET time_zone = '-11:00'",
    "SET time_zone = SYSTEM",
];

// B008
#[tokio::test]
async fn every_time_has_microseconds() {
    let database = Database::fresh().await;
    let types: Vec<String> = database
        .values(
            "SELECT DISTINCT COLUMN_TYPE AS v FROM information_schema.COLUMNS \
             WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME <> 'outbox_status' \
             AND DATA_TYPE IN ('date', 'time', 'datetime', 'timestamp')",
        )
        .await;
    assert_eq!(types, ["datetime(6)"]);
}

// B010
#[tokio::test]
async fn what_is_due_does_not_depend_on_the_time_zone() {
    for zone in ZONES {
        let harness = MariaDb::fresh().await;
        let db = harness.0.open(2, zone).await;
        let now = harness.0.now().await;
        let txn = db.begin().await.unwrap();
        txn.emit(Thing::said("now")).occurred_at(now).await.unwrap();
        txn.emit(Thing::said("after")).after(HOUR).await.unwrap();
        txn.emit(Thing::said("at")).at(now + HOUR).await.unwrap();
        txn.emit(Thing::said("due")).at(now - HOUR).await.unwrap();
        txn.commit().await.unwrap();

        let near = |time: DateTimeUtc| (time - now).abs().num_seconds() < 60;
        let stored = event::Entity::find().one(&db).await.unwrap().unwrap();
        assert!(
            near(stored.created_at) && near(stored.occurred_at.and_utc()),
            "{zone}"
        );
        let mut due = delayed::Entity::find().all(&harness.0.db).await.unwrap();
        due.sort_by_key(|row| row.due_at);
        assert!(near(due[0].due_at + HOUR), "{zone}");
        assert!(
            near(due[1].due_at - HOUR) && near(due[2].due_at - HOUR),
            "{zone}"
        );

        // The dispatcher is in another zone.
        let owner = Actor::owner(&harness).await;
        let waits = owner
            .fetch()
            .await
            .shards
            .into_iter()
            .filter_map(|seen| seen.due_in);
        assert_eq!(waits.min(), Some(Duration::ZERO));
        assert_eq!(owner.move_due(10).await, Some(1), "{zone}");
        let body = owner.rows().await[0].body.clone().unwrap();
        assert!(near(body.occurred_at));
    }
}

#[tokio::test]
async fn a_lease_and_a_wait_do_not_depend_on_the_time_zone() {
    for zone in ZONES {
        let harness = MariaDb::fresh().await;
        let store = SeaOrmStore::from(&harness.0.open(1, zone).await);
        let member = Member::new("here:1", "");
        store.join(&member, Duration::from_secs(30)).await.unwrap();
        let members = harness.store().members().await.unwrap();
        assert_eq!(members[0].liveness, Liveness::Alive, "{zone}");
        store.renew(member.id, Duration::ZERO).await.unwrap();
        let members = harness.store().members().await.unwrap();
        assert_eq!(members[0].liveness, Liveness::Expired, "{zone}");
        // As seen in one zone, it is evicted in another.
        assert!(store.evict(&members[0]).await.unwrap());

        harness.emit(Thing::said("one")).await;
        let owner = Actor::owner(&harness).await;
        let row = owner.rows().await.remove(0);
        let retry = Verdict::Retry {
            attempts: 1,
            after: HOUR,
            error: String::new(),
        };
        owner.settle(&row, retry).await;
        let elsewhere = store
            .read(&[row.position], usize::MAX)
            .await
            .unwrap()
            .remove(0);
        let wait = elsewhere.retry_in.unwrap();
        assert!(wait <= HOUR && wait > HOUR / 2, "{zone}: {wait:?}");
    }
}

/// At two in the morning of 1 November 2026 it is one o'clock again in New York. Sessions there have
/// their clocks stopped around that.
#[tokio::test]
async fn the_hour_that_comes_twice_is_as_long_as_any() {
    let server = PrivateServer::mariadb_in("America/New_York");
    let harness: MariaDb = Sessions(Database::at(server.url()).await);
    let database = &harness.0;
    let local = async |db: &DatabaseConnection| {
        let sql = "SELECT CAST(NOW() AS CHAR) AS v";
        Tables::of(db).texts(sql).await
    };
    // Twenty seconds before, ten after, and so on.
    let before = database.open(1, at!("05:59:40")).await;
    assert_eq!(local(&before).await, ["2026-11-01 01:59:40"]);
    let after = database.open(1, at!("06:00:10")).await;
    assert_eq!(local(&after).await, ["2026-11-01 01:00:10"]);

    let mut owner = Actor::owner(&harness).await;
    let txn = before.begin().await.unwrap();
    for delay in [29, 31, 3_601] {
        let event = Thing::said("later").after(Duration::from_secs(delay));
        txn.emit(event).await.unwrap();
    }
    txn.commit().await.unwrap();
    let member = Member::new("here:2", "");
    let store = SeaOrmStore::from(&before);
    store.join(&member, Duration::from_secs(31)).await.unwrap();
    for (db, moved, liveness) in [
        (after, 1, Liveness::Alive),
        (
            database.open(1, at!("06:00:12")).await,
            1,
            Liveness::Expired,
        ),
        (
            database.open(1, at!("06:59:40")).await,
            0,
            Liveness::Expired,
        ),
        (
            database.open(1, at!("06:59:42")).await,
            1,
            Liveness::Expired,
        ),
    ] {
        owner.store = SeaOrmStore::from(&db);
        assert_eq!(owner.move_due(10).await, Some(moved));
        let members = owner.store.members().await.unwrap();
        let seen = members.iter().find(|view| view.id == member.id).unwrap();
        assert_eq!(seen.liveness, liveness);
    }
}

#[tokio::test]
async fn a_wait_beyond_the_last_year_is_a_long_wait() {
    let harness = MariaDb::fresh().await;
    harness.emit(Thing::said("one")).await;
    let owner = Actor::owner(&harness).await;
    let row = owner.rows().await.remove(0);
    let retry = Verdict::Retry {
        attempts: 1,
        after: Duration::MAX,
        error: String::new(),
    };
    owner.settle(&row, retry).await;
    assert!(owner.rows().await[0].retry_in.unwrap() > 50 * 365 * 24 * HOUR);
    let owned = owner.of(row.shard);
    let moved = owner
        .store
        .move_due(owner.member.id, &owned, 0)
        .await
        .unwrap();
    assert_eq!(moved, Moved::Events(0));
}
