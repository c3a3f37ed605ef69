//! Trials: domain to row and back.

use std::path::Path;

use super::error::ResultsError;
use super::table::{Read, each_row, one_line, read_table};
use super::wire::{SampleRow, TrialRow, mix_columns, word};
use crate::subject::{Cell, Subject};
use crate::trial::{Phase, Role, Sample, Summary, Trial};
use crate::units::Picos;

/// Outcome of a row that has times.
const OK: &str = "ok";

/// A failure, as recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedFailure {
    /// `unsupported`, `incorrect`, `crashed` or `hung`.
    pub word: String,
    /// What happened, with the case.
    pub text: String,
}

/// A trial, as recorded.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedTrial {
    /// Id of its run.
    pub run: String,
    /// Part of the run.
    pub phase: Phase,
    /// What the subject was.
    pub role: Role,
    /// Where it was measured.
    pub cell: Cell,
    /// What was measured.
    pub subject: Subject,
    /// Length of its code, bytes, where it is generated.
    pub code_bytes: Option<u32>,
    /// Whether the full verification had passed.
    pub fully_verified: bool,
    /// Times, or why there are none.
    pub outcome: Result<Summary, RecordedFailure>,
    /// Core cycles a time-stamp tick while it was measured.
    pub cycles_per_tick: f64,
}

/// Reads a `trials.csv`; what is damaged is left out with a warning.
///
/// # Errors
/// Only where the file exists and cannot be read at all.
pub fn read_trials(path: &Path) -> Result<Read<RecordedTrial>, ResultsError> {
    read_table(path, recorded)
}

/// Reads a `trials.csv` row by row, for files that are too large to hold; gives back the
/// warnings.
///
/// # Errors
/// Only where the file exists and cannot be read at all.
pub fn each_trial(
    path: &Path,
    each: impl FnMut(RecordedTrial),
) -> Result<Vec<String>, ResultsError> {
    each_row(path, recorded, each)
}

fn recorded(row: TrialRow) -> Result<RecordedTrial, String> {
    let cell = row.cell()?;
    let needs = |what: &str| format!("outcome `{OK}` without {what}");
    let outcome = if row.outcome == OK {
        Ok(Summary {
            samples: row.samples.ok_or_else(|| needs("samples"))?,
            median: row.median_ps.map(Picos).ok_or_else(|| needs("median_ps"))?,
            ci: (
                row.ci_low_ps.map(Picos).ok_or_else(|| needs("ci_low_ps"))?,
                row.ci_high_ps.map(Picos).ok_or_else(|| needs("ci_high_ps"))?,
            ),
            ratio: row.ratio,
            bytes_per_cycle: row.bytes_per_cycle.ok_or_else(|| needs("bytes_per_cycle"))?,
        })
    } else {
        Err(RecordedFailure { word: row.outcome, text: row.failure })
    };
    Ok(RecordedTrial {
        cell,
        run: row.run,
        phase: word("phase", &row.phase, Phase::from_word)?,
        role: word("role", &row.role, Role::from_word)?,
        subject: Subject::parse(&row.subject).map_err(|e| e.to_string())?,
        code_bytes: row.code_bytes,
        fully_verified: row.fully_verified,
        outcome,
        cycles_per_tick: row.cycles_per_tick,
    })
}

/// A trial as a row of a run.
pub(super) fn trial_row(run: &str, trial: &Trial<'_>) -> TrialRow {
    let cell = &trial.cell;
    let (mix, mix_digest, mean_bytes) = mix_columns(cell.mix);
    let summary = trial.outcome.as_ref().ok();
    let failure = trial.outcome.as_ref().err();
    TrialRow {
        run: run.into(),
        phase: trial.phase.to_string(),
        role: trial.role.to_string(),
        op: cell.op.to_string(),
        size_bytes: cell.size,
        state: cell.state.to_string(),
        drive: cell.drive.to_string(),
        dst_mod64_bytes: cell.conditions.placement.dst,
        src_mod64_bytes: cell.conditions.placement.src,
        delta_mod4096_bytes: cell.conditions.placement.delta,
        pages: cell.conditions.pages.to_string(),
        consumer: cell.conditions.consumer.to_string(),
        subject: one_line(&trial.subject.to_string()),
        code_bytes: trial.code_bytes,
        fully_verified: trial.fully_verified,
        outcome: failure.map_or(OK, |f| f.kind.word()).into(),
        failure: failure.map_or(String::new(), |f| one_line(&f.to_string())),
        samples: summary.map(|s| s.samples),
        median_ps: summary.map(|s| s.median.0),
        ci_low_ps: summary.map(|s| s.ci.0.0),
        ci_high_ps: summary.map(|s| s.ci.1.0),
        ratio: summary.and_then(|s| s.ratio),
        bytes_per_cycle: summary.map(|s| s.bytes_per_cycle),
        cycles_per_tick: trial.clock.cycles_per_tick,
        mix,
        mix_digest,
        mean_bytes,
        source: Some(cell.conditions.source.to_string()),
        threads: Some(cell.conditions.threads),
    }
}

/// A sample of a trial as a row of a run; `asked` is its request and epoch.
pub(super) fn sample_row(
    run: &str,
    trial: &Trial<'_>,
    sample: &Sample,
    asked: (Option<u64>, Option<u32>),
) -> SampleRow {
    let cell = &trial.cell;
    let (mix, mix_digest, mean_bytes) = mix_columns(cell.mix);
    SampleRow {
        run: run.into(),
        phase: trial.phase.to_string(),
        op: cell.op.to_string(),
        size_bytes: cell.size,
        state: cell.state.to_string(),
        drive: cell.drive.to_string(),
        dst_mod64_bytes: cell.conditions.placement.dst,
        src_mod64_bytes: cell.conditions.placement.src,
        delta_mod4096_bytes: cell.conditions.placement.delta,
        pages: cell.conditions.pages.to_string(),
        consumer: cell.conditions.consumer.to_string(),
        subject: one_line(&trial.subject.to_string()),
        layout: sample.layout,
        block: sample.block,
        ticks: sample.ticks,
        calls: sample.calls,
        switches: sample.disturbance.switches,
        repeats: sample.disturbance.repeats,
        cycles_per_tick: trial.clock.cycles_per_tick,
        mix,
        mix_digest,
        mean_bytes,
        source: Some(cell.conditions.source.to_string()),
        threads: Some(cell.conditions.threads),
        thread: Some(sample.thread),
        request: asked.0,
        epoch: asked.1,
    }
}
