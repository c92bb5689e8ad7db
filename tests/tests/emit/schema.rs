//! Making and checking the tables. B023, B024, B126.

use crate::support::{count, file, memory, open, placed, rows, run};
use outbox_seaorm::{
    Emit, Outbox,
    entity::status,
    schema::{self, Problem, SchemaErrorKind, check, check_with, create, create_with},
};
use sea_orm::{
    Database, DatabaseConnection, DbBackend, EntityTrait, PaginatorTrait, TransactionTrait,
};

#[tokio::test]
async fn creating_twice_changes_nothing() {
    let db = memory().await;
    let txn = db.begin().await.unwrap();
    txn.emit(placed(1)).await.unwrap();
    txn.commit().await.unwrap();
    create(&db).await.unwrap();
    check(&db).await.unwrap();
    assert_eq!(rows(&db).await.len(), 1);
    assert_eq!(count(&db, "outbox_shard").await, 1);
}

// B125
#[tokio::test]
async fn several_may_create_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("app.db");
    let mut tasks = Vec::new();
    for _ in 0..8 {
        let db = open(&path, 1).await;
        tasks.push(tokio::spawn(async move {
            create(&db).await.unwrap();
            check(&db).await.unwrap();
        }));
    }
    for task in tasks {
        task.await.unwrap();
    }
}

#[tokio::test]
async fn everything_that_is_wrong_is_named_at_once() {
    let empty = Database::connect("sqlite::memory:").await.unwrap();
    let error = check(&empty).await.unwrap_err();
    assert_eq!(error.kind(), SchemaErrorKind::Incomplete);
    assert!(
        error
            .problems()
            .contains(&Problem::MissingTable("outbox_event".to_owned()))
    );
    assert!(
        error
            .problems()
            .contains(&Problem::MissingView("outbox_status".to_owned()))
    );
    assert!(
        error
            .problems()
            .contains(&Problem::MissingIndex("outbox_delayed_due_idx".to_owned()))
    );
    assert!(error.problems().len() > 7, "{error}");

    let db = memory().await;
    run(&db, "DROP VIEW outbox_status").await;
    run(
        &db,
        "CREATE VIEW outbox_status AS SELECT id, topic FROM outbox_event",
    )
    .await;
    run(
        &db,
        "ALTER TABLE outbox_event RENAME COLUMN crashes TO falls",
    )
    .await;
    run(&db, "ALTER TABLE outbox_event ADD COLUMN crashes TEXT").await;
    run(&db, "ALTER TABLE outbox_dead RENAME COLUMN reason TO why").await;
    run(&db, "DROP INDEX outbox_delayed_due_idx").await;
    run(
        &db,
        "CREATE INDEX outbox_delayed_due_idx ON outbox_delayed (id)",
    )
    .await;
    run(
        &db,
        "ALTER TABLE outbox_event ADD COLUMN of_a_later_version TEXT",
    )
    .await;
    let error = check(&db).await.unwrap_err();
    let missing = |table: &str, column: &str| Problem::MissingColumn {
        table: table.to_owned(),
        column: column.to_owned(),
    };
    for problem in [
        Problem::ColumnType {
            table: "outbox_event".to_owned(),
            column: "crashes".to_owned(),
            expected: "INTEGER".to_owned(),
            found: "TEXT".to_owned(),
        },
        missing("outbox_dead", "reason"),
        missing("outbox_status", "sent_at"),
        Problem::IndexColumns {
            index: "outbox_delayed_due_idx".to_owned(),
            expected: vec!["due_at".to_owned(), "id".to_owned()],
            found: vec!["id".to_owned()],
        },
    ] {
        assert!(
            error.problems().contains(&problem),
            "{problem:?} is not in {error}"
        );
    }
    assert!(!error.to_string().contains("of_a_later_version"));
}

async fn statuses(outbox: &Outbox, db: &DatabaseConnection) -> u64 {
    let all = outbox.find::<status::Entity>();
    all.count(db).await.unwrap()
}

// B023: on SQLite a schema is an attached database.
#[tokio::test]
async fn a_schema_is_used_everywhere_and_a_decoy_is_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("events.db");
    let attach = |name: &str| format!("ATTACH '{}' AS \"{name}\"", path.display());
    {
        // In a file too: what a database in memory attaches is in memory.
        let (_dir, db) = file(1).await;
        run(&db, &attach("app-1")).await;
        let outbox = Outbox::builder().schema("app-1").build().unwrap();
        assert!(check_with(&outbox, &db).await.is_err());
        create_with(&outbox, &db).await.unwrap();
        check_with(&outbox, &db).await.unwrap();
        let txn = db.begin().await.unwrap();
        outbox.emit(&txn, placed(1)).await.unwrap();
        txn.commit().await.unwrap();
        assert_eq!(rows(&db).await.len(), 0, "the decoy");
        assert_eq!(statuses(&outbox, &db).await, 1);
        db.close().await.unwrap();
    }
    // The same file under another name, and as the main database.
    let (_dir, db) = file(1).await;
    run(&db, &attach("other")).await;
    let outbox = Outbox::builder().schema("other").build().unwrap();
    check_with(&outbox, &db).await.unwrap();
    assert_eq!(statuses(&outbox, &db).await, 1);
    let db = open(&path, 1).await;
    check(&db).await.unwrap();
    assert_eq!(status::Entity::find().all(&db).await.unwrap().len(), 1);
}

#[tokio::test]
async fn what_is_dropped_is_gone_and_the_rest_stays() {
    let db = memory().await;
    let other = Outbox::builder().prefix("other_").build().unwrap();
    create_with(&other, &db).await.unwrap();
    for _ in 0..2 {
        for statement in schema::drop_sql(DbBackend::Sqlite, &Outbox::default()).unwrap() {
            run(&db, &statement).await;
        }
    }
    assert_eq!(
        count(&db, "sqlite_master WHERE name LIKE 'outbox!_%' ESCAPE '!'").await,
        0
    );
    check_with(&other, &db).await.unwrap();
    assert_eq!(count(&db, "\"order\"").await, 0);
}

#[tokio::test]
async fn a_shard_table_that_was_emptied_is_found_and_mended() {
    let db = memory().await;
    run(&db, "DELETE FROM outbox_shard").await;
    let error = check(&db).await.unwrap_err();
    assert!(
        matches!(error.problems(), [Problem::MissingShards { found: 0, .. }]),
        "{error}"
    );
    create(&db).await.unwrap();
    check(&db).await.unwrap();
}
