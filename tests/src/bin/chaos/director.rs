use super::{
    fault::Fault,
    operator,
    stage::{Role, Stage},
    strikes::strike,
};
use futures_util::future::try_join_all;
use std::{
    error::Error,
    time::{Duration, Instant},
};
use tokio::time::{sleep, timeout};

type Played = Result<(), Box<dyn Error>>;

/// How long nothing may happen before what is still waiting counts as lost.
const PATIENCE: Duration = Duration::from_secs(90);

/// Everything, up to the end of all processes.
pub(crate) async fn play(stage: &Stage) -> Played {
    for _ in 0..stage.arguments.dispatchers {
        let name = format!("d{}", stage.number());
        stage.start(Role::Dispatcher, &name).await?;
    }
    for number in 0..stage.arguments.writers {
        stage.start(Role::Writer, &format!("w{number}")).await?;
    }
    let faults = stage.arguments.faults.iter();
    let all = faults.map(|fault| torment(stage, *fault));
    tokio::try_join!(try_join_all(all), watch(stage))?;
    if stage.processes(Role::Dispatcher).is_empty() {
        stage.start(Role::Dispatcher, "last").await?;
    }
    drain(stage).await?;
    let last = stage.processes(Role::Dispatcher).clone();
    for process in last {
        process.stop().await?;
    }
    Ok(())
}

/// One kind of fault, again and again, at times that the seed says.
async fn torment(stage: &Stage, fault: Fault) -> Played {
    let lease = stage.arguments.lease();
    // In leases: the shortest and the longest pause.
    let (least, most) = match fault {
        Fault::Kill => (0.7, 2.5),
        Fault::Freeze | Fault::Scale => (0.3, 1.5),
        Fault::Disconnect | Fault::Clock => (0.2, 1.0),
        Fault::Restart => (3.0, 6.0),
        Fault::Operator => (0.05, 0.4),
        Fault::Slow | Fault::Hang | Fault::Panic | Fault::Rollback | Fault::Late => return Ok(()),
    };
    let seed = stage.arguments.seed.wrapping_mul(31) + fault as u64;
    let mut chance = fastrand::Rng::with_seed(seed);
    let mut pause = lease.mul_f64(0.5 + chance.f64());
    while timeout(pause, stage.quiet.cancelled()).await.is_err() {
        strike(stage, fault, &mut chance).await?;
        pause = lease.mul_f64(least + (most - least) * chance.f64());
    }
    Ok(())
}

/// Until the writers are done.
async fn watch(stage: &Stage) -> Played {
    loop {
        drop(stage.tail()?);
        let dispatchers = stage.processes(Role::Dispatcher).clone();
        for process in dispatchers {
            if let Some(status) = process.ended()?
                && !process.is_claimed()
            {
                return Err(format!("{} ended by itself: {status}", process.name).into());
            }
        }
        let writers = stage.processes(Role::Writer).clone();
        let mut is_done = true;
        for process in writers {
            match process.ended()? {
                Some(status) if status.success() || process.is_claimed() => {}
                Some(status) => return Err(format!("{} ended: {status}", process.name).into()),
                None => is_done = false,
            }
        }
        if is_done {
            stage.quiet.cancel();
            return Ok(());
        }
        sleep(Duration::from_millis(100)).await;
    }
}

/// Until everything is delivered, or nothing happens any more.
async fn drain(stage: &Stage) -> Played {
    let (mut last, mut since) = (i64::MAX, Instant::now());
    loop {
        if stage.arguments.has(Fault::Operator) {
            operator::let_go(stage).await;
        }
        let waiting = stage.database.waiting().await.unwrap_or(i64::MAX);
        if waiting == 0 {
            return Ok(());
        }
        if waiting < last {
            (last, since) = (waiting, Instant::now());
        } else if since.elapsed() > PATIENCE {
            eprintln!("chaos: {waiting} events are not delivered");
            return Ok(());
        }
        sleep(Duration::from_millis(100)).await;
    }
}
