//! Hearing of commits: LISTEN on a connection of its own, which a ping shows to work.

use super::{Postgres, echo::Echo};
use crate::store::{apart, listener};
use outbox_core::{CancellationToken, store::Ear};
use sea_orm::{ConnectionTrait, DatabaseConnection, DbBackend, DbErr, Statement};
use std::{error::Error, future::pending, pin::pin, time::Duration};
use tokio::{
    select,
    sync::mpsc,
    task::JoinHandle,
    time::{Instant, sleep, sleep_until, timeout},
};
use tracing::{debug, info, warn};
use uuid::Uuid;

/// How a connection ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Stopped,
    /// There is no trigger that notifies.
    NoTrigger,
    /// Nothing is heard though the connection stands: a pooler hands its server on.
    Deaf,
    /// It was lost, or hears nothing any more.
    Lost,
}

/// What is known over several connections.
#[derive(Debug, Default)]
struct Attempts {
    /// How many have failed since one worked.
    failed: u32,
    /// It has been said that it does not work: once, until it does.
    told: bool,
}

/// How long connecting may take, which may wait for a server that does not answer.
const OPENING: Duration = Duration::from_secs(30);

/// How long to wait at most between two attempts to connect.
const LONGEST: Duration = Duration::from_secs(30);

/// When to look whether the pooler has gone.
const DEAF: Duration = Duration::from_secs(600);

impl Postgres {
    /// Tells the ear of commits until `stop`, or until it is known that there will be none.
    pub(in crate::store) async fn listen(
        &self,
        db: &DatabaseConnection,
        ear: &Ear,
        stop: &CancellationToken,
    ) {
        let mut attempts = Attempts::default();
        loop {
            let end = self.hear(db, ear, stop, &mut attempts).await;
            ear.close();
            let pause = match end {
                Ok(End::Stopped) => return,
                Ok(End::NoTrigger) => {
                    debug!("no trigger notifies of commits: they are found by polling");
                    return;
                }
                Ok(End::Deaf) => attempts.deaf(),
                Ok(End::Lost) => attempts.lost(None),
                Err(error) => attempts.lost(Some(&error)),
            };
            select! {
                () = stop.cancelled() => return,
                () = sleep(pause) => {}
            }
        }
    }

    /// Hears on one connection, until it is lost.
    async fn hear(
        &self,
        db: &DatabaseConnection,
        ear: &Ear,
        stop: &CancellationToken,
        attempts: &mut Attempts,
    ) -> Result<End, DbErr> {
        let rows = self.query(db, &self.sql.channel, []).await?;
        let Some(row) = rows.first() else {
            return Ok(End::NoTrigger);
        };
        let channel: String = row.try_get("", "channel")?;
        let own = apart::postgres(db).await?;
        let (sender, mut payloads) = mpsc::channel(16);
        let opening = listener::listen(&own, &channel, sender);
        let Ok(opened) = timeout(OPENING, opening).await else {
            return Ok(End::Lost);
        };
        let mut lost = pin!(opened?);
        // Others listen to the same channel, and to their own pings.
        let ping = Uuid::now_v7().to_string();
        let mut echo = Echo::new(Instant::now());
        let (mut works, mut sending) = (false, None);
        loop {
            select! {
                () = stop.cancelled() => return Ok(End::Stopped),
                lost = &mut lost => return lost.map(|()| End::Lost),
                Some(payload) = payloads.recv() => {
                    if payload.is_empty() {
                        ear.hear();
                    } else if payload == ping {
                        echo.heard(Instant::now());
                        if !works {
                            works = true;
                            attempts.works();
                            ear.open();
                        }
                    }
                }
                sent = finished(&mut sending) => {
                    sending = None;
                    echo.sent(sent, Instant::now());
                }
                () = sleep_until(echo.next), if sending.is_none() => {
                    if echo.is_missing() {
                        return Ok(if works { End::Lost } else { End::Deaf });
                    }
                    echo.send();
                    let ping = notify(db.clone(), channel.clone(), ping.clone());
                    sending = Some(tokio::spawn(ping));
                }
            }
        }
    }
}

impl Attempts {
    fn works(&mut self) {
        if self.told {
            info!("sleeping dispatchers are woken by commits again");
        }
        *self = Self::default();
    }

    fn deaf(&mut self) -> Duration {
        if !self.told {
            warn!(
                "notifications do not come through, as behind a pooler in transaction mode: \
                 commits of other processes are found by polling"
            );
        }
        self.told = true;
        DEAF
    }

    fn lost(&mut self, error: Option<&DbErr>) -> Duration {
        if !self.told {
            warn!(
                error = error.map(|error| error as &dyn Error),
                "cannot listen: commits of other processes are found by polling"
            );
        }
        self.told = true;
        let pause = Duration::from_millis(100) * 2_u32.pow(self.failed.min(9));
        self.failed += 1;
        // At least half of it, so that dispatchers do not come back all at once.
        pause.min(LONGEST).mul_f64(1.0 - fastrand::f64() / 2.0)
    }
}

/// Sent from another connection: a pooler would give a session its own notification back.
async fn notify(db: DatabaseConnection, channel: String, payload: String) -> Result<(), DbErr> {
    let values = [channel.into(), payload.into()];
    let sql = "SELECT pg_catalog.pg_notify($1, $2)";
    let statement = Statement::from_sql_and_values(DbBackend::Postgres, sql, values);
    db.execute_raw(statement).await.map(drop)
}

/// Waits until the ping went out, and says whether it did. It is a task of its own: it may have to
/// wait for a connection of the pool, while others notify.
async fn finished(sending: &mut Option<JoinHandle<Result<(), DbErr>>>) -> bool {
    match sending {
        Some(sending) => matches!(sending.await, Ok(Ok(()))),
        None => pending().await,
    }
}
