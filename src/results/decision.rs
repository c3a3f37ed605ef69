//! Decisions: what a search found, as rows and back.
//!
//! Kinds of rows, in the order written: a `cell` heads each cell and is followed by its
//! `winner`, its finalists (`tie` where they tie with the best, else `finalist`; by speed,
//! the winner again among them) and its `baseline`s; then for each size the loops that suit
//! all its cells, `robust`, `best_plain`, `best_nt` and `best_kernel`, once with the largest
//! regret (no state) and once a cell, and each `absent` state; then the `contract` where it is not the user's, `warning`s and
//! last `finished`. A run that was interrupted and resumed is decided twice: `again` says that
//! what stands before it of the run no longer holds.

use std::path::Path;

use super::error::ResultsError;
use super::table::{Read, one_line, read_table};
use super::wire::{DecisionRow, mix_columns};
use crate::search::{
    BaselineOutcome, CellOutcome, Robust, SearchOutcome, SizeOutcome, Standing, Timed,
};
use crate::subject::{Cell, Contract, Extent, Variant};
use crate::units::Picos;

mod parse;

/// Kinds of rows.
pub(super) mod kind {
    pub(in crate::results) const CELL: &str = "cell";
    pub(in crate::results) const WINNER: &str = "winner";
    pub(in crate::results) const TIE: &str = "tie";
    pub(in crate::results) const FINALIST: &str = "finalist";
    pub(in crate::results) const BASELINE: &str = "baseline";
    pub(in crate::results) const ROBUST: &str = "robust";
    pub(in crate::results) const BEST_PLAIN: &str = "best_plain";
    pub(in crate::results) const BEST_NT: &str = "best_nt";
    pub(in crate::results) const BEST_KERNEL: &str = "best_kernel";
    pub(in crate::results) const ABSENT: &str = "absent";
    pub(in crate::results) const CONTRACT: &str = "contract";
    pub(in crate::results) const WARNING: &str = "warning";
    pub(in crate::results) const FINISHED: &str = "finished";
    pub(in crate::results) const AGAIN: &str = "again";
}

/// A finished run, as recorded.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedRun {
    /// Its id.
    pub run: String,
    /// What it found; `None` where it was no search.
    pub outcome: Option<SearchOutcome>,
}

/// Reads the finished runs of a `decisions.csv`, oldest first. Rows of a run without its
/// last row are left out; what is damaged is left out with a warning.
///
/// # Errors
/// Only where the file exists and cannot be read at all.
pub fn read_decisions(path: &Path) -> Result<Read<RecordedRun>, ResultsError> {
    let rows: Read<DecisionRow> = read_table(path, Ok)?;
    let mut read = Read { rows: Vec::new(), warnings: rows.warnings };
    let mut open: Vec<(String, Vec<DecisionRow>)> = Vec::new();
    for row in rows.rows {
        let at = open.iter().position(|(run, _)| *run == row.run).unwrap_or_else(|| {
            open.push((row.run.clone(), Vec::new()));
            open.len() - 1
        });
        if row.kind == kind::AGAIN {
            read.rows.retain(|finished: &RecordedRun| finished.run != row.run);
            open[at].1.clear();
            continue;
        }
        let last = row.kind == kind::FINISHED;
        open[at].1.push(row);
        if last {
            let (run, rows) = open.remove(at);
            match parse::outcome(&rows) {
                Ok(outcome) => read.rows.push(RecordedRun { run, outcome }),
                Err(why) => {
                    read.warnings.push(format!("{}: run {run} is left out: {why}", path.display()))
                }
            }
        }
    }
    for (run, _) in open {
        let why = "its decisions were cut off; it counts as unfinished";
        read.warnings.push(format!("{}: run {run}: {why}", path.display()));
    }
    Ok(read)
}

/// The rows of a finished search.
pub(super) fn search_rows(run: &str, outcome: &SearchOutcome) -> Vec<DecisionRow> {
    let mut rows = Vec::new();
    for size in &outcome.sizes {
        for cell in &size.cells {
            cell_rows(run, cell, &mut rows);
        }
        for (kind, loop_) in size.choices() {
            if let Some(robust) = loop_ {
                robust_rows(run, kind, outcome, size, robust, &mut rows);
            }
        }
        for (state, why) in &size.absent {
            rows.push(DecisionRow {
                op: outcome.op.to_string(),
                state: one_line(state),
                detail: one_line(why),
                ..of_extent(run, kind::ABSENT, &size.extent)
            });
        }
    }
    if outcome.contract != Contract::User {
        let detail = outcome.contract.to_string();
        rows.push(DecisionRow { detail, ..blank(run, kind::CONTRACT) });
    }
    for warning in &outcome.warnings {
        rows.push(DecisionRow { detail: one_line(warning), ..blank(run, kind::WARNING) });
    }
    rows.push(DecisionRow {
        op: outcome.op.to_string(),
        seed: Some(outcome.seed),
        seconds: Some(outcome.seconds),
        ..blank(run, kind::FINISHED)
    });
    rows
}

/// The last row of a run that found nothing but trials.
pub(super) fn finished_row(run: &str, seed: u64, seconds: f64) -> DecisionRow {
    DecisionRow { seed: Some(seed), seconds: Some(seconds), ..blank(run, kind::FINISHED) }
}

/// Before the rows of a run that has some already.
pub(super) fn again_row(run: &str) -> DecisionRow {
    blank(run, kind::AGAIN)
}

fn blank(run: &str, kind: &str) -> DecisionRow {
    DecisionRow { run: run.into(), kind: kind.into(), ..DecisionRow::default() }
}

fn of_extent(run: &str, kind: &str, extent: &Extent) -> DecisionRow {
    let (mix, mix_digest, mean_bytes) = mix_columns(extent.mix);
    let size_bytes = Some(extent.size);
    DecisionRow { size_bytes, mix, mix_digest, mean_bytes, ..blank(run, kind) }
}

fn at_cell(run: &str, kind: &str, cell: &Cell) -> DecisionRow {
    DecisionRow {
        op: cell.op.to_string(),
        state: cell.state.to_string(),
        drive: cell.drive.to_string(),
        dst_mod64_bytes: Some(cell.conditions.placement.dst),
        src_mod64_bytes: Some(cell.conditions.placement.src),
        delta_mod4096_bytes: cell.conditions.placement.delta,
        pages: cell.conditions.pages.to_string(),
        consumer: cell.conditions.consumer.to_string(),
        source: Some(cell.conditions.source.to_string()),
        threads: Some(cell.conditions.threads),
        ..of_extent(run, kind, &cell.extent())
    }
}

fn cell_rows(run: &str, found: &CellOutcome, rows: &mut Vec<DecisionRow>) {
    let cell = &found.cell;
    rows.push(DecisionRow {
        trials: Some(found.trials),
        samples: Some(found.samples),
        stop: found.stop.to_string(),
        cycles_per_ns: Some(found.cycles_per_ns),
        driver_ns: Some(found.driver_ns),
        unsupported: Some(found.excluded.unsupported),
        incorrect: Some(found.excluded.incorrect),
        crashed: Some(found.excluded.crashed),
        hung: Some(found.excluded.hung),
        ..at_cell(run, kind::CELL, cell)
    });
    if let Some(winner) = &found.winner {
        rows.push(with_times(at_cell(run, kind::WINNER, cell), winner));
    }
    for standing in &found.standings {
        rows.push(standing_row(run, cell, standing, &found.ties));
    }
    // Ties that are no finalists have no times of their own here.
    for tie in found.ties.iter().filter(|t| found.standings.iter().all(|s| s.timed.variant != **t))
    {
        rows.push(DecisionRow { subject: tie.to_string(), ..at_cell(run, kind::TIE, cell) });
    }
    for baseline in &found.baselines {
        rows.push(baseline_row(run, cell, baseline));
    }
}

fn with_times(row: DecisionRow, timed: &Timed) -> DecisionRow {
    DecisionRow {
        subject: timed.variant.to_string(),
        code_bytes: Some(timed.code_bytes),
        bytes_per_cycle: Some(timed.bytes_per_cycle),
        ..with_ns(row, timed.ns, timed.ci)
    }
}

fn with_ns(row: DecisionRow, ns: f64, ci: (f64, f64)) -> DecisionRow {
    let ps = |ns| Some(Picos::from_ns(ns).0);
    DecisionRow { median_ps: ps(ns), ci_low_ps: ps(ci.0), ci_high_ps: ps(ci.1), ..row }
}

fn standing_row(run: &str, cell: &Cell, standing: &Standing, ties: &[Variant]) -> DecisionRow {
    let tied = ties.contains(&standing.timed.variant);
    let row = at_cell(run, if tied { kind::TIE } else { kind::FINALIST }, cell);
    DecisionRow {
        ratio: Some(standing.ratio_to_best),
        ratio_ci_low: Some(standing.ratio_ci.0),
        ratio_ci_high: Some(standing.ratio_ci.1),
        verdict: standing.verdict.to_string(),
        detail: if standing.non_temporal { parse::NON_TEMPORAL.into() } else { String::new() },
        ..with_times(row, &standing.timed)
    }
}

fn baseline_row(run: &str, cell: &Cell, baseline: &BaselineOutcome) -> DecisionRow {
    let row =
        DecisionRow { subject: one_line(&baseline.name), ..at_cell(run, kind::BASELINE, cell) };
    match &baseline.result {
        Ok(times) => DecisionRow {
            ratio: Some(times.ratio),
            ratio_ci_low: Some(times.ratio_ci.0),
            ratio_ci_high: Some(times.ratio_ci.1),
            verdict: times.verdict.to_string(),
            ..with_ns(row, times.ns, times.ci)
        },
        Err(failure) => DecisionRow {
            verdict: failure.kind.word().into(),
            // Not for people but whole: a record must give back what it was given.
            detail: serde_json::to_string(failure).unwrap_or_default(),
            ..row
        },
    }
}

fn robust_rows(
    run: &str,
    kind: &str,
    outcome: &SearchOutcome,
    size: &SizeOutcome,
    robust: &Robust,
    rows: &mut Vec<DecisionRow>,
) {
    let subject = robust.variant.to_string();
    rows.push(DecisionRow {
        op: outcome.op.to_string(),
        subject: subject.clone(),
        regret: Some(robust.max_regret),
        ..of_extent(run, kind, &size.extent)
    });
    for row in &robust.by_cell {
        rows.push(DecisionRow {
            subject: subject.clone(),
            regret: Some(row.regret),
            regret_ci_low: Some(row.ci.0),
            regret_ci_high: Some(row.ci.1),
            ..at_cell(run, kind, &row.cell)
        });
    }
}
