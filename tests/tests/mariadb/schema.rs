//! The tables, and what is told of those that differ.

use super::database::Database;
use outbox_core::store::{Store, StoreErrorKind};
use outbox_seaorm::{
    Outbox, SeaOrmStore,
    schema::{self, Problem, SchemaErrorKind, check, check_with, create_with, drop_sql},
};
use outbox_tests::{
    Proxy,
    conformance::{Tables, Thing},
    servers::PrivateServer,
};
use sea_orm::{ConnectionTrait, DbBackend, TransactionTrait};

#[tokio::test]
async fn it_is_made_whatever_database_and_session_default_to() {
    for charset in ["latin1", "utf8mb3", "utf8mb4 COLLATE utf8mb4_general_ci"] {
        let database = Database::empty(charset).await;
        for first in [
            "SET sql_mode = ''",
            "SET sql_mode = 'ANSI_QUOTES,PIPES_AS_CONCAT,NO_BACKSLASH_ESCAPES,STRICT_ALL_TABLES'",
            "SET NAMES latin1, time_zone = '-11:00'",
        ] {
            let db = database.open(1, first).await;
            schema::create(&db).await.unwrap();
            // Again: nothing that exists is changed.
            schema::create(&db).await.unwrap();
            check(&db).await.unwrap();
            for sql in drop_sql(DbBackend::MySql, &Outbox::default()).unwrap() {
                db.execute_unprepared(&sql).await.unwrap();
            }
            let left: Vec<String> = database
                .values(
                    "SELECT TABLE_NAME AS v FROM information_schema.TABLES \
                         WHERE TABLE_SCHEMA = DATABASE()",
                )
                .await;
            assert_eq!(left, Vec::<String>::new());
        }
    }
}

#[tokio::test]
async fn every_difference_is_named() {
    let database = Database::fresh().await;
    for sql in [
        "ALTER TABLE outbox_dead DROP INDEX outbox_dead_blocks_idx",
        "ALTER TABLE outbox_dispatcher DROP COLUMN handles",
        "ALTER TABLE outbox_event MODIFY aggregateid VARCHAR(500) CHARACTER SET utf8mb3",
        "ALTER TABLE outbox_event MODIFY retry_at DATETIME",
        "ALTER TABLE outbox_event DROP INDEX outbox_event_shard_idx, \
         ADD INDEX outbox_event_shard_idx (seq, shard)",
        "DROP VIEW outbox_status",
        "DROP TABLE outbox_shard",
    ] {
        database.execute(sql, []).await;
    }
    let error = check(&database.db).await.unwrap_err();
    assert_eq!(error.kind(), SchemaErrorKind::Incomplete);
    let problems: Vec<_> = error.problems().iter().map(Problem::to_string).collect();
    assert_eq!(
        problems,
        [
            "column outbox_event.aggregateid is VARCHAR(500) COLLATE utf8mb3_general_ci \
             instead of VARCHAR(500)",
            "column outbox_event.retry_at is DATETIME instead of DATETIME(6)",
            "index outbox_event_shard_idx is over [\"seq\", \"shard\"] \
             instead of [\"shard\", \"seq\"]",
            "index outbox_dead_blocks_idx is missing",
            "table outbox_shard is missing",
            "column outbox_dispatcher.handles is missing",
            "view outbox_status is missing",
        ]
    );
    let error = database.store().check().await.unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Schema);
    let error = database.store().shards().await.unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Schema);
}

#[tokio::test]
async fn an_outbox_can_be_in_another_database() {
    let there = Database::empty("latin1").await;
    let here = Database::empty("latin1").await;
    let name: Vec<String> = there.values("SELECT DATABASE() AS v").await;
    let outbox = Outbox::builder()
        .schema(&*name[0])
        .prefix("Odd`\"Name_")
        .build()
        .unwrap();
    create_with(&outbox, &here.db).await.unwrap();
    check_with(&outbox, &here.db).await.unwrap();
    assert!(check(&here.db).await.is_err());

    let txn = here.db.begin().await.unwrap();
    outbox.emit(&txn, Thing::said("one")).await.unwrap();
    txn.commit().await.unwrap();
    let there = Tables::new(&there.db, &outbox);
    let sql = "SELECT CAST(COUNT(*) AS CHAR) AS v FROM \"outbox_event\"";
    assert_eq!(there.texts(sql).await, ["1"]);
    SeaOrmStore::new(&here.db, &outbox).check().await.unwrap();
}

/// Of old ones the keys are short.
#[tokio::test]
async fn it_is_made_whatever_row_format_the_server_defaults_to() {
    let server = PrivateServer::mariadb();
    let admin = Database::there(server.url().to_owned()).await;
    for format in ["compact", "redundant"] {
        let sql = format!("SET GLOBAL innodb_default_row_format = '{format}'");
        admin.execute(&sql, []).await;
        check(&Database::at(server.url()).await.db).await.unwrap();
    }
}

/// One before 10.6 knows neither `JSON_TABLE` nor `SKIP LOCKED`, and would tell of that at each poll.
// B130
#[tokio::test]
async fn a_server_that_is_too_old_is_told_before_anything_is_made() {
    let database = Database::empty("utf8mb4").await;
    let proxy = Proxy::rewording(database.port(), b"M!100600 + 1", b"M!990600 + 1").await;
    let through = database.open_through(proxy.port, 1).await;
    for error in [
        check(&through).await.unwrap_err(),
        schema::create(&through).await.unwrap_err(),
    ] {
        assert_eq!(error.kind(), SchemaErrorKind::ServerTooOld);
        let text = error.to_string();
        let told = text.starts_with("the outbox needs MariaDB 10.6 or later, and this is 1");
        assert!(told, "{text}");
    }
    let error = SeaOrmStore::from(&through).check().await.unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Schema);
    let tables: Vec<i64> = database
        .values(
            "SELECT COUNT(*) AS v FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE()",
        )
        .await;
    assert_eq!(tables, [0]);
}
