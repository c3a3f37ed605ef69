//! From a question to cells.

use serde::{Deserialize, Serialize};

use crate::measure::{Levels, state_exists};
use crate::subject::{
    Baseline, Cell, Conditions, Consumer, Contract, Drive, Extent, Level, Op, SizeMix, State,
};

use super::budget::Budget;

/// Below this size (of a mix, its mean) the time of a call is as much latency as throughput, so both drives are
/// asked by default.
const CHAINED_BELOW: f64 = 256.0;

/// What a person wants to know.
#[derive(Clone, Debug)]
pub struct Question {
    /// Which op.
    pub op: Op,
    /// What the loops must promise.
    pub contract: Contract,
    /// Sizes, bytes, ascending.
    pub sizes: Vec<u64>,
    /// Mixes of sizes, each with cells of its own; after the sizes.
    pub mixes: Vec<SizeMix>,
    /// States; `None`: all that exist for the size.
    pub states: Option<Vec<State>>,
    /// Drives; `None`: throughput, and chained below 256 bytes a call in the mean.
    pub drives: Option<Vec<Drive>>,
    /// Under which conditions; its consumer is not looked at.
    pub conditions: Conditions,
    /// Who reads the destination: each has cells of its own.
    pub consumers: Vec<Consumer>,
    /// Budget of the whole command; `None`: 1.15 seconds a cell, three where it is of a mix.
    pub budget: Option<Budget>,
    /// Seed of everything drawn.
    pub seed: u64,
    /// What winners are compared with; the first is the reference of screening.
    pub baselines: Vec<Baseline>,
    /// Relative importance of states in means; states that are not named weigh 1.
    pub weights: Vec<(State, f64)>,
}

impl Question {
    /// Weight of a cell in means.
    pub fn weight(&self, cell: &Cell) -> f64 {
        self.weights.iter().find(|(s, _)| *s == cell.state).map_or(1.0, |(_, w)| *w)
    }

    /// Sizes and mixes, in the order they are measured.
    pub fn extents(&self) -> impl Iterator<Item = Extent> + '_ {
        let fixed = self.sizes.iter().map(|size| Extent::fixed(*size));
        fixed.chain(self.mixes.iter().map(SizeMix::extent))
    }
}

/// The cells of one size, or of one mix of sizes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SizePlan {
    /// How many bytes calls have.
    pub extent: Extent,
    /// Cells to measure.
    pub cells: Vec<Cell>,
    /// States that do not exist here for the size, each with its reason.
    pub absent: Vec<(String, String)>,
}

/// The cells of a question, where caches are as large as these.
pub fn plan(question: &Question, levels: &Levels) -> Vec<SizePlan> {
    let every: Vec<State> = Level::ALL.iter().map(|l| State::both(*l)).collect();
    let states = question.states.as_ref().unwrap_or(&every);
    question
        .extents()
        .map(|extent| {
            let mut plan = SizePlan { extent, cells: Vec::new(), absent: Vec::new() };
            let drives: &[Drive] = match &question.drives {
                Some(drives) => drives,
                None if extent.mean() < CHAINED_BELOW => Drive::ALL,
                None => &[Drive::Throughput],
            };
            for state in states {
                let of = |drive: Drive, consumer: Consumer| Cell {
                    conditions: Conditions { consumer, ..question.conditions },
                    ..Cell::of(question.op, extent, *state, drive)
                };
                let mut reasons: Vec<String> = Vec::new();
                for consumer in &question.consumers {
                    match state_exists(&of(Drive::Throughput, *consumer), levels) {
                        Ok(()) => plan.cells.extend(drives.iter().map(|d| of(*d, *consumer))),
                        Err(reason) if reasons.contains(&reason) => {}
                        Err(reason) => reasons.push(reason),
                    }
                }
                plan.absent.extend(reasons.into_iter().map(|why| (state.to_string(), why)));
            }
            plan
        })
        .collect()
}

/// Whether thousands of candidates can be timed in a moment: priming is cheap. A sample of a mix
/// primes a ring several times, which is not.
pub fn is_cheap(cell: &Cell) -> bool {
    match cell.state.level() {
        Some(Level::L1) => true,
        Some(Level::L2) => cell.mix.is_none(),
        _ => false,
    }
}

/// The band within which two times are the same for every purpose.
pub fn band(cell: &Cell) -> f64 {
    let dram = [cell.state.src, cell.state.dst].contains(&Level::Dram);
    if dram { 0.02 } else { 0.01 }
}
