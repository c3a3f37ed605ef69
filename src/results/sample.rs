//! Raw samples, back from their rows.

use std::path::Path;

use super::error::ResultsError;
use super::table::each_row;
use super::wire::{SampleRow, word};
use crate::subject::{Cell, Subject};
use crate::trial::Phase;

/// A raw sample, as recorded: one timed pass.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedSample {
    /// Id of its run.
    pub run: String,
    /// Part of the run.
    pub phase: Phase,
    /// Where it was measured.
    pub cell: Cell,
    /// What was measured.
    pub subject: Subject,
    /// Time-stamp ticks of the whole pass, driver included.
    pub ticks: u64,
    /// Calls in the pass; never 0.
    pub calls: u32,
    /// Core cycles a time-stamp tick while it was measured.
    pub cycles_per_tick: f64,
    /// Layout of its request, and block of the layout.
    pub place: (u32, u32),
    /// What tells its request from others; `None` in older files.
    pub request: Option<u64>,
    /// The visit of the whole field that it is from, where a space was recorded.
    pub epoch: Option<u32>,
}

impl RecordedSample {
    /// Core cycles a call: gross, so what fences and clock take of the pass is part of it.
    pub fn cycles(&self) -> f64 {
        self.ticks as f64 * self.cycles_per_tick / f64::from(self.calls)
    }
}

/// Reads a `samples.csv` row by row; what is damaged is left out. Gives back the warnings.
///
/// # Errors
/// Only where the file exists and cannot be read at all.
pub fn each_sample(
    path: &Path,
    each: impl FnMut(RecordedSample),
) -> Result<Vec<String>, ResultsError> {
    each_row(path, recorded, each)
}

fn recorded(row: SampleRow) -> Result<RecordedSample, String> {
    if row.calls == 0 {
        return Err("a sample of no calls".into());
    }
    Ok(RecordedSample {
        cell: row.cell()?,
        phase: word("phase", &row.phase, Phase::from_word)?,
        subject: Subject::parse(&row.subject).map_err(|e| e.to_string())?,
        run: row.run,
        ticks: row.ticks,
        calls: row.calls,
        cycles_per_tick: row.cycles_per_tick,
        place: (row.layout, row.block),
        request: row.request,
        epoch: row.epoch,
    })
}
