//! Recorded spaces: every candidate of a cell with its samples, epoch by epoch.

use std::collections::HashMap;

use super::polish::{Entry, polish};
use crate::results::error::ResultsError;
use crate::results::folder::Folder;
use crate::results::sample::RecordedSample;
use crate::search::{Candidate, compile_all};
use crate::stats::median;
use crate::subject::{Baseline, Cell, Subject, Variant};
use crate::trial::{Body, Phase};

/// A block in which the members' times lie so many times farther from what is usual of each than
/// in the middle one of all blocks was disturbed: something got into some of them.
const SPREAD: f64 = 3.0;

/// Samples that a candidate must have in each half of the epochs to be judged at all.
const LEAST: usize = 12;

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
    /// Usual distance of a sample from the middle of its candidate's, as a fraction, once what the
    /// moment did to all is taken away.
    pub noise: f64,
    /// Typical log of ticks a call of the baseline.
    pub(super) baseline_log_ticks: f64,
    /// Of each candidate, log times over the baseline's typical one, without what the moment did
    /// to all, each with its epoch.
    pub(super) samples: Vec<Vec<(u32, f64)>>,
    /// The same of the baseline itself.
    pub(super) baseline: Vec<(u32, f64)>,
    /// What the blocks did to all of their members, as a log, each with its epoch.
    pub(super) moments: Vec<(u32, f64)>,
    pub(super) places: HashMap<Body, usize>,
    /// Recorded ids without enough samples, for messages.
    known: Vec<Variant>,
}

impl RecordedSpace {
    /// Samples of a candidate in the even or odd epochs.
    pub(super) fn half(&self, index: usize, half: u32) -> Vec<f64> {
        of_half(&self.samples[index], half)
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

/// The values of the even or odd epochs.
pub(super) fn of_half(values: &[(u32, f64)], half: u32) -> Vec<f64> {
    values.iter().filter(|(epoch, _)| epoch % 2 == half).map(|(_, value)| *value).collect()
}

/// What is read of one cell.
#[derive(Default)]
struct Reading {
    epochs: HashMap<(String, u32), u32>,
    /// Of each block its epoch.
    blocks: Vec<u32>,
    /// All times; the baseline is subject 0.
    entries: Vec<Entry>,
    /// Candidates, from subject 1.
    order: Vec<Variant>,
    subjects: HashMap<Variant, usize>,
    /// The request in work, and where each of its blocks is in `blocks`.
    request: Option<(String, u64)>,
    places: HashMap<(u32, u32), usize>,
}

impl Reading {
    fn take(&mut self, sample: &RecordedSample, request: u64, epoch: u32) {
        let subject = match &sample.subject {
            Subject::Baseline(Baseline::Libc) => 0,
            Subject::Variant(variant) => *self.subjects.entry(*variant).or_insert_with(|| {
                self.order.push(*variant);
                self.order.len()
            }),
            _ => return,
        };
        let asked = Some((sample.run.clone(), request));
        if self.request != asked {
            self.request = asked;
            self.places.clear();
        }
        let next = self.epochs.len() as u32;
        let epoch = *self.epochs.entry((sample.run.clone(), epoch)).or_insert(next);
        let block = *self.places.entry(sample.place).or_insert_with(|| {
            self.blocks.push(epoch);
            self.blocks.len() - 1
        });
        let log = (sample.ticks.max(1) as f64 / f64::from(sample.calls)).ln();
        self.entries.push(Entry { subject, block, log });
    }

    /// The space, without what was disturbed; `None` where too little is left for a search.
    fn finish(self, cell: Cell) -> Option<RecordedSpace> {
        let polished = polish(&self.entries, 1 + self.order.len(), self.blocks.len());
        if self.blocks.is_empty() {
            return None;
        }
        let usual = median(&mut polished.rests.clone());
        // Clocks have steps: where all are still, a rest of nothing is no measure.
        let calm = |block: usize| polished.rests[block] <= (usual * SPREAD).max(1e-3);
        let level = polished.own[0];
        let mut own: Vec<Vec<(u32, f64)>> = vec![Vec::new(); 1 + self.order.len()];
        for entry in self.entries.iter().filter(|e| calm(e.block)) {
            let value = entry.log - polished.moments[entry.block] - level;
            own[entry.subject].push((self.blocks[entry.block], value));
        }
        let halves = |samples: &[(u32, f64)]| {
            let of = |half| samples.iter().filter(|(e, _)| e % 2 == half).count() >= LEAST;
            of(0) && of(1)
        };
        let (baseline, loops) = own.split_first_mut()?;
        let mut kept: HashMap<Variant, Vec<(u32, f64)>> =
            self.order.iter().copied().zip(loops.iter_mut().map(std::mem::take)).collect();
        let recorded = self.order.len();
        let enough: Vec<Variant> =
            self.order.iter().filter(|v| halves(&kept[*v])).copied().collect();
        // What the present encoder makes of the ids; of several that are one code, one stays.
        let candidates = compile_all(enough).ok()?;
        let short = recorded - candidates.len();
        let places = candidates.iter().enumerate().map(|(i, c)| (c.body.clone(), i)).collect();
        let samples: Vec<Vec<(u32, f64)>> =
            candidates.iter().filter_map(|c| kept.remove(&c.variant)).collect();
        let known = kept.into_keys().collect();
        let moments: Vec<(u32, f64)> = (0..self.blocks.len())
            .filter(|block| calm(*block))
            .map(|block| (self.blocks[block], polished.moments[block]))
            .collect();
        let blocks = (self.blocks.len() as u64, (self.blocks.len() - moments.len()) as u64);
        let space = RecordedSpace {
            cell,
            epochs: self.epochs.len() as u32,
            blocks,
            short: short as u64,
            noise: usual.exp_m1(),
            baseline_log_ticks: level,
            samples,
            baseline: std::mem::take(baseline),
            moments,
            places,
            candidates,
            known,
        };
        (space.candidates.len() > 1 && halves(&space.moments)).then_some(space)
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
