//! Rows that whoever comes first has, until they run out: the same on all databases.
//!
//! A claim is one INSERT that takes the row where there is none, or where the one that is there has
//! run out, and one SELECT that tells whose it is. Nothing of that fails for somebody who comes
//! second, so that his transaction goes on; where the first one has not committed, he waits.

use crate::{clock, schema::Names};
use sea_orm::{
    DbBackend,
    sea_query::{
        Alias, Expr, Func, LockType, OnConflict, Query, SelectStatement, TableRef,
        extension::mysql::{IndexHintScope, MySqlSelectStatementExt},
    },
};

/// The table of claims for one database.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Claims<'a> {
    pub(crate) backend: DbBackend,
    pub(crate) names: &'a Names,
    /// Its default name.
    pub(crate) table: &'static str,
}

impl Claims<'_> {
    pub(crate) fn table(&self) -> TableRef {
        self.names.table(self.table)
    }

    /// A column of the row that is there.
    pub(crate) fn stored(&self, column: &'static str) -> Expr {
        match self.backend {
            DbBackend::MySql => Expr::col(column),
            _ => Expr::col((Alias::new(self.names.bare(self.table)), Alias::new(column))),
        }
    }

    /// A column of the row that was to be inserted.
    pub(crate) fn inserted(&self, column: &'static str) -> Expr {
        match self.backend {
            DbBackend::MySql => Func::cust("VALUES").arg(Expr::col(column)).into(),
            _ => Expr::col(("excluded", column)),
        }
    }

    pub(crate) fn now(&self) -> Expr {
        clock::now(self.backend)
    }

    /// Takes the row that is there if it has `run_out`. Of the columns by which that is told, only
    /// the last one to be set may be set: MySQL sets one after the other.
    pub(crate) fn take(
        &self,
        keys: &[&'static str],
        run_out: Expr,
        set: impl IntoIterator<Item = (&'static str, Expr)>,
    ) -> OnConflict {
        let mut conflict = OnConflict::columns(keys.iter().copied());
        match self.backend {
            DbBackend::MySql => {
                let set = set.into_iter().map(|(column, value)| {
                    let taken = Func::cust("IF").arg(run_out.clone()).arg(value);
                    (column, taken.arg(Expr::col(column)).into())
                });
                conflict.values(set.collect::<Vec<(_, Expr)>>()).to_owned()
            }
            // An update that is not made locks the row as well.
            _ => conflict.values(set).action_and_where(run_out).to_owned(),
        }
    }

    /// Reads rows that were claimed.
    pub(crate) fn read(&self, columns: &[&'static str]) -> SelectStatement {
        let mut select = Query::select()
            .columns(columns.iter().copied())
            .from(self.table())
            .take();
        if self.backend == DbBackend::MySql {
            // As they are now, not as they were when the transaction began. Without the index a few
            // rows would be read one after the other, and each one locked.
            select
                .force_index("PRIMARY", IndexHintScope::All)
                .lock(LockType::Update);
        }
        select
    }
}
