//! From a question to cells.

use crate::host::Caches;
use crate::measure::state_exists;
use crate::subject::{Baseline, Cell, Contract, Drive, Level, Op, State};

use super::budget::Budget;

/// Below this size the time of a call is as much latency as throughput, so both drives are
/// asked by default.
const CHAINED_BELOW: u64 = 256;

/// What a person wants to know.
#[derive(Clone, Debug)]
pub struct Question {
    /// Which op.
    pub op: Op,
    /// What the loops must promise.
    pub contract: Contract,
    /// Sizes, bytes, ascending.
    pub sizes: Vec<u64>,
    /// States; `None`: all that exist for the size.
    pub states: Option<Vec<State>>,
    /// Drives; `None`: throughput, and chained below 256 bytes.
    pub drives: Option<Vec<Drive>>,
    /// Budget of the whole command; `None`: two seconds a cell.
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
}

/// The cells of one size.
#[derive(Clone, Debug, PartialEq)]
pub struct SizePlan {
    /// Bytes.
    pub size: u64,
    /// Cells to measure.
    pub cells: Vec<Cell>,
    /// States that do not exist here for the size, each with its reason.
    pub absent: Vec<(String, String)>,
}

/// The cells of a question.
pub fn plan(question: &Question, caches: &Caches) -> Vec<SizePlan> {
    let every: Vec<State> = Level::ALL.iter().map(|l| State::both(*l)).collect();
    let states = question.states.as_ref().unwrap_or(&every);
    question
        .sizes
        .iter()
        .map(|size| {
            let mut plan = SizePlan { size: *size, cells: Vec::new(), absent: Vec::new() };
            let drives: &[Drive] = match &question.drives {
                Some(drives) => drives,
                None if *size < CHAINED_BELOW => Drive::ALL,
                None => &[Drive::Throughput],
            };
            for state in states {
                let cell = |drive| Cell::new(question.op, *size, *state, drive);
                match state_exists(&cell(Drive::Throughput), caches) {
                    Ok(()) => plan.cells.extend(drives.iter().map(|d| cell(*d))),
                    Err(reason) => plan.absent.push((state.to_string(), reason)),
                }
            }
            plan
        })
        .collect()
}

/// Whether thousands of candidates can be timed in a moment: priming is cheap.
pub fn is_cheap(cell: &Cell) -> bool {
    matches!(cell.state.level(), Some(Level::L1 | Level::L2))
}

/// The band within which two times are the same for every purpose.
pub fn band(cell: &Cell) -> f64 {
    let dram = [cell.state.src, cell.state.dst].contains(&Level::Dram);
    if dram { 0.02 } else { 0.01 }
}
