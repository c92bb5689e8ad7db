use super::{
    database::persist,
    fault::Fault,
    operator,
    process::Process,
    stage::{Role, Stage},
    window::Window,
};
use outbox_tests::history::What;
use std::{
    error::Error,
    process::Command,
    sync::{Arc, atomic::Ordering},
    time::{Duration, Instant},
};
use tokio::time::sleep;

/// Strikes once, and lasts until it is over.
pub(crate) async fn strike(
    stage: &Stage,
    fault: Fault,
    chance: &mut fastrand::Rng,
) -> Result<(), Box<dyn Error>> {
    let is_writer = chance.u8(..4) == 0;
    match fault {
        Fault::Kill if is_writer => kill_writer(stage, chance).await,
        Fault::Kill => kill(stage, chance).await,
        Fault::Freeze => freeze(stage, chance).await,
        Fault::Disconnect => disconnect(stage, is_writer, chance).await,
        Fault::Restart => restart(stage).await,
        Fault::Scale => scale(stage, chance).await,
        Fault::Clock => clock(stage, chance),
        Fault::Operator => {
            operator::operate(stage, chance).await;
            Ok(())
        }
        // These the processes do to themselves.
        Fault::Slow | Fault::Hang | Fault::Panic | Fault::Rollback | Fault::Late => Ok(()),
    }
}

/// A process that nothing else befalls; mostly one that has an event in work, if one can be waited
/// for: on SQLite all but one stand by.
async fn victim(stage: &Stage, role: Role, chance: &mut fastrand::Rng) -> Option<Arc<Process>> {
    let anybody = chance.u8(..8) == 0;
    for patience in (0..50).rev() {
        let free: Vec<_> = {
            let processes = stage.processes(role);
            let free = processes.iter().filter(|process| !process.is_claimed());
            free.cloned().collect()
        };
        let works = |process: &&Arc<Process>| {
            let by = (role == Role::Dispatcher).then_some(&*process.name);
            stage.tail().is_ok_and(|tail| tail.is_in_work(by))
        };
        let at_work: Vec<_> = free.iter().filter(works).collect();
        let chosen = match at_work.is_empty() {
            false if !anybody => chance.choice(at_work),
            true if !anybody && patience > 0 => None,
            _ => chance.choice(&free),
        };
        if let Some(victim) = chosen
            && victim.claim()
        {
            return Some(Arc::clone(victim));
        }
        sleep(Duration::from_millis(10)).await;
    }
    None
}

async fn kill(stage: &Stage, chance: &mut fastrand::Rng) -> Result<(), Box<dyn Error>> {
    let Some(victim) = victim(stage, Role::Dispatcher, chance).await else {
        return Ok(());
    };
    let window = Window::open(stage, What::Fault, "kill", Some(&victim));
    window.struck();
    let members: Vec<_> = stage.census.mark(victim.pid).members().copied().collect();
    victim.kill()?;
    let killed = Instant::now();
    stage.remove(Role::Dispatcher, &victim);
    window.survey().await?;
    window.close();
    stage.tail()?.forget(&victim.name);
    sleep(stage.arguments.lease().mul_f64(chance.f64())).await;
    join(stage).await?;
    loop {
        let owners = persist(|| stage.database.owners()).await;
        if !members.iter().any(|member| owners.contains(member)) {
            let took = killed.elapsed().as_millis();
            stage.takeover.fetch_max(took as u64, Ordering::Relaxed);
            return Ok(());
        }
        sleep(Duration::from_millis(20)).await;
    }
}

async fn join(stage: &Stage) -> Result<Arc<Process>, Box<dyn Error>> {
    let name = format!("d{}", stage.number());
    stage.start(Role::Dispatcher, &name).await
}

async fn kill_writer(stage: &Stage, chance: &mut fastrand::Rng) -> Result<(), Box<dyn Error>> {
    let Some(victim) = victim(stage, Role::Writer, chance).await else {
        return Ok(());
    };
    if victim.ended()?.is_some() {
        return Ok(());
    }
    victim.log.about(What::Struck, "kill");
    victim.kill()?;
    stage.start(Role::Writer, &victim.name).await?;
    stage.remove(Role::Writer, &victim);
    Ok(())
}

async fn freeze(stage: &Stage, chance: &mut fastrand::Rng) -> Result<(), Box<dyn Error>> {
    let Some(victim) = victim(stage, Role::Dispatcher, chance).await else {
        return Ok(());
    };
    let window = Window::open(stage, What::Fault, "freeze", Some(&victim));
    // Whoever holds the only write lock keeps everybody from taking over, and is no test of it: another
    // moment is.
    let mut tries = 0..6;
    let is_locked = loop {
        victim.freeze()?;
        let is_locked = stage.database.is_locked().await;
        if !is_locked || tries.next().is_none() {
            break is_locked;
        }
        victim.thaw()?;
        until_in_work(stage).await;
    };
    if !is_locked {
        window.struck();
        window.survey().await?;
        sleep(stage.arguments.lease().mul_f64(1.1 + 1.5 * chance.f64())).await;
    }
    victim.thaw()?;
    window.recovered().await;
    window.close();
    victim.let_go();
    Ok(())
}

async fn disconnect(
    stage: &Stage,
    is_writer: bool,
    chance: &mut fastrand::Rng,
) -> Result<(), Box<dyn Error>> {
    let role = if is_writer {
        Role::Writer
    } else {
        Role::Dispatcher
    };
    let Some(victim) = victim(stage, role, chance).await else {
        return Ok(());
    };
    let Some(proxy) = &victim.proxy else {
        return Ok(());
    };
    let window = Window::open(stage, What::Outage, "disconnect", Some(&victim));
    window.struck();
    if chance.bool() {
        proxy.cut();
        window.survey().await?;
    } else {
        let time = stage.arguments.lease().mul_f64(0.1 + 2.4 * chance.f64());
        let (survey, ()) = tokio::join!(window.survey(), proxy.half_open(time));
        survey?;
    }
    if role == Role::Dispatcher {
        window.recovered().await;
    }
    window.close();
    victim.let_go();
    Ok(())
}

async fn restart(stage: &Stage) -> Result<(), Box<dyn Error>> {
    let Some(command) = stage.arguments.restart_command.clone() else {
        return Ok(());
    };
    let window = Window::open(stage, What::Outage, "restart", None);
    // Nobody can ask a server that is away.
    window.survey().await?;
    until_in_work(stage).await;
    window.struck();
    let run = move || Command::new("sh").args(["-c", &command]).status();
    let status = tokio::task::spawn_blocking(run).await??;
    if !status.success() {
        return Err(format!("the restart command ended with {status}").into());
    }
    persist(|| stage.database.waiting()).await;
    window.recovered().await;
    window.close();
    Ok(())
}

/// Waits a moment for an event to be in work, where one comes.
async fn until_in_work(stage: &Stage) {
    for _ in 0..200 {
        if stage.tail().is_ok_and(|tail| tail.is_in_work(None)) {
            return;
        }
        sleep(Duration::from_millis(5)).await;
    }
}

async fn scale(stage: &Stage, chance: &mut fastrand::Rng) -> Result<(), Box<dyn Error>> {
    let (count, usual) = (
        stage.processes(Role::Dispatcher).len(),
        stage.arguments.dispatchers,
    );
    let joins = count < usual.max(2) || (count < usual + 2 && chance.bool());
    if joins {
        join(stage).await?.log.about(What::Struck, "scale");
        return Ok(());
    }
    let Some(victim) = victim(stage, Role::Dispatcher, chance).await else {
        return Ok(());
    };
    stage.remove(Role::Dispatcher, &victim);
    victim.log.about(What::Struck, "scale");
    victim.stop().await?;
    stage.tail()?.forget(&victim.name);
    Ok(())
}

fn clock(stage: &Stage, chance: &mut fastrand::Rng) -> Result<(), Box<dyn Error>> {
    const HALF_A_DAY: i64 = 12 * 60 * 60;
    let roles = [Role::Dispatcher, Role::Writer];
    let all: Vec<_> = roles
        .iter()
        .flat_map(|role| stage.processes(*role).clone())
        .collect();
    if let Some(victim) = chance.choice(all)
        && let Some(clock) = &victim.clock
    {
        clock.set(chance.i64(-HALF_A_DAY..HALF_A_DAY))?;
        victim.log.about(What::Struck, "clock");
    }
    Ok(())
}
