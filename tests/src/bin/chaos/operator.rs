use super::{database::persist, stage::Stage};
use outbox_seaorm::{
    Due, Operator,
    operator::{Answer, BlockedAggregate, Bulk, EventFilter, HistoryFilter},
    store::StoreError,
};
use outbox_tests::history::{Log, What};
use std::time::Duration;
use tokio::time::sleep;
use uuid::Uuid;

const TOPICS: [&str; 3] = ["account.changed", "account.closed", "account.noted"];
const WHY: &str = "chance";

/// What whoever operates is about to do stands in the log before it is done: somebody may be quicker
/// than a line. Whether it was done the outbox has recorded, and no answer is counted on: the database
/// may go away before it.
pub(crate) async fn operate(stage: &Stage, chance: &mut fastrand::Rng) {
    let (operator, log) = (stage.database.operator(), stage.log.by("operator"));
    log.about(What::Struck, "operator");
    let done = match chance.u8(..10) {
        0..=4 => decide(&operator, &log, chance).await,
        5 => discard(stage, &operator, &log, chance).await,
        6 => return pause(stage, &operator, chance).await,
        7 => replay(&operator).await,
        _ => put_off(&operator, &log, chance).await,
    };
    // Too late, or the database is away.
    let _ = done;
}

/// Decides about a dead letter that holds back its aggregate.
async fn decide(
    operator: &Operator,
    log: &Log,
    chance: &mut fastrand::Rng,
) -> Result<(), StoreError> {
    let blocked = operator.blocked(0).await?.items;
    let Some(BlockedAggregate { letter, .. }) = chance.choice(&blocked) else {
        return Ok(());
    };
    let key = letter.key.as_deref().unwrap_or("-");
    let _: Answer = match chance.u8(..4) {
        0 => {
            log.discarded(key, letter.id);
            operator.skip(letter.position, WHY).await?
        }
        1 => {
            log.discarded(key, letter.id);
            operator.discard(letter.position, WHY).await?
        }
        _ => {
            log.retried(key, letter.id);
            operator.retry(letter.position, WHY).await?
        }
    };
    Ok(())
}

/// Discards an event that waits, or is in work.
async fn discard(
    stage: &Stage,
    operator: &Operator,
    log: &Log,
    chance: &mut fastrand::Rng,
) -> Result<(), StoreError> {
    let sql = "SELECT id, seq, topic FROM outbox_event ORDER BY seq LIMIT 20";
    let rows = stage.database.rows(sql).await.unwrap_or_default();
    let Some(row) = chance.choice(&rows) else {
        return Ok(());
    };
    let (Ok(id), Ok(position)) = (row.try_get::<Uuid>("", "id"), row.try_get("", "seq")) else {
        return Ok(());
    };
    let found = operator.status(id).await?;
    // One that is replayed has been delivered: to take it for the first would hide a loss.
    if let [event] = &*found {
        let id = event.id.to_string();
        let is_alone = event.topic == TOPICS[2];
        let key = if is_alone {
            Some(&id)
        } else {
            event.key.as_ref()
        };
        log.discarded(key.map_or("-", String::as_str), event.id);
        let _: Answer = operator.discard(position, WHY).await?;
    }
    Ok(())
}

/// For a while.
async fn pause(stage: &Stage, operator: &Operator, chance: &mut fastrand::Rng) {
    let Some(topic) = chance.choice(TOPICS) else {
        return;
    };
    let _ = operator.pause(topic, WHY).await;
    sleep(stage.arguments.lease().mul_f64(chance.f64())).await;
    persist(|| operator.resume(topic, WHY)).await;
}

async fn replay(operator: &Operator) -> Result<(), StoreError> {
    let bulk = Bulk::new(3).per_second(10_000);
    operator.replay(&HistoryFilter::all(), bulk, WHY).await?;
    Ok(())
}

/// Another time for a delayed event, or none.
async fn put_off(
    operator: &Operator,
    log: &Log,
    chance: &mut fastrand::Rng,
) -> Result<(), StoreError> {
    let delayed = operator.scheduled(&EventFilter::all(), Uuid::nil()).await?;
    let Some(event) = chance.choice(&delayed.items) else {
        return Ok(());
    };
    let _: Answer = if chance.u8(..4) == 0 {
        log.discarded(event.key.as_deref().unwrap_or("-"), event.id);
        operator.cancel(event.id, WHY).await?
    } else {
        let due = Due::After(Duration::from_millis(chance.u64(..1_500)));
        operator.reschedule(event.id, due, WHY).await?
    };
    Ok(())
}

/// Lets whatever an operator holds back come to its end.
pub(crate) async fn let_go(stage: &Stage) {
    let (operator, log) = (stage.database.operator(), stage.log.by("operator"));
    loop {
        let blocked = persist(|| operator.blocked(0)).await.items;
        if blocked.is_empty() {
            return;
        }
        for BlockedAggregate { letter, .. } in blocked {
            log.discarded(letter.key.as_deref().unwrap_or("-"), letter.id);
            let _: Answer = persist(|| operator.skip(letter.position, WHY)).await;
        }
    }
}
