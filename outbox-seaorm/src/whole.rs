//! A transaction in which somebody else has worked: whether it is still what it was, and what its end
//! needs where it is not.

use crate::db_error;
use sea_orm::{ConnectionTrait, DatabaseTransaction, DbBackend, DbErr, TransactionTrait};

/// What sqlx calls the savepoint of a nested transaction, with its depth behind it.
const NESTED: &str = "SAVEPOINT _sqlx_savepoint_";

/// Undoes a transaction, also where the database has ended it by itself, and where somebody
/// still holds a nested one, with which everything around it would be committed. sqlx counts what is
/// open and ends it by its name: so all of it is there again, and empty. `between` is run when nothing
/// is open.
pub(crate) async fn undo(txn: DatabaseTransaction, between: Option<String>) -> Result<(), DbErr> {
    const DEPTH: usize = 4;
    let mut words = vec!["ROLLBACK".to_owned()];
    if txn.get_database_backend() == DbBackend::Sqlite {
        // An error where there is no transaction.
        let _ = txn.execute_unprepared("ROLLBACK").await;
        words.clear();
    }
    words.extend(between);
    words.push("BEGIN".to_owned());
    words.extend((1..=DEPTH).map(|depth| format!("{NESTED}{depth}")));
    txn.execute_unprepared(&words.join("; ")).await?;
    txn.rollback().await
}

/// Whether a nested transaction is open, by the name of one that begins here. The savepoint alone tells
/// nothing: sqlx leaves that of a nested transaction that was rolled back.
pub(crate) async fn is_nested(txn: &DatabaseTransaction) -> Result<bool, DbErr> {
    let probe = txn.begin().await?;
    let second = format!("ROLLBACK TO {NESTED}2");
    let nested = probe.execute_unprepared(&second).await.is_ok();
    probe.rollback().await?;
    Ok(nested)
}

/// A nested transaction is open at the end of the work: what commits would be that one.
pub(crate) fn left_open() -> DbErr {
    let problem = "a nested transaction was left open: end it before the work does";
    DbErr::Custom(problem.to_owned())
}

/// On MySQL and PostgreSQL the commit shows that something else is open: its savepoint went with the
/// mark.
pub(crate) fn of_commit(error: DbErr) -> DbErr {
    match db_error::state(&error).as_deref() {
        Some("42000" | "3B001") => left_open(),
        _ => error,
    }
}

/// Commits a transaction that was marked. Where that would be no commit of all that was done in it,
/// nothing that can still be undone is stored, and it fails.
pub(crate) async fn commit(txn: DatabaseTransaction) -> Result<(), DbErr> {
    let whole = async {
        if txn.get_database_backend() == DbBackend::Sqlite && is_nested(&txn).await? {
            return Err(left_open());
        }
        still_marked(&txn).await
    };
    if let Err(error) = whole.await {
        // The first error is what is told.
        let _ = undo(txn, None).await;
        return Err(error);
    }
    txn.commit().await.map_err(of_commit)
}

/// It is gone when the transaction is: some errors end one, and so does DDL on MySQL. What comes next
/// would be committed one by one.
pub(crate) const MARK: &str = "SAVEPOINT outbox_claim";

/// Marks a transaction, so that [`still_marked`] knows it.
pub(crate) async fn mark(txn: &DatabaseTransaction) -> Result<(), DbErr> {
    txn.execute_unprepared(MARK).await.map(drop)
}

/// Fails where the transaction that was marked has ended, or stores nothing any more.
pub(crate) async fn still_marked(txn: &DatabaseTransaction) -> Result<(), DbErr> {
    txn.execute_unprepared(&format!("RELEASE {MARK}"))
        .await
        .map(drop)
}
