use outbox_seaorm::Emit;
use sea_orm::DatabaseTransaction;

struct NoEvent;

async fn not_an_event(txn: &DatabaseTransaction) {
    let _ = txn.emit(NoEvent).await;
}

fn main() {}
