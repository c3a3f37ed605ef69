//! Traps shown one after another: each check with its countermeasure and without.

use std::time::Instant;

use super::Trap;
use super::desk::{Cannot, TrapDesk, TrapHost};
use crate::search::selftest::SelftestError;
use crate::trial::{EvaluateError, Evaluator, Observer, Phase, Progress, Without};
use crate::units::words;

words! {
    /// What a trap showed.
    Finding {
        /// The check holds, and fails without the countermeasure.
        Shut = "shut",
        /// The check holds, and without the countermeasure too: the trap does not bite here.
        NotSeen = "not seen here",
        /// The check does not hold: the countermeasure is not good enough here, now.
        Open = "open",
    }
}

/// One run of a check.
#[derive(Clone, Debug, PartialEq)]
pub struct Side {
    /// The figure; see [`Trap::asks`].
    pub value: f64,
    /// What was measured, in words.
    pub text: String,
    /// Whether the figure is what it ought to be.
    pub holds: bool,
}

/// A trap that was shown.
#[derive(Clone, Debug, PartialEq)]
pub struct Shown {
    /// Which.
    pub trap: Trap,
    /// With the countermeasure and without; or why this host cannot show it.
    pub sides: Result<(Side, Side), String>,
    /// How often it was tried with the countermeasure.
    pub tries: u32,
}

impl Shown {
    /// What it says; `None` where this host cannot show it.
    pub fn finding(&self) -> Option<Finding> {
        let (with, without) = self.sides.as_ref().ok()?;
        Some(match (with.holds, without.holds) {
            (false, _) => Finding::Open,
            (true, false) => Finding::Shut,
            (true, true) => Finding::NotSeen,
        })
    }

    /// Whether the countermeasure does not hold.
    pub fn is_open(&self) -> bool {
        self.finding() == Some(Finding::Open)
    }
}

/// What is asked.
#[derive(Clone, Debug)]
pub struct TrapTest {
    /// Which traps.
    pub traps: Vec<Trap>,
    /// Seed of everything drawn.
    pub seed: u64,
    /// Countermeasures that are left off where they should be there: checks then fail.
    pub without: Without,
}

/// What was shown.
#[derive(Clone, Debug, PartialEq)]
pub struct Trapped {
    /// One a trap, as asked.
    pub shown: Vec<Shown>,
    /// Wall time.
    pub seconds: f64,
    /// Whether the user interrupted it: traps are missing.
    pub interrupted: bool,
}

/// A check that does not hold is made again, so many times in all: a moment's noise is no
/// failure of a countermeasure.
const TRIES: u32 = 3;

/// Shows traps.
///
/// # Errors
/// Where no worker can be had.
pub fn traps(
    test: &TrapTest,
    host: &TrapHost,
    evaluator: &mut dyn Evaluator,
    observer: &mut dyn Observer,
) -> Result<Trapped, EvaluateError> {
    let began = Instant::now();
    let mut desk = TrapDesk::new(evaluator, host, test.seed);
    let mut shown = Vec::new();
    let mut interrupted = false;
    for (done, trap) in test.traps.iter().enumerate() {
        observer.progress(&Progress {
            cell: desk.cell(),
            phase: Phase::Bench,
            fraction: done as f64 / test.traps.len() as f64,
            done: (done as u64, test.traps.len() as u64),
            leader: None,
        });
        match show(*trap, &mut desk, test.without) {
            Ok(one) => shown.push(one),
            Err(EvaluateError::Interrupted) if !shown.is_empty() => {
                interrupted = true;
                break;
            }
            Err(e) => return Err(e),
        }
    }
    Ok(Trapped { shown, seconds: began.elapsed().as_secs_f64(), interrupted })
}

fn show(trap: Trap, desk: &mut TrapDesk<'_>, left_off: Without) -> Result<Shown, EvaluateError> {
    let own: Without = trap.countermeasure().into_iter().collect();
    let mut side = |on: bool| -> Result<Side, Cannot> {
        desk.leave_off(if on { left_off } else { own });
        let on = on && !trap.countermeasure().is_some_and(|c| left_off.leaves_off(c));
        let figure = trap.measure(desk, on)?;
        Ok(Side { value: figure.value, text: figure.text, holds: trap.holds(figure.value) })
    };
    let mut tries = 0;
    let mut sides = || -> Result<(Side, Side), Cannot> {
        let mut with = side(true)?;
        tries = 1;
        while !with.holds && tries < TRIES {
            with = side(true)?;
            tries += 1;
        }
        Ok((with, side(false)?))
    };
    match sides() {
        Ok(both) => Ok(Shown { trap, sides: Ok(both), tries }),
        Err(Cannot::Here(why)) => Ok(Shown { trap, sides: Err(why), tries }),
        Err(Cannot::Selftest(SelftestError::Evaluate(e))) => Err(e),
        Err(Cannot::Selftest(e @ SelftestError::Member { .. })) => {
            Ok(Shown { trap, sides: Err(e.to_string()), tries })
        }
    }
}
