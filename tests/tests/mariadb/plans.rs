//! How MariaDB runs what a dispatcher sends, and how many rows that changes.

use super::{
    database::{Database, execute, get},
    harness::MariaDb,
};
use outbox_core::store::{DeadReason, FetchRequest, Settlement, Store, Verdict};
use outbox_seaorm::{Emit, SeaOrmStore};
use outbox_tests::conformance::{Actor, Harness, Thing};
use sea_orm::{ConnectionTrait, DbBackend, QueryResult, Statement, TransactionTrait};
use std::time::Duration;

/// Emits many events of many aggregates.
async fn emit_many(database: &Database, number: usize, delay: Option<Duration>) {
    let txn = database.db.begin().await.unwrap();
    let things = (0..number).map(|n| {
        let thing = Thing::of(&n.to_string(), "x");
        match delay {
            Some(delay) => thing.after(delay),
            None => thing,
        }
    });
    txn.emit_all(things).await.unwrap();
    txn.commit().await.unwrap();
}

/// What a store sent over its only connection, as the server wrote it down: with the values.
async fn statements(database: &Database, connection: u64) -> Vec<String> {
    let sql = format!(
        "SELECT CONVERT(argument USING utf8mb4) AS v FROM mysql.general_log \
         WHERE thread_id = {connection} AND command_type = 'Execute'"
    );
    database.values(&sql).await
}

struct Step(QueryResult);

impl Step {
    fn text(&self, column: &str) -> String {
        get::<Option<String>>(&self.0, column).unwrap_or_default()
    }

    /// Reads a whole table that is not one of the statement's own lists or the server's counters.
    fn scans(&self) -> bool {
        let own = ["j", "GLOBAL_STATUS"];
        let table = self.text("table");
        let all = ["ALL", "index"].contains(&&*self.text("type"));
        all && !own.contains(&&*table) && !table.starts_with('<')
    }
}

#[tokio::test]
async fn hot_statements_search_by_key_whatever_the_statistics() {
    let harness = MariaDb::fresh().await;
    let mut owner = Actor::owner(&harness).await;
    let db = harness.0.open(1, "SET @first = 1").await;
    owner.store = SeaOrmStore::from(&db);
    // `ANALYZE` mostly meets an outbox that is nearly empty.
    let hour = Some(Duration::from_secs(3600));
    emit_many(&harness.0, 3, None).await;
    emit_many(&harness.0, 3, hour).await;
    for table in [
        "outbox_event",
        "outbox_delayed",
        "outbox_dead",
        "outbox_delivered",
    ] {
        harness.0.query(&format!("ANALYZE TABLE {table}")).await;
    }
    emit_many(&harness.0, 3_000, None).await;
    emit_many(&harness.0, 3_000, hour).await;

    let connection = Statement::from_string(DbBackend::MySql, "SELECT CONNECTION_ID() AS v");
    let connection = db.query_one_raw(connection).await.unwrap().unwrap();
    let connection: u64 = connection.try_get("", "v").unwrap();
    for sql in [
        "SET GLOBAL log_output = 'TABLE'",
        "SET GLOBAL general_log = 1",
    ] {
        execute(&harness.0.db, sql, []).await;
    }
    every_verb(&owner).await;
    execute(&harness.0.db, "SET GLOBAL general_log = 0", []).await;

    let sent = statements(&harness.0, connection).await;
    assert!(sent.len() > 15, "{sent:?}");
    for sql in sent {
        let words = ["SELECT", "(SELECT", "INSERT", "UPDATE", "DELETE"];
        if !words.iter().any(|word| sql.starts_with(word)) {
            continue;
        }
        let explained = harness.0.query(&format!("EXPLAIN {sql}")).await;
        for step in explained.into_iter().map(Step) {
            let extra = step.text("Extra");
            let plan = format!("{} {extra}: {sql}", step.text("table"));
            assert!(!step.scans(), "{plan}");
            // The rows that move are sorted by due time, and are no more than the limit.
            let sorts = extra.contains("filesort") || extra.contains("temporary");
            assert!(!sorts || sql.contains("ORDER BY d.due_at, d.id"), "{plan}");
        }
    }
}

async fn every_verb(owner: &Actor<SeaOrmStore>) {
    let member = owner.member.id;
    let lease = Duration::from_secs(600);
    assert!(owner.store.renew(member, lease).await.unwrap());
    let rows = owner.rows().await;
    let mut cursors = owner.cursors();
    for cursor in &mut cursors {
        (cursor.floor, cursor.scan) = (rows[10].position, rows[500].position);
    }
    let request = FetchRequest::new(member, &cursors, 100);
    owner.store.fetch(&request).await.unwrap();
    let positions: Vec<_> = rows.iter().take(20).map(|row| row.position).collect();
    owner.store.read(&positions, usize::MAX).await.unwrap();
    let shard = rows[0].shard;
    let of_shard: Vec<_> = rows.iter().filter(|row| row.shard == shard).collect();
    let verdicts = [
        Verdict::Done,
        Verdict::Retry {
            attempts: 1,
            after: lease,
            error: "no".to_owned(),
        },
        Verdict::Dead {
            reason: DeadReason::Rejected,
            error: "no".to_owned(),
            blocks: true,
        },
    ];
    let outcomes = of_shard.iter().zip(verdicts);
    let outcomes: Vec<_> = outcomes
        .map(|(row, verdict)| Settlement::new(row.position, row.id, verdict))
        .collect();
    owner.settle_all(shard, &outcomes).await;
    let marks = [(of_shard[4].position, 1)];
    let owned = owner.of(shard);
    let marked = owner.store.mark_crashes(member, &owned, &marks);
    assert!(marked.await.unwrap());
    owner.store.blocked(&[shard]).await.unwrap();
    owner.move_due(10).await.unwrap();
}
