//! Recorded spaces: every candidate of a cell with its samples, epoch by epoch.

use std::collections::HashMap;

use crate::results::error::ResultsError;
use crate::results::folder::Folder;
use crate::results::sample::RecordedSample;
use crate::search::{Candidate, compile_all};
use crate::stats::median;
use crate::subject::{Baseline, Cell, Subject, Variant};
use crate::trial::{Body, Phase};

/// A block in which the baseline took longer by this (as a log) than it takes in the quietest
/// quarter of all blocks was disturbed: half a core is lost to a busy neighbour, a few per cent to
/// the clock.
const QUIET: f64 = 0.09;

/// The two samples of the baseline in a block agree within this, or the block was disturbed.
const AGREE: f64 = 0.05;

/// Samples that a candidate must have in each half of the epochs to be judged at all.
const LEAST: usize = 3;

/// Every candidate of a cell with its recorded samples.
#[derive(Clone, Debug)]
pub struct RecordedSpace {
    /// Where they were made.
    pub cell: Cell,
    /// Who was recorded.
    pub candidates: Vec<Candidate>,
    /// Epochs: visits of all candidates.
    pub epochs: u32,
    /// Blocks that were recorded, and how many of them were disturbed and are left out.
    pub blocks: (u64, u64),
    /// Candidates left out because too few of their samples were undisturbed.
    pub short: u64,
    /// Typical log of ticks a call of the baseline.
    pub(super) baseline_log_ticks: f64,
    /// Of each candidate, log times relative to the baseline, each with its epoch.
    pub(super) samples: Vec<Vec<(u32, f64)>>,
    pub(super) places: HashMap<Body, usize>,
    /// Recorded ids without enough samples, for messages.
    known: Vec<Variant>,
}

impl RecordedSpace {
    /// Samples of a candidate in the even or odd epochs.
    pub(super) fn half(&self, index: usize, half: u32) -> Vec<f64> {
        let of_half = self.samples[index].iter().filter(|(epoch, _)| epoch % 2 == half);
        of_half.map(|(_, value)| *value).collect()
    }

    /// Median log time of a candidate in the even or odd epochs.
    pub(super) fn middle(&self, index: usize, half: u32) -> f64 {
        median(&mut self.half(index, half))
    }

    /// Median number of samples of a candidate.
    pub fn samples_each(&self) -> usize {
        let mut counts: Vec<f64> = self.samples.iter().map(|s| s.len() as f64).collect();
        median(&mut counts) as usize
    }

    /// The id of a body that was recorded, but not often enough.
    pub(super) fn name_of(&self, body: &Body) -> Option<String> {
        let is = |v: &&Variant| Candidate::new(**v).is_ok_and(|c| c.body == *body);
        self.known.iter().find(is).map(Variant::to_string)
    }

    /// Which candidate an id is.
    pub fn place(&self, variant: &Variant) -> Option<usize> {
        self.candidates.iter().position(|c| c.variant == *variant)
    }
}

/// What is read of one cell.
#[derive(Default)]
struct Reading {
    epochs: HashMap<(String, u32), u32>,
    /// Of each block the baseline's logs of ticks a call.
    blocks: Vec<Vec<f64>>,
    /// Candidates' samples: epoch, block, log of ticks a call.
    samples: HashMap<Variant, Vec<(u32, usize, f64)>>,
    /// In the order of first appearance.
    order: Vec<Variant>,
    /// The request in work, and where each of its blocks is in `blocks`.
    request: Option<(String, u64)>,
    places: HashMap<(u32, u32), usize>,
}

impl Reading {
    fn take(&mut self, sample: &RecordedSample, request: u64, epoch: u32) {
        let asked = Some((sample.run.clone(), request));
        if self.request != asked {
            self.request = asked;
            self.places.clear();
        }
        let block = *self.places.entry(sample.place).or_insert_with(|| {
            self.blocks.push(Vec::new());
            self.blocks.len() - 1
        });
        let log = (sample.ticks.max(1) as f64 / f64::from(sample.calls)).ln();
        match &sample.subject {
            Subject::Baseline(Baseline::Libc) => self.blocks[block].push(log),
            Subject::Variant(variant) => {
                let next = self.epochs.len() as u32;
                let epoch = *self.epochs.entry((sample.run.clone(), epoch)).or_insert(next);
                let list = self.samples.entry(*variant).or_insert_with(|| {
                    self.order.push(*variant);
                    Vec::new()
                });
                list.push((epoch, block, log));
            }
            _ => {}
        }
    }

    /// The space, without what was disturbed; `None` where too little is left for a search.
    fn finish(self, cell: Cell) -> Option<RecordedSpace> {
        let mut all: Vec<f64> = self.blocks.iter().flatten().copied().collect();
        all.sort_unstable_by(f64::total_cmp);
        let quiet = *all.get(all.len() / 4)? + QUIET;
        let level: Vec<Option<f64>> = self
            .blocks
            .iter()
            .map(|logs| {
                let low = logs.iter().copied().fold(f64::INFINITY, f64::min);
                let high = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                (high < quiet && high - low < AGREE).then_some(low)
            })
            .collect();
        let mut kept: HashMap<Variant, Vec<(u32, f64)>> = HashMap::new();
        for (variant, samples) in &self.samples {
            let calm = samples.iter().filter_map(|(e, b, log)| Some((*e, log - level[*b]?)));
            kept.insert(*variant, calm.collect());
        }
        let whole = |v: &&Variant| {
            let of = |half| kept[v].iter().filter(|(e, _)| e % 2 == half).count() >= LEAST;
            of(0) && of(1)
        };
        let recorded = self.order.len();
        let enough: Vec<Variant> = self.order.iter().filter(whole).copied().collect();
        // What the present encoder makes of the ids; of several that are one code, one stays.
        let candidates = compile_all(enough).ok()?;
        let short = recorded - candidates.len();
        let places = candidates.iter().enumerate().map(|(i, c)| (c.body.clone(), i)).collect();
        let samples: Vec<Vec<(u32, f64)>> =
            candidates.iter().filter_map(|c| kept.remove(&c.variant)).collect();
        let known = kept.into_keys().collect();
        let calm: Vec<f64> = level.iter().flatten().copied().collect();
        let blocks = (level.len() as u64, (level.len() - calm.len()) as u64);
        let space = RecordedSpace {
            cell,
            epochs: self.epochs.len() as u32,
            blocks,
            short: short as u64,
            baseline_log_ticks: median(&mut calm.clone()),
            samples,
            places,
            candidates,
            known,
        };
        (space.candidates.len() > 1).then_some(space)
    }
}

/// The spaces that are recorded in a folder, and the warnings of its files.
///
/// # Errors
/// Where the samples exist and cannot be read.
pub fn spaces(folder: &Folder) -> Result<(Vec<RecordedSpace>, Vec<String>), ResultsError> {
    let mut cells: Vec<(Cell, Reading)> = Vec::new();
    let mut warnings = folder.each_sample(|sample| {
        let (Some(request), Some(epoch), Phase::Screen) =
            (sample.request, sample.epoch, sample.phase)
        else {
            return;
        };
        let known = cells.iter().position(|(cell, _)| *cell == sample.cell);
        let at = known.unwrap_or_else(|| {
            cells.push((sample.cell, Reading::default()));
            cells.len() - 1
        });
        cells[at].1.take(&sample, request, epoch);
    })?;
    let mut spaces = Vec::new();
    for (cell, reading) in cells {
        match reading.finish(cell) {
            Some(space) => spaces.push(space),
            None => warnings.push(format!(
                "{cell}: too few undisturbed samples of its candidates; record more epochs, with \
                 less else running"
            )),
        }
    }
    Ok((spaces, warnings))
}
