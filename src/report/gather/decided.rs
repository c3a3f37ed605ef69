//! The newest of what a folder's finished searches decided.

use crate::results::RecordedRun;
use crate::search::{CellOutcome, SearchOutcome, SizeOutcome, Stop};
use crate::subject::{Cell, Conditions, Consumer, Contract, Op, Subject};

/// What the finished searches of an op decided: for each size and mix of sizes the newest
/// outcome of those with the most cells; sizes ascending, then mixes.
#[derive(Clone, Debug)]
pub(in crate::report) struct Decided {
    /// The sizes, as if one search had found them. Its warnings are those of all its runs.
    pub(in crate::report) outcome: SearchOutcome,
    /// The run that each size is of.
    pub(in crate::report) runs: Vec<String>,
    /// Under which conditions all of it was measured, whoever reads the result.
    pub(in crate::report) conditions: Conditions,
}

/// What a chart of samples shows: a subject in a cell of a run, by the name it has there.
pub(super) struct Wanted {
    pub(super) run: String,
    pub(super) cell: Cell,
    pub(super) name: String,
    pub(super) subject: Subject,
}

/// The conditions of a size's cells, whoever reads the result: cells of several consumers
/// stand side by side in one table, those of different pages, placements, sources or numbers of
/// threads never do.
fn setting(size: &SizeOutcome) -> Conditions {
    let first = size.cells.first().map_or(Conditions::DEFAULT, |c| c.cell.conditions);
    Conditions { consumer: Consumer::None, ..first }
}

/// Merges the searches of an op under the default conditions; `finished` stands in order of
/// time. What was found under others is told of, and left out.
pub(in crate::report) fn decided(finished: &[RecordedRun], op: Op) -> Decided {
    let mut found = decided_under(finished, op, &Conditions::DEFAULT);
    for other in others(finished, op) {
        let extents = other.outcome.sizes.iter().map(|s| s.extent.to_string());
        let text = format!(
            "{op} {}: measured under other conditions too ({}), which stand in tables of their own",
            extents.collect::<Vec<_>>().join(", "),
            other.words()
        );
        found.outcome.warnings.push(text);
    }
    found
}

/// The same of all other conditions, each by itself.
pub(in crate::report) fn others(finished: &[RecordedRun], op: Op) -> Vec<Decided> {
    let outcomes = finished.iter().filter_map(|r| r.outcome.as_ref()).filter(|o| o.op == op);
    let mut settings: Vec<Conditions> = outcomes.flat_map(|o| &o.sizes).map(setting).collect();
    settings.sort_unstable();
    settings.dedup();
    settings.retain(|s| *s != Conditions::DEFAULT);
    settings.iter().map(|s| decided_under(finished, op, s)).collect()
}

/// Cells that were answered: one that was interrupted says nothing, and takes no older answer's
/// place.
fn answers(size: &SizeOutcome) -> usize {
    let answered = |c: &&CellOutcome| c.winner.is_some() && c.stop != Stop::Interrupted;
    size.cells.iter().filter(answered).count()
}

fn decided_under(finished: &[RecordedRun], op: Op, conditions: &Conditions) -> Decided {
    let mut sizes: Vec<(&RecordedRun, &SizeOutcome)> = Vec::new();
    // A search of a kernel's loops, or of loops for one size, says less than one of all: it
    // counts where there is no other.
    let mut others = Vec::new();
    let newest = finished.iter().rev();
    let newest = newest.filter_map(|run| Some((run, run.outcome.as_ref()?)));
    let mut all: Vec<(&RecordedRun, &SearchOutcome)> =
        newest.filter(|(_, outcome)| outcome.op == op).collect();
    let rank =
        |outcome: &SearchOutcome| (kind(outcome).is_some(), outcome.contract != Contract::User);
    all.sort_by_key(|(_, outcome)| rank(outcome));
    for (run, outcome) in all {
        for size in outcome.sizes.iter().filter(|s| setting(s) == *conditions) {
            if let Some(kind) = kind(outcome) {
                let there = sizes.iter().any(|(_, s)| s.extent == size.extent);
                let shown = if there { "not shown here" } else { "shown here" };
                others.push(format!(
                    "{op} {}: run {} is of {kind}, {shown}; `export` tells it apart",
                    size.extent, run.run
                ));
            }
            match sizes.iter_mut().find(|(_, s)| s.extent == size.extent) {
                Some(best) if kind(outcome).is_none() && answers(size) > answers(best.1) => {
                    *best = (run, size);
                }
                Some(_) => {}
                None => sizes.push((run, size)),
            }
        }
    }
    sizes.sort_by_key(|(_, size)| size.extent);
    let runs: Vec<String> = sizes.iter().map(|(run, _)| run.run.clone()).collect();
    let mut warnings = others;
    for run in finished.iter().filter(|run| runs.contains(&run.run)) {
        for warning in run.outcome.iter().flat_map(|o| &o.warnings) {
            if !warnings.contains(warning) {
                warnings.push(warning.clone());
            }
        }
    }
    let sizes = sizes.into_iter().map(|(_, size)| size.clone()).collect();
    let contract = Contract::User;
    Decided {
        outcome: SearchOutcome { op, contract, seed: 0, seconds: 0.0, sizes, warnings },
        runs,
        conditions: *conditions,
    }
}

/// What a search of fewer loops than all is of.
fn kind(outcome: &SearchOutcome) -> Option<&'static str> {
    let winners = outcome.sizes.iter().flat_map(|s| &s.cells).filter_map(|c| c.winner.as_ref());
    let fixed = winners.clone().any(|w| w.variant.fixed.is_some());
    match (outcome.contract, fixed) {
        (Contract::User, false) => None,
        (Contract::User, true) => Some("loops for this size only"),
        (Contract::Kernel, false) => Some("loops of the kernel contract"),
        (Contract::Kernel, true) => Some("loops of the kernel contract for this size only"),
    }
}

impl Decided {
    /// Its conditions, as far as they are no defaults.
    pub(in crate::report) fn words(&self) -> String {
        self.conditions.words().join(", ")
    }

    /// The runs, each once, by time.
    pub(in crate::report) fn sources(&self) -> Vec<String> {
        let mut sources = self.runs.clone();
        sources.sort();
        sources.dedup();
        sources
    }

    /// Every cell with the run that decided it.
    pub(in crate::report) fn cells(&self) -> impl Iterator<Item = (&str, &CellOutcome)> {
        self.outcome
            .sizes
            .iter()
            .zip(&self.runs)
            .flat_map(|(size, run)| size.cells.iter().map(move |cell| (run.as_str(), cell)))
    }

    /// Winner and baselines of every cell.
    pub(super) fn subjects(&self) -> Vec<Wanted> {
        let mut wanted = Vec::new();
        for (run, found) in self.cells() {
            let mut want = |name: &str, subject: Subject| {
                wanted.push(Wanted {
                    run: run.into(),
                    cell: found.cell,
                    name: name.into(),
                    subject,
                });
            };
            if let Some(winner) = &found.winner {
                want("winner", Subject::Variant(winner.variant));
            }
            for baseline in &found.baselines {
                if let Ok(subject) = Subject::parse(&baseline.name) {
                    want(&baseline.name, subject);
                }
            }
        }
        wanted
    }
}
