//! What a strategy sees of a cell: the candidates, what is known of them, and a way to ask for
//! samples.

use std::collections::HashMap;

use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use super::budget::Share;
use super::candidate::{Candidate, axes_apart};
use super::context::{Context, candidate_entrant};
use super::panel::{Effort, Panel};
use super::plan::is_cheap;
use super::screen::{LARGE, Look, Screen};
use crate::space::stratified;
use crate::subject::{Level, Variant};
use crate::trial::{EvaluateError, Phase};

/// Candidates in one request: enough that the baselines beside them cost little, few enough
/// that they share one moment of the machine.
const CHUNK: usize = 48;

/// The same where calls are large.
const FEW: usize = 6;

/// Length of a screening pass, nanoseconds: several times what it takes to prepare one in the
/// first level. Where a neighbour shares the core, it disturbs by the microsecond, and a shorter
/// look sees mostly that.
const PASS_NS: u32 = 8_000;

/// How to look at candidates.
#[derive(Clone, Copy, Debug)]
pub(super) struct Looks {
    /// Layouts of each; a layout counts as one value.
    pub(super) layouts: u32,
    /// Blocks a layout; their median counts.
    pub(super) blocks: u32,
    /// Whether the end of the share stops it.
    pub(super) stoppable: bool,
}

impl Looks {
    /// So many samples, each of a layout of its own.
    pub(super) const fn of(layouts: u32) -> Looks {
        Looks { layouts, blocks: 1, stoppable: true }
    }
}

/// A cell's candidates in the hands of a strategy.
pub(super) struct Field<'f, 'a, 's> {
    screen: &'f mut Screen<'s>,
    context: &'f mut Context<'a>,
    share: Share,
    favourites: &'f [usize],
    epoch: Option<u32>,
}

impl<'f, 'a, 's> Field<'f, 'a, 's> {
    pub(super) fn new(
        screen: &'f mut Screen<'s>,
        context: &'f mut Context<'a>,
        share: Share,
        favourites: &'f [usize],
    ) -> Field<'f, 'a, 's> {
        Field { screen, context, share, favourites, epoch: None }
    }

    /// How many candidates there are; they are named by their index.
    pub(super) fn len(&self) -> usize {
        self.screen.candidates.len()
    }

    pub(super) fn variant(&self, index: usize) -> &'s Variant {
        let candidates: &'s [Candidate] = self.screen.candidates;
        &candidates[index].variant
    }

    pub(super) fn rng(&mut self) -> &mut ChaCha8Rng {
        &mut self.context.rng
    }

    /// Leaders of other cells.
    pub(super) fn favourites(&self) -> &'f [usize] {
        self.favourites
    }

    /// Whether priming is cheap, so that thousands can be timed in a moment.
    pub(super) fn is_cheap(&self) -> bool {
        is_cheap(&self.screen.cell)
    }

    /// Blocks that an exhaustive visit gives each candidate in one layout. In l1 a sample costs
    /// little more than its pass; elsewhere the priming, and one of a mix is of a thousand calls.
    pub(super) fn rounds_are_cheap(&self) -> bool {
        self.screen.cell.state.level() == Some(Level::L1) && self.screen.cell.mix.is_none()
    }

    /// Whether the budget was asked for, and so counts for more than completeness.
    pub(super) fn is_strict(&self) -> bool {
        self.context.strict
    }

    /// Whether nobody races the leaders afterwards, so that the strategy must find the one best.
    pub(super) fn is_alone(&self) -> bool {
        self.context.alone
    }

    /// Whether a candidate was timed or has failed.
    pub(super) fn is_known(&self, index: usize) -> bool {
        !self.screen.tallies[index].values.is_empty() || self.screen.failed.contains_key(&index)
    }

    /// The middle of a candidate's values; `None` without any.
    pub(super) fn score(&self, index: usize) -> Option<f64> {
        if self.screen.failed.contains_key(&index) {
            return None;
        }
        self.screen.tallies[index].score()
    }

    /// Candidates of a later stage rank before those of an earlier.
    pub(super) fn promote(&mut self, who: &[usize], stage: u32) {
        for index in who {
            self.screen.tallies[*index].stage = stage;
        }
    }

    /// Every time so far, the baselines' among them: of those the first is `len()`, the next one
    /// more.
    pub(super) fn looks(&self) -> &[Look] {
        &self.screen.looks
    }

    /// From now on this is a candidate's score: its log time relative to the baseline.
    pub(super) fn judge(&mut self, index: usize, score: f64) {
        self.screen.tallies[index].judged = Some(score);
    }

    /// The requests that follow are of this visit of the whole field.
    pub(super) fn begin_epoch(&mut self, epoch: u32) {
        self.epoch = Some(epoch);
    }

    /// Samples that the rest of the share pays for, the baselines' among them. Where time is
    /// counted, a first request must have told the price.
    pub(super) fn affords(&self) -> u64 {
        let price = self.screen.seconds * 1e9 / (self.screen.samples as f64).max(1.0);
        self.share.affords(price)
    }

    /// Whether the share is used.
    pub(super) fn is_used_up(&self) -> bool {
        self.screen.used_up || self.share.is_used()
    }

    /// About `count` candidates of every kind, not all of them known.
    pub(super) fn subset(&mut self, count: usize) -> Vec<usize> {
        let variants: Vec<_> = self.screen.candidates.iter().map(|c| c.variant).collect();
        let subset = stratified(&variants, count, &mut self.context.rng);
        let places: HashMap<&Variant, usize> =
            variants.iter().enumerate().map(|(i, v)| (v, i)).collect();
        let mut subset: Vec<usize> = subset.iter().filter_map(|v| places.get(v).copied()).collect();
        if self.screen.cell.footprint() > LARGE {
            // The budget may end after a few: the widest registers first.
            subset.sort_by_key(|i| std::cmp::Reverse(self.variant(*i).class.width()));
        } else {
            subset.shuffle(&mut self.context.rng);
        }
        subset
    }

    /// All candidates in a new order. Those that leave the cache make the next one's priming
    /// dear: they go together.
    pub(super) fn everyone(&mut self) -> Vec<usize> {
        let mut all: Vec<usize> = (0..self.len()).collect();
        all.shuffle(&mut self.context.rng);
        all.sort_by_key(|i| self.screen.candidates[*i].non_temporal());
        all
    }

    /// Candidates one axis step from one.
    pub(super) fn neighbours(&self, index: usize) -> Vec<usize> {
        let from = self.variant(index);
        (0..self.len()).filter(|i| axes_apart(self.variant(*i), from) == 1).collect()
    }

    /// Times candidates beside the baselines, a chunk a request.
    ///
    /// # Errors
    /// As the evaluator.
    pub(super) fn measure(&mut self, who: &[usize], looks: Looks) -> Result<(), EvaluateError> {
        let large = self.screen.cell.footprint() > LARGE;
        let mut done = 0;
        let mut left = who;
        while !left.is_empty() {
            let chunk = left.len().min(if large { FEW } else { CHUNK });
            let Some(chunk) = self.affordable(chunk, looks) else {
                self.screen.used_up = true;
                break;
            };
            let (chunk, rest) = left.split_at(chunk);
            left = rest;
            self.request(chunk, looks)?;
            done += chunk.len() as u64;
            let leader = self.leader();
            let cell = self.screen.cell;
            self.context.progress(&cell, Phase::Screen, (done, who.len() as u64), leader);
        }
        Ok(())
    }

    /// How many of so many members the share pays for; `None` for none. Nobody's budget is too
    /// small for the very first request: without it the cell has no answer at all.
    fn affordable(&self, members: usize, looks: Looks) -> Option<usize> {
        if !looks.stoppable || self.screen.samples == 0 {
            return Some(members);
        }
        let Some(left) = self.share.samples_left() else {
            return (!self.share.is_used()).then_some(members);
        };
        let each = u64::from(looks.layouts) * u64::from(looks.blocks);
        let beside = self.context.baseline_entrants(self.screen.cell.op).len() as u64 + 1;
        let whole = (left / each.max(1)).saturating_sub(beside) as usize;
        (whole > 0).then_some(members.min(whole))
    }

    /// One request: these beside the baselines.
    fn request(&mut self, chunk: &[usize], looks: Looks) -> Result<(), EvaluateError> {
        let mut entrants = self.context.baseline_entrants(self.screen.cell.op);
        // The reference twice: its noise is in every candidate of the block.
        entrants.extend(entrants.first().cloned());
        let fixed = entrants.len();
        let candidates = self.screen.candidates;
        entrants.extend(chunk.iter().map(|i| candidate_entrant(&candidates[*i], false)));
        let mut panel = self.context.panel(self.screen.cell, entrants);
        panel.epoch = self.epoch;
        let Looks { layouts, blocks, .. } = looks;
        let effort = Effort { layouts, blocks, pass_ns: PASS_NS, limit_ns: 0 };
        self.context.measure(&mut panel, Phase::Screen, effort, &mut self.share)?;
        let references = panel.references();
        self.keep(&panel, &references, fixed, chunk);
        for (k, index) in chunk.iter().enumerate() {
            match panel.failures[fixed + k].take() {
                Some(failure) => {
                    self.screen.failed.insert(*index, failure);
                }
                None => {
                    let values = panel.by_layout(fixed + k, &references);
                    self.screen.tallies[*index].values.extend(values);
                }
            }
        }
        self.screen.samples += panel.samples;
        self.screen.seconds += panel.seconds;
        Ok(())
    }

    /// Keeps every time of a panel whose first `fixed` entrants are baselines.
    fn keep(&mut self, panel: &Panel, references: &[usize], fixed: usize, chunk: &[usize]) {
        for row in panel.blocks() {
            let block = self.screen.blocks;
            self.screen.blocks += 1;
            let told: Vec<f64> =
                references.iter().map(|r| row[*r]).filter(|v| !v.is_nan()).collect();
            if told.is_empty() {
                continue;
            }
            let mean = told.iter().sum::<f64>() / told.len() as f64;
            // The reference is there several times, the others once.
            let baseline = |place: usize| {
                let before = |p: &usize| *p < place && !references.contains(p);
                match references.contains(&place) {
                    true => 0,
                    false => 1 + (0..fixed).filter(before).count(),
                }
            };
            let who = |place: usize| match place.checked_sub(fixed) {
                Some(k) => chunk[k],
                None => self.screen.candidates.len() + baseline(place),
            };
            let timed = row.iter().enumerate().filter(|(_, log)| !log.is_nan());
            let looks: Vec<Look> = timed
                .map(|(place, log)| Look { who: who(place), block, log: *log, over: log - mean })
                .collect();
            self.screen.looks.extend(looks);
        }
    }

    /// One request of one candidate alone: so many samples in a row, the log of their median
    /// time. Nothing stands beside it, so what the machine did meanwhile is in it.
    ///
    /// # Errors
    /// As the evaluator.
    pub(super) fn measure_alone(&mut self, index: usize, blocks: u32) -> Result<(), EvaluateError> {
        if self.share.samples_left().is_some_and(|left| left < blocks.into()) {
            self.screen.used_up = true;
            return Ok(());
        }
        let entrants = vec![candidate_entrant(&self.screen.candidates[index], false)];
        let mut panel = self.context.panel(self.screen.cell, entrants);
        let effort = Effort { layouts: 1, blocks, pass_ns: PASS_NS, limit_ns: 0 };
        self.context.measure(&mut panel, Phase::Screen, effort, &mut self.share)?;
        match panel.failures[0].take() {
            Some(failure) => {
                self.screen.failed.insert(index, failure);
            }
            None => self.screen.tallies[index].values.push(panel.nanoseconds(0).location()),
        }
        self.screen.samples += panel.samples;
        self.screen.seconds += panel.seconds;
        Ok(())
    }

    fn leader(&self) -> Option<(String, f64)> {
        let scored = (0..self.len()).filter_map(|i| Some((i, self.score(i)?)));
        let (index, mean) = scored.min_by(|a, b| a.1.total_cmp(&b.1))?;
        Some((self.variant(index).to_string(), (-mean).exp()))
    }
}
