use crate::database::{self, Database};
use sea_orm::sqlx::postgres::PgListener;
use std::time::Duration;

/// A session that hears what dispatchers hear.
pub(super) struct Ear {
    listener: PgListener,
    channel: String,
}

impl Ear {
    /// The channel of an outbox is derived from the name of its table.
    pub(super) async fn of(database: &Database) -> Self {
        let sql = "SELECT 'outbox:' || md5(format('%s.%s', n.nspname, c.relname)) AS channel \
            FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace \
            WHERE c.oid = '\"outbox_event\"'::regclass";
        let channel: String = database.query(sql).await[0].try_get("", "channel").unwrap();
        let mut listener = PgListener::connect(&database::url()).await.unwrap();
        listener.listen(&channel).await.unwrap();
        Self { listener, channel }
    }

    /// How often somebody was notified since the last call of this. Notifications come in the order
    /// of the commits: all of them have come when this one has.
    pub(super) async fn take_wakes(&mut self, database: &Database) -> usize {
        let sql = "SELECT pg_notify($1, 'so far')";
        database.execute(sql, [self.channel.as_str().into()]).await;
        let mut wakes = 0;
        loop {
            let minute = Duration::from_secs(60);
            let heard = tokio::time::timeout(minute, self.listener.recv()).await;
            let heard = heard.unwrap().unwrap();
            assert!(heard.payload().len() < 200, "{}", heard.payload());
            match heard.payload() {
                "so far" => return wakes,
                "" => wakes += 1,
                // A dispatcher tries its own connection.
                _ => {}
            }
        }
    }
}
