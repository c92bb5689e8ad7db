use super::{
    counts::{Counts, missed},
    fault::Fault,
    kept::Kept,
    stage::Stage,
};
use outbox_tests::{
    history::{History, Rule, Violation, What},
    worker::Kind,
};
use sea_orm::DbErr;
use std::{
    collections::{BTreeMap, HashSet},
    error::Error,
    sync::atomic::Ordering,
};
use uuid::Uuid;

/// What came of it.
pub(crate) struct Verdict {
    counts: Counts,
    history: History,
    violations: Vec<Violation>,
    /// Faults of the list that never struck while an event was in work.
    missed: Vec<Fault>,
}

impl Verdict {
    pub(crate) async fn of(stage: &Stage) -> Result<Self, Box<dyn Error>> {
        let emitted = emitted(stage).await?;
        let kept = Kept::read(&stage.database).await?;
        let history = stage.log.history().taken_out(&kept.taken_out);
        let (report, violations) = history.examine();
        let broken = |rules: &[Rule]| {
            let all = violations.iter();
            all.filter(|violation| rules.contains(&violation.rule))
                .count()
        };
        let ended = |what| {
            let records = history.records().iter();
            let of_kind = records.filter(move |record| record.what == what);
            of_kind.map(|record| record.id).collect::<HashSet<_>>()
        };
        // What the database says must be what the handlers wrote.
        let (discarded, unkept) = kept.missing(&emitted);
        let Kept {
            delivered, dead, ..
        } = kept;
        let unheard = delivered.difference(&ended(What::Succeeded)).count();
        let unwanted = dead.difference(&ended(What::Dead)).count();
        let twice = dead.intersection(&delivered).count();
        let lost = broken(&[Rule::NothingIsLost]);
        let order = [Rule::InOrder, Rule::SuffixesRepeat];
        let reordered = broken(&order);
        let tail = stage.tail()?;
        Ok(Self {
            counts: Counts {
                emitted: report.events,
                delivered: delivered.len(),
                dead: dead.len(),
                discarded,
                lost: lost.max(unkept) + unheard,
                reordered,
                duplicates: report.duplicates,
                unexplained: violations.len() - lost - reordered + unwanted + twice,
                faults: tail.strikes.values().map(|strikes| strikes.all).sum(),
                max_takeover_ms: stage.takeover.load(Ordering::Relaxed),
            },
            missed: missed(&stage.arguments.faults, &tail.strikes),
            history,
            violations,
        })
    }

    pub(crate) fn is_good(&self) -> bool {
        self.counts.is_good(&self.missed)
    }

    /// Prints it, and what is wrong.
    pub(crate) fn tell(&self, stage: &Stage) {
        if let Ok(tail) = stage.tail() {
            for (fault, strikes) in &tail.strikes {
                println!("{fault}: {}, {} in work", strikes.all, strikes.in_work);
            }
            println!("the machine or the database stood still: {}", tail.stalls);
        }
        for fault in &self.missed {
            eprintln!("chaos: {fault} never struck while an event was in work");
        }
        let mut by_rule = BTreeMap::new();
        for violation in &self.violations {
            let first = by_rule.entry(format!("{:?}", violation.rule));
            first.or_insert((violation, 0)).1 += 1;
        }
        for (first, count) in by_rule.values() {
            let story = self.history.story(first);
            eprintln!("chaos: {count} of this kind, the first: {first}\n{story}");
        }
        if !self.is_good() {
            eprintln!("chaos: the logs are in {}", stage.keep().display());
        }
        match serde_json::to_string(&self.counts) {
            Ok(line) => println!("{line}"),
            Err(error) => eprintln!("chaos: {error}"),
        }
    }
}

/// Writes the committed events into the log, in their order.
async fn emitted(stage: &Stage) -> Result<Vec<Uuid>, Box<dyn Error>> {
    let sql = "SELECT account, event, kind FROM emitted ORDER BY n";
    let mut all = Vec::new();
    for row in stage.database.rows(sql).await? {
        let get = |column| row.try_get::<String>("", column);
        let (account, event) = (get("account")?, get("event")?);
        let kind: i32 = row.try_get("", "kind").map_err(|error: DbErr| error)?;
        let id: Uuid = event.parse()?;
        match Kind::of(kind) {
            Kind::Ordered => stage.log.emitted(&account, id),
            Kind::Delayed => stage.log.delayed(&account, id),
            Kind::Unordered => stage.log.emitted(&event, id),
        }
        all.push(id);
    }
    Ok(all)
}
