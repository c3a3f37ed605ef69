//! A first look at many candidates: successive halving, and neighbours of leaders where not
//! all could be looked at.

use std::collections::HashMap;

use rand::seq::SliceRandom;

use super::budget::Share;
use super::candidate::{Candidate, axes_apart};
use super::context::{Context, candidate_entrant};
use super::outcome::{Excluded, Stop};
use super::panel::Effort;
use super::plan::is_cheap;
use crate::space::stratified;
use crate::subject::{Cell, Level, Variant};
use crate::trial::{EvaluateError, Failure, FailureKind, Phase};

/// Candidates in one request: enough that the baselines beside them cost little, few enough
/// that they share one moment of the machine.
const CHUNK: usize = 48;

/// Where a call touches more than this, a few at a time: each takes long enough to be its own
/// moment, and the budget is looked at between requests.
pub(super) const LARGE: u64 = 8 << 20;
const FEW: usize = 6;

/// Length of a screening pass, nanoseconds: what is a tenth slower shows, and that is all
/// that screening must see.
const PASS_NS: u32 = 2_000;

/// Parts of the share: looking at many, and looking again at the better ones.
const BREADTH: f64 = 0.6;
const DEPTH: f64 = 0.6;

/// Halving keeps this part of the candidates in each round …
const KEEP: f64 = 0.25;

/// … until so few are left.
const LAST: usize = 24;

/// Leaders whose neighbours are looked at.
const LOCAL_LEADERS: usize = 6;

/// What screening of a cell found.
pub(super) struct Screened {
    /// Candidates that were timed in every round they came to, fastest first, with their
    /// mean log time relative to the baseline.
    pub(super) order: Vec<(usize, f64)>,
    /// Distinct candidates timed.
    pub(super) trials: u64,
    /// Samples made.
    pub(super) samples: u64,
    /// Why it ended.
    pub(super) stop: Stop,
    /// Candidates without a time.
    pub(super) excluded: Excluded,
}

/// Sums of one candidate's log times relative to the baseline.
#[derive(Clone, Copy, Default)]
struct Score {
    sum: f64,
    weight: f64,
    rounds: u32,
}

impl Score {
    fn mean(&self) -> f64 {
        self.sum / self.weight
    }
}

/// The state of a screening in work.
pub(super) struct Screen<'s> {
    cell: Cell,
    candidates: &'s [Candidate],
    scores: HashMap<usize, Score>,
    failed: HashMap<usize, Failure>,
    samples: u64,
    seconds: f64,
    used_up: bool,
}

impl<'s> Screen<'s> {
    pub(super) fn new(cell: Cell, candidates: &'s [Candidate]) -> Screen<'s> {
        Screen {
            cell,
            candidates,
            scores: HashMap::new(),
            failed: HashMap::new(),
            samples: 0,
            seconds: 0.0,
            used_up: false,
        }
    }

    /// Screens: everything where the state is cheap, else what the share affords of a
    /// stratified subset, always with `favourites` (leaders of other cells). The share is one
    /// of `parts` parts of what is left of the budget.
    ///
    /// # Errors
    /// As the evaluator; what was measured before stays.
    pub(super) fn run(
        &mut self,
        context: &mut Context<'_>,
        favourites: &[usize],
        parts: f64,
    ) -> Result<(), EvaluateError> {
        let mut share = context.meter.share(parts / BREADTH);
        let cheap = is_cheap(&self.cell);
        // Where the user set no budget, all are looked at, however long it takes.
        let all = cheap && !context.strict;
        let mut field: Vec<usize> = (0..self.candidates.len()).collect();
        if all {
            // Those that leave the cache make the next one's priming dear: they go together.
            field.shuffle(&mut context.rng);
            field.sort_by_key(|i| self.candidates[*i].non_temporal());
        } else {
            let mut first = self.subset(context, CHUNK);
            first.extend(favourites.iter().filter(|f| !first.contains(f)).collect::<Vec<_>>());
            if self.cell.footprint() > LARGE {
                // The budget may end after a few: the widest registers first.
                let width = |i: &usize| self.candidates[*i].variant.class.width();
                first.sort_by_key(|i| std::cmp::Reverse(width(i)));
            }
            self.round(context, &first, (1, 1), true, &mut share)?;
            // A third of the share for breadth, the rest for depth and neighbours.
            let price = self.seconds * 1e9 / (self.samples as f64).max(1.0);
            let affordable = share.affords(price) as usize / if cheap { 1 } else { 3 };
            field = self.subset(context, affordable.min(self.candidates.len()));
            field.retain(|i| !first.contains(i));
        }
        // In l1 a sample costs little more than its pass; elsewhere the priming.
        let near = self.cell.state.level() == Some(Level::L1);
        // One of a mix is of a thousand calls, and is repeated by itself where it was disturbed.
        let often = near && self.cell.mix.is_none();
        let blocks = if often { context.strategy.screen_rounds } else { 1 };
        self.round(context, &field, (1, blocks), !all, &mut share)?;
        if !cheap {
            for _ in 0..context.strategy.local_rounds {
                let near = self.neighbours();
                self.round(context, &near, (1, 1), true, &mut share)?;
            }
        }
        // Breadth where all are looked at takes what it takes; depth has its own part.
        let mut share = context.meter.share(parts / DEPTH);
        self.used_up = false;
        let mut layouts = 2;
        let mut left = self.ranking();
        loop {
            let keep = ((left.len() as f64 * KEEP) as usize).max(LAST).min(left.len());
            left.truncate(keep);
            let field: Vec<usize> = left.iter().map(|(i, _)| *i).collect();
            self.round(context, &field, (layouts, blocks), true, &mut share)?;
            left = self.ranking_of(&field);
            if keep <= LAST || self.used_up {
                return Ok(());
            }
            layouts *= 2;
        }
    }

    fn subset(&self, context: &mut Context<'_>, count: usize) -> Vec<usize> {
        let variants: Vec<_> = self.candidates.iter().map(|c| c.variant).collect();
        let subset = stratified(&variants, count, &mut context.rng);
        let places: HashMap<&Variant, usize> =
            variants.iter().enumerate().map(|(i, v)| (v, i)).collect();
        subset.iter().filter_map(|v| places.get(v).copied()).collect()
    }

    /// Times a field once, chunk by chunk. With `stoppable`, stops when the share is used.
    fn round(
        &mut self,
        context: &mut Context<'_>,
        field: &[usize],
        (layouts, blocks): (u32, u32),
        stoppable: bool,
        share: &mut Share,
    ) -> Result<(), EvaluateError> {
        let phase = Phase::Screen;
        let mut done = 0;
        let large = self.cell.footprint() > LARGE;
        for chunk in field.chunks(if large { FEW } else { CHUNK }) {
            // Nobody's budget is too small for the very first: without them the cell has no
            // answer at all.
            if stoppable && self.samples > 0 && share.is_used() {
                self.used_up = true;
                break;
            }
            let mut entrants = context.baseline_entrants(self.cell.op);
            // The reference twice: its noise is in every candidate of the block.
            entrants.extend(entrants.first().cloned());
            let fixed = entrants.len();
            entrants.extend(chunk.iter().map(|i| candidate_entrant(&self.candidates[*i], false)));
            let mut panel = context.panel(self.cell, entrants);
            let effort = Effort { layouts, blocks, pass_ns: PASS_NS, limit_ns: 0 };
            context.measure(&mut panel, phase, effort, share)?;
            let references = panel.references();
            for (k, index) in chunk.iter().enumerate() {
                if let Some(failure) = panel.failures[fixed + k].take() {
                    self.scores.remove(index);
                    self.failed.insert(*index, failure);
                    continue;
                }
                let value = panel.against(fixed + k, &references).location();
                if value.is_finite() {
                    let weight = f64::from(layouts);
                    let score = self.scores.entry(*index).or_default();
                    score.sum += value * weight;
                    score.weight += weight;
                    score.rounds += 1;
                }
            }
            self.samples += panel.samples;
            self.seconds += panel.seconds;
            done += chunk.len() as u64;
            let leader = self.leader();
            context.progress(&self.cell, phase, (done, field.len() as u64), leader);
        }
        Ok(())
    }

    fn leader(&self) -> Option<(String, f64)> {
        let means = self.scores.iter().map(|(i, s)| (*i, s.mean()));
        let (index, mean) = means.min_by(|a, b| a.1.total_cmp(&b.1))?;
        Some((self.candidates[index].variant.to_string(), (-mean).exp()))
    }

    /// All that were timed, those of later rounds first, fastest first within a round.
    fn ranking(&self) -> Vec<(usize, f64)> {
        let mut all: Vec<_> = self.scores.iter().map(|(i, s)| (*i, *s)).collect();
        all.sort_by(|(i, a), (j, b)| {
            b.rounds.cmp(&a.rounds).then(a.mean().total_cmp(&b.mean())).then(i.cmp(j))
        });
        all.into_iter().map(|(i, s)| (i, s.mean())).collect()
    }

    fn ranking_of(&self, field: &[usize]) -> Vec<(usize, f64)> {
        let mut some: Vec<_> =
            field.iter().filter_map(|i| Some((*i, self.scores.get(i)?.mean()))).collect();
        some.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
        some
    }

    /// Untimed candidates one step away from the leaders.
    fn neighbours(&self) -> Vec<usize> {
        let mut leaders: Vec<_> = self.scores.iter().map(|(i, s)| (*i, s.mean())).collect();
        leaders.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
        leaders.truncate(LOCAL_LEADERS);
        (0..self.candidates.len())
            .filter(|i| !self.scores.contains_key(i) && !self.failed.contains_key(i))
            .filter(|i| {
                let variant = &self.candidates[*i].variant;
                leaders.iter().any(|(l, _)| axes_apart(&self.candidates[*l].variant, variant) == 1)
            })
            .collect()
    }

    /// What was found so far.
    pub(super) fn finish(self, interrupted: bool) -> Screened {
        let mut excluded = Excluded::default();
        for failure in self.failed.values() {
            match failure.kind {
                FailureKind::Unsupported(_) => excluded.unsupported += 1,
                FailureKind::Incorrect(_) => excluded.incorrect += 1,
                FailureKind::Crashed { .. } => excluded.crashed += 1,
                FailureKind::Hung => excluded.hung += 1,
            }
        }
        let stop = match (interrupted, self.used_up) {
            (true, _) => Stop::Interrupted,
            (_, true) => Stop::Budget,
            _ => Stop::Exhausted,
        };
        let order = self.ranking();
        let (trials, samples) = (self.scores.len() as u64, self.samples);
        Screened { order, trials, samples, stop, excluded }
    }
}
