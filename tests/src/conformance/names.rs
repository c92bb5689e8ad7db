//! Outboxes side by side in one database, whatever they are called (B024).

use super::{Harness, Tables, Thing};
use outbox_core::{
    HandlerError, Operator,
    operator::{Answer, LetterFilter},
};
use outbox_migrations::migrations_for;
use outbox_seaorm::{
    Dispatcher, Retention, SeaOrmStore, entity,
    schema::{check_with, create_with, drop_sql},
};
use sea_orm::{ConnectionTrait, DbBackend, PaginatorTrait, TransactionTrait};
use sea_orm_migration::{MigrationTrait, MigratorTraitSelf};
use std::time::Duration;

const PREFIXES: [&str; 7] = [
    "order",
    "Order",
    "ordér",
    "заказ",
    "select \"a.b-c'd`e\\\\\\",
    "$1 ? {x} %s :y",
    "of_thirty_bytes_in_its_length_",
];

/// Each has a life of its own: what is emitted in one is delivered, buried, brought back and forgotten
/// there, and nowhere else.
pub async fn names_that_need_quoting_work_side_by_side<H: Harness>(harness: &H) {
    let own = harness.tables().unwrap();
    let all = others(&own);
    for tables in &all {
        let (outbox, db) = (&tables.outbox, &tables.db);
        let name = outbox.names().prefix();
        assert!(check_with(outbox, db).await.is_err(), "{name}");
        create_with(outbox, db).await.unwrap();
        check_with(outbox, db).await.unwrap();
        let txn = db.begin().await.unwrap();
        let hour = Duration::from_secs(3_600);
        for event in [
            Thing::of("a", "fine"),
            Thing::of("b", "poison").dedupe_key("b"),
            Thing::of("c", "later").after(hour),
        ] {
            outbox.emit(&txn, event).await.unwrap();
        }
        txn.commit().await.unwrap();
    }
    for tables in &all {
        live(tables).await;
    }
    for tables in &all {
        let (outbox, db) = (&tables.outbox, &tables.db);
        let left = outbox.find::<entity::status::Entity>().count(db).await;
        assert_eq!(left.unwrap(), 1, "{}", outbox.names().prefix());
        for statement in drop_sql(tables.backend(), outbox).unwrap() {
            db.execute_unprepared(&statement).await.unwrap();
        }
        assert!(check_with(outbox, db).await.is_err());
    }
    check_with(&own.outbox, &own.db).await.unwrap();
}

/// Any number of outboxes in one application.
struct Migrator<'a>(&'a [Tables]);

impl MigratorTraitSelf for Migrator<'_> {
    fn migrations(&self) -> Vec<Box<dyn MigrationTrait>> {
        let outboxes = self.0.iter().map(|tables| &tables.outbox);
        outboxes.flat_map(migrations_for).collect()
    }
}

/// By the migrations, too.
pub async fn outboxes_of_any_name_migrate_side_by_side<H: Harness>(harness: &H) {
    migrate_side_by_side(&harness.tables().unwrap()).await;
}

/// SeaORM's bookkeeping has the character set and the collation of its database, which are not those of the
/// outbox's tables: they may be unable to hold a name, and may take two for one.
pub async fn migrate_side_by_side(own: &Tables) {
    let (db, all) = (&own.db, others(own));
    let migrator = Migrator(&all);
    for _ in 0..2 {
        migrator.up(db, None).await.unwrap();
        let applied = migrator.get_applied_migrations(db).await.unwrap();
        assert_eq!(applied.len(), all.len());
    }
    for Tables { outbox, .. } in &all {
        check_with(outbox, db).await.unwrap();
        let txn = db.begin().await.unwrap();
        outbox.emit(&txn, Thing::said("one")).await.unwrap();
        txn.commit().await.unwrap();
        let dispatcher = Dispatcher::builder(SeaOrmStore::new(db, outbox));
        let dispatcher = dispatcher.on_event(|_: Thing, _| async { Ok(()) });
        let dispatcher = dispatcher.build().unwrap();
        let summary = dispatcher.run_until_idle(Duration::from_secs(60)).await;
        assert_eq!(summary.unwrap().delivered, 1);
    }
    migrator.down(db, None).await.unwrap();
    let pending = migrator.get_pending_migrations(db).await.unwrap();
    assert_eq!(pending.len(), all.len());
    for Tables { outbox, .. } in &all {
        check_with(outbox, db).await.unwrap_err();
    }
}

/// Others in the same place.
fn others(own: &Tables) -> Vec<Tables> {
    let named = |prefix| Tables::new(&own.db, &own.beside().prefix(prefix).build().unwrap());
    let mut all = PREFIXES.map(named).to_vec();
    if own.backend() == DbBackend::Sqlite {
        // To it they differ in nothing.
        all.retain(|tables| tables.outbox.names().prefix() != "Order");
    }
    all
}

async fn live(tables: &Tables) {
    let store = SeaOrmStore::new(&tables.db, &tables.outbox);
    let patience = Duration::from_secs(60);
    let deliver = async |store: &SeaOrmStore, poison: &'static str| {
        let dispatcher = Dispatcher::builder(store.clone()).on_event(move |event: Thing, _| {
            let result = match event.text == poison {
                true => Err(HandlerError::dead("no")),
                false => Ok(()),
            };
            async { result }
        });
        let summary = dispatcher.build().unwrap().run_until_idle(patience).await;
        let summary = summary.unwrap();
        (summary.delivered, summary.dead)
    };
    assert_eq!(deliver(&store, "poison").await, (1, 1));
    let operator = Operator::<SeaOrmStore>::new(store.clone(), "alice");
    let letters = operator.letters(&LetterFilter::all(), 0).await.unwrap();
    let place = letters.items[0].position;
    let answer = operator.retry(place, "repaired").await.unwrap();
    assert_eq!(answer, Answer::Done);
    assert_eq!(deliver(&store, "nothing").await, (1, 0));
    let mut nothing_kept = Retention::default();
    nothing_kept.delivered = Some(Duration::ZERO);
    let pruned = tables.outbox.prune(&tables.db, &nothing_kept).await;
    pruned.unwrap();
}
