//! `looptune search --repeat N`

use std::io::Write as _;
use std::time::{Duration, Instant};

use anyhow::Context as _;

use super::super::bench::course::PartOf;
use super::super::progress::ProgressLine;
use super::{Ended, Ready, SearchArgs};
use crate::report;
use crate::results::{Folder, RunLog};
use crate::search::{Budget, Ground, SearchOutcome, repeats};
use crate::trial::EvaluateError;

/// The searches that are over.
struct Series {
    times: u32,
    runs: Vec<String>,
    found: Vec<SearchOutcome>,
    /// Whether the last one was broken off; it is not among them.
    interrupted: bool,
    /// What one goes on from, should the rest be broken off.
    log: Option<RunLog>,
}

/// Searches `times` times, with the seeds from the question's on.
pub(super) fn run(
    args: &SearchArgs,
    ready: &mut Ready,
    times: u32,
    started: Instant,
) -> anyhow::Result<()> {
    let series =
        Series { times, runs: Vec::new(), found: Vec::new(), interrupted: false, log: None };
    go_on(args, ready, series, started.elapsed())
}

/// Goes on after a search that was resumed: `earlier` are the runs before it.
pub(super) fn resumed(
    args: &SearchArgs,
    ready: &mut Ready,
    times: u32,
    earlier: &[String],
    ended: Ended,
) -> anyhow::Result<()> {
    let mut series =
        Series { times, runs: Vec::new(), found: Vec::new(), interrupted: false, log: None };
    let recorded = Folder::at(&args.results.join(&ready.session.host.key)).decisions()?.rows;
    for run in earlier {
        let found = recorded.iter().find(|r| r.run == *run).and_then(|r| r.outcome.clone());
        let found = found.with_context(|| format!("run {run} of the series is not recorded"))?;
        series.runs.push(run.clone());
        series.found.push(found);
    }
    series.take(ended)?;
    ready.question.seed = ready.question.seed.wrapping_add(1);
    go_on(args, ready, series, Duration::ZERO)
}

impl Series {
    fn take(&mut self, ended: Ended) -> anyhow::Result<()> {
        ended.kept?;
        self.interrupted = ended.interrupted;
        if !ended.interrupted {
            self.runs.push(ended.run);
            self.found.push(ended.outcome);
            self.log = ended.log;
        }
        Ok(())
    }
}

/// The searches that are left, then what came of all.
fn go_on(
    args: &SearchArgs,
    ready: &mut Ready,
    mut series: Series,
    mut spent: Duration,
) -> anyhow::Result<()> {
    while !series.interrupted && (series.runs.len() as u32) < series.times {
        if !args.quiet {
            let (number, seed) = (series.runs.len() + 1, ready.question.seed);
            eprintln!("looptune: search {number} of {}, seed {seed}", series.times);
        }
        // Each has a budget of its own; the first pays for what all share.
        let ended = ready.begin(args, spent, Some((series.runs.clone(), series.times)))?;
        series.take(ended)?;
        spent = Duration::ZERO;
        ready.question.seed = ready.question.seed.wrapping_add(1);
    }
    let mut warnings = Vec::new();
    let mut unsettled = false;
    let Some(mut found) = repeats(&series.found) else {
        anyhow::bail!(
            "interrupted before the first search was over; `looptune search --resume` goes on"
        );
    };
    if series.interrupted {
        warnings.push(format!(
            "interrupted: {} of {} searches are here; `looptune search --resume` goes on",
            series.found.len(),
            series.times
        ));
    } else {
        let cells: usize = ready.plans.iter().map(|plan| plan.cells.len()).sum();
        let ground = Ground {
            candidates: &ready.candidates,
            mixes: &ready.question.mixes,
            budget: share(ready.question.budget, cells),
            seed: ready.question.seed,
            tick_hz: ready.session.host.tsc.calibrated_hz,
        };
        let all = found.disputed() as f64;
        let mut line = PartOf { line: ProgressLine::new(args.quiet), begun: 0, all };
        let settled = found.settle(&ground, &mut ready.session.client, &mut line);
        line.line.finish();
        match settled {
            Err(EvaluateError::Interrupted) => {
                unsettled = true;
                warnings.push(
                    "interrupted before all chosen loops had met; `looptune search --resume` lets \
                     them"
                        .into(),
                );
            }
            other => other?,
        }
    }
    let facts = ready.facts();
    let mut out = std::io::stdout().lock();
    if args.json {
        let document = report::repeats_json(&found, &series.runs, &warnings, &facts);
        writeln!(out, "{}", serde_json::to_string_pretty(&document)?)?;
    } else {
        write!(out, "{}", report::repeats(&found, &warnings, &facts))?;
    }
    out.flush().context("cannot write to stdout")?;
    match series.log {
        Some(log) if !series.interrupted && !unsettled => Ok(log.remove()?),
        _ => Ok(()),
    }
}

/// What a disputed cell may spend: as much as a cell of one of the searches.
fn share(budget: Option<Budget>, cells: usize) -> Budget {
    match budget {
        None => Budget::Seconds(Budget::DEFAULT_CELL_SECONDS),
        Some(Budget::Seconds(seconds)) => Budget::Seconds(seconds / cells as f64),
        Some(Budget::Samples(samples)) => Budget::Samples(samples.div_ceil(cells as u64)),
    }
}
