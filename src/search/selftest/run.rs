//! All states of a size, one after another.

use std::time::Instant;

use super::desk::{Desk, Loops, SelftestError};
use super::noise::{StateNoise, state};
use crate::host::{CpuTimes, FeatureSet};
use crate::subject::Cell;
use crate::trial::{EvaluateError, Evaluator, Observer, Phase, Progress, Without};

/// What is asked.
#[derive(Clone, Debug)]
pub struct NoiseTest {
    /// Where; all of one op.
    pub cells: Vec<Cell>,
    /// Contests a state.
    pub contests: u32,
    /// Seed of everything drawn.
    pub seed: u64,
    /// Countermeasures that are left off.
    pub without: Without,
}

/// What a test of all states found.
#[derive(Clone, Debug, PartialEq)]
pub struct Noise {
    /// One a cell that was finished.
    pub states: Vec<StateNoise>,
    /// Wall time.
    pub seconds: f64,
    /// Part of the CPUs' time that the host of this guest gave to others meanwhile.
    pub steal: Option<f64>,
    /// Whether the user interrupted it: states are missing.
    pub interrupted: bool,
}

/// Tests the states of cells.
///
/// # Errors
/// Where no worker can be had, or a loop of the test does not run.
pub fn noise(
    test: &NoiseTest,
    usable: &FeatureSet,
    evaluator: &mut dyn Evaluator,
    observer: &mut dyn Observer,
) -> Result<Noise, SelftestError> {
    let began = Instant::now();
    let times = CpuTimes::read();
    let mut desk = Desk::new(evaluator, test.seed, test.without);
    let mut states = Vec::new();
    let mut interrupted = false;
    for (done, cell) in test.cells.iter().enumerate() {
        // Every host that this program runs on has vector loops of 16 bytes.
        let Some(loops) = Loops::of(cell.op, usable) else { continue };
        let contests = u64::from(test.contests);
        let mut tell = |contest: u32| {
            let part = f64::from(contest) / f64::from(test.contests.max(1));
            let fraction = (done as f64 + part) / test.cells.len() as f64;
            observer.progress(&Progress {
                cell: *cell,
                phase: Phase::Bench,
                fraction,
                done: (contest.into(), contests),
                leader: None,
            });
        };
        match state(&mut desk, *cell, &loops, test.contests, &mut tell) {
            Ok(found) => states.push(found),
            Err(SelftestError::Evaluate(EvaluateError::Interrupted)) if !states.is_empty() => {
                interrupted = true;
                break;
            }
            Err(e) => return Err(e),
        }
    }
    let steal = times.and_then(|before| CpuTimes::read()?.steal_since(&before));
    Ok(Noise { states, seconds: began.elapsed().as_secs_f64(), steal, interrupted })
}
