//! A first look at many candidates: what is known of each, and what a strategy asked for.

use std::collections::HashMap;

use super::candidate::Candidate;
use super::context::Context;
use super::field::Field;
use super::outcome::{Excluded, Stop};
use super::strategy;
use crate::subject::Cell;
use crate::trial::{EvaluateError, Failure, FailureKind};

/// Where a call touches more than this, a few at a time: each takes long enough to be its own
/// moment, and the budget is looked at between requests.
pub(super) const LARGE: u64 = 8 << 20;

/// The strategy's part of a cell's share; the rest is a reserve for what it cannot foresee.
const PART: f64 = 0.85;

/// What screening of a cell found.
pub(super) struct Screened {
    /// Candidates that were timed in every round they came to, best first, with their mean log
    /// time relative to the baseline.
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

/// One time of one candidate or baseline.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Look {
    /// A candidate's index; past the candidates, a baseline's.
    pub(super) who: usize,
    /// Which block of the screening, from 0: one moment of the machine.
    pub(super) block: u32,
    /// Log of ticks a call.
    pub(super) log: f64,
    /// The same over the mean of the first baseline's in the block.
    pub(super) over: f64,
}

/// What is known of one candidate.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    /// Log times relative to the baseline, one a layout.
    pub(super) values: Vec<f64>,
    /// How far it came: candidates of a later stage rank before those of an earlier.
    pub(super) stage: u32,
    /// What the strategy makes of the candidate in the end, in place of the middle of its values.
    pub(super) judged: Option<f64>,
}

/// Part of the values that is cut from each end where there are enough of them.
const CUT: f64 = 0.25;

impl Tally {
    /// What it was judged to take, else the middle of the values; `None` without any.
    pub(super) fn score(&self) -> Option<f64> {
        let mut values = self.values.clone();
        if values.is_empty() {
            return None;
        }
        if self.judged.is_some() {
            return self.judged;
        }
        values.sort_unstable_by(f64::total_cmp);
        // Of two the mean, of three the middle one, of more the mean of the middle half.
        let cut = if values.len() == 3 { 1 } else { (values.len() as f64 * CUT) as usize };
        let middle = &values[cut..values.len() - cut];
        Some(middle.iter().sum::<f64>() / middle.len() as f64)
    }
}

/// The state of a screening in work: it survives an interruption.
pub(super) struct Screen<'s> {
    pub(super) cell: Cell,
    pub(super) candidates: &'s [Candidate],
    pub(super) tallies: Vec<Tally>,
    /// Every time, in the order they came.
    pub(super) looks: Vec<Look>,
    /// Blocks so far.
    pub(super) blocks: u32,
    pub(super) failed: HashMap<usize, Failure>,
    pub(super) samples: u64,
    pub(super) seconds: f64,
    pub(super) used_up: bool,
}

impl<'s> Screen<'s> {
    pub(super) fn new(cell: Cell, candidates: &'s [Candidate]) -> Screen<'s> {
        Screen {
            cell,
            candidates,
            tallies: vec![Tally::default(); candidates.len()],
            looks: Vec::new(),
            blocks: 0,
            failed: HashMap::new(),
            samples: 0,
            seconds: 0.0,
            used_up: false,
        }
    }

    /// Screens by the context's strategy, always with `favourites` (leaders of other cells). The
    /// share is one of `parts` parts of what is left of the budget.
    ///
    /// # Errors
    /// As the evaluator; what was measured before stays.
    pub(super) fn run(
        &mut self,
        context: &mut Context<'_>,
        favourites: &[usize],
        parts: f64,
    ) -> Result<(), EvaluateError> {
        let settings = context.strategy;
        let share = context.meter.share(parts / PART);
        let mut field = Field::new(self, context, share, favourites);
        strategy::run(&mut field, &settings)
    }

    /// Screens with all that is left of the budget.
    ///
    /// # Errors
    /// As the evaluator.
    pub(super) fn run_all(&mut self, context: &mut Context<'_>) -> Result<(), EvaluateError> {
        self.run(context, &[], PART)
    }

    /// All that were timed, those of later stages first, fastest first within a stage.
    pub(super) fn ranking(&self) -> Vec<(usize, f64)> {
        let timed = self.tallies.iter().enumerate().filter(|(i, _)| !self.failed.contains_key(i));
        let mut all: Vec<(usize, u32, f64)> =
            timed.filter_map(|(i, t)| Some((i, t.stage, t.score()?))).collect();
        all.sort_by(|a, b| b.1.cmp(&a.1).then(a.2.total_cmp(&b.2)).then(a.0.cmp(&b.0)));
        all.into_iter().map(|(i, _, score)| (i, score)).collect()
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
        let (trials, samples) = (order.len() as u64, self.samples);
        Screened { order, trials, samples, stop, excluded }
    }
}
