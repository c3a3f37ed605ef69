//! What a folder says, read once and put together for tables and charts. Nothing here draws.

mod curve;
mod decided;
mod looks;
mod map;
mod samples;
mod trials;

use std::collections::HashMap;

use crate::host::Host;
use crate::results::{Explained, Folder, RecordedExplanation, RecordedRun, ResultsError, RunInfo};
use crate::search::{Attribution, Placed, SearchOutcome};
use crate::subject::{Cell, Op};
use crate::template::{AXES, Axis};

pub(super) use curve::{Curve, CurvePoint};
pub(super) use decided::{Decided, decided, others};
pub(super) use map::{Map, MapAxis};
pub(super) use samples::Distribution;
use samples::Gathering;
use trials::TrialFold;

/// How much of a folder is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Depth {
    /// What was decided: enough for tables.
    Decisions,
    /// Trials and raw samples too, for charts.
    Everything,
}

/// One host's folder.
#[derive(Debug, Default)]
pub(super) struct HostResults {
    /// Key of the host.
    pub(super) key: String,
    /// Where it was read from.
    pub(super) path: String,
    /// The host, where its facts could be read.
    pub(super) host: Option<Host>,
    /// Every run begun, oldest first.
    pub(super) runs: Vec<RunInfo>,
    /// Runs that came to their end.
    pub(super) finished: Vec<String>,
    /// Runs of which decisions or trials exist but no end.
    pub(super) cut_off: Vec<String>,
    /// What was decided, by op.
    pub(super) ops: Vec<OpResults>,
    /// Trials read.
    pub(super) trials: u64,
    /// What could not be read.
    pub(super) warnings: Vec<String>,
}

/// What is known of an op on a host.
#[derive(Debug)]
pub(super) struct OpResults {
    /// The op.
    pub(super) op: Op,
    /// The newest of what was decided.
    pub(super) decided: Decided,
    /// What was decided under other conditions, each by itself.
    pub(super) others: Vec<Decided>,
    /// Why winners win, the newest of each cell, with the run.
    pub(super) attributions: Vec<(String, Attribution)>,
    /// What placements do to loops, the newest of each cell, with the run.
    pub(super) placed: Vec<(String, Placed)>,
    /// Charts' data by cell; cells that no finished run decided are among them.
    pub(super) details: Vec<Details>,
}

impl OpResults {
    /// Whether nothing is known.
    fn is_empty(&self) -> bool {
        self.outcome().sizes.is_empty()
            && self.details.is_empty()
            && self.others.is_empty()
            && self.attributions.is_empty()
            && self.placed.is_empty()
    }

    /// What was decided, as one search.
    pub(super) fn outcome(&self) -> &SearchOutcome {
        &self.decided.outcome
    }
}

/// What trials and samples of a cell say.
#[derive(Clone, Debug)]
pub(super) struct Details {
    /// The cell.
    pub(super) cell: Cell,
    /// Two axes against each other: of the run that decided the cell, then of runs that
    /// looked closer at some axis.
    pub(super) maps: Vec<Map>,
    /// One axis alone.
    pub(super) curves: Vec<Curve>,
    /// Whether all trials are of benches: nothing here was to be decided.
    pub(super) bench: bool,
    /// Raw samples of winner and baselines.
    pub(super) distributions: Vec<Distribution>,
}

/// Reads a folder.
///
/// # Errors
/// Where a file exists and cannot be read at all; damage within a file becomes a warning.
pub(super) fn gather(folder: &Folder, depth: Depth) -> Result<HostResults, ResultsError> {
    gather_over(folder, depth, AXES)
}

/// As [`gather`], over the given axes.
pub(super) fn gather_over(
    folder: &Folder,
    depth: Depth,
    axes: &[Axis],
) -> Result<HostResults, ResultsError> {
    let runs = folder.runs()?;
    let decisions = folder.decisions()?;
    let mut found = HostResults {
        key: folder.key().into(),
        path: folder.path().display().to_string(),
        finished: decisions.rows.iter().map(|r| r.run.clone()).collect(),
        runs: runs.rows,
        ..HostResults::default()
    };
    found.warnings.extend(runs.warnings);
    match folder.host() {
        Ok(host) => found.host = host,
        Err(why) => found.warnings.push(why),
    }
    found.warnings.extend(decisions.warnings);
    found.ops = Op::ALL
        .iter()
        .map(|op| OpResults {
            op: *op,
            decided: decided(&decisions.rows, *op),
            others: others(&decisions.rows, *op),
            attributions: Vec::new(),
            placed: Vec::new(),
            details: Vec::new(),
        })
        .collect();
    let explained = folder.attributions()?;
    found.warnings.extend(explained.warnings);
    explained.rows.into_iter().for_each(|one| explain(&mut found.ops, one));
    let mut seen: Vec<String> = found.runs.iter().map(|r| r.id.clone()).collect();
    if depth == Depth::Everything {
        read_trials(folder, axes, &decisions.rows, &mut found, &mut seen)?;
        read_samples(folder, &mut found)?;
    }
    seen.retain(|run| !found.finished.contains(run));
    found.cut_off = seen;
    found.ops.retain(|op| !op.is_empty());
    Ok(found)
}

/// Puts an explanation where it belongs, in the place of an older one of the same cell.
fn explain(ops: &mut [OpResults], one: RecordedExplanation) {
    let run = one.run;
    match one.explained {
        Explained::Winner(found) => {
            let Some(op) = ops.iter_mut().find(|o| o.op == found.cell.op) else { return };
            op.attributions.retain(|(_, old)| old.cell != found.cell);
            op.attributions.push((run, *found));
            op.attributions.sort_by_key(|(_, a)| (a.cell.extent(), a.cell));
        }
        Explained::Placement(found) => {
            let Some(op) = ops.iter_mut().find(|o| o.op == found.cell.op) else { return };
            op.placed.retain(|(_, old)| old.cell != found.cell);
            op.placed.push((run, found));
            op.placed.sort_by_key(|(_, p)| (p.cell.extent(), p.cell));
        }
    }
}

fn read_trials(
    folder: &Folder,
    axes: &[Axis],
    finished: &[RecordedRun],
    found: &mut HostResults,
    seen: &mut Vec<String>,
) -> Result<(), ResultsError> {
    let mut fold = TrialFold::new(axes, finished);
    let warnings = folder.each_trial(|trial| fold.take(&trial))?;
    found.warnings.extend(warnings);
    found.trials = fold.count();
    for run in fold.runs() {
        if !seen.contains(run) {
            seen.push(run.clone());
        }
    }
    for op in &mut found.ops {
        op.details = fold.details(op.op, &op.decided);
    }
    Ok(())
}

fn read_samples(folder: &Folder, found: &mut HostResults) -> Result<(), ResultsError> {
    let wanted = found.ops.iter().flat_map(|op| op.decided.subjects());
    let mut gathering = Gathering::new(wanted);
    let warnings = folder.each_sample(|sample| gathering.take(&sample))?;
    found.warnings.extend(warnings);
    let mut by_cell: HashMap<Cell, Vec<Distribution>> = gathering.finish();
    for op in &mut found.ops {
        for details in &mut op.details {
            details.distributions = by_cell.remove(&details.cell).unwrap_or_default();
        }
    }
    Ok(())
}
