//! One strategy alone in one cell, by a number of samples: for who compares strategies.

use std::time::Duration;

use super::budget::{Budget, Meter};
use super::candidate::Candidate;
use super::context::Context;
use super::screen::Screen;
use super::strategy::Strategy;
use crate::subject::{Baseline, Cell};
use crate::trial::{EvaluateError, Evaluator};

/// What is attempted.
#[derive(Clone, Copy, Debug)]
pub struct Attempt<'a> {
    /// Where.
    pub cell: Cell,
    /// Who takes part.
    pub candidates: &'a [Candidate],
    /// How.
    pub strategy: Strategy,
    /// Samples that it may ask for, those of baselines among them. (The first request is made
    /// however few they are.)
    pub samples: u64,
    /// Seed of everything drawn.
    pub seed: u64,
}

/// What came of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Attempted {
    /// The candidate that the strategy would hand out; `None` where nobody could be timed.
    pub pick: Option<usize>,
    /// Samples that were made.
    pub samples: u64,
    /// Distinct candidates that were timed.
    pub trials: u64,
}

/// Runs a strategy, which must find the one best, because nobody races its leaders.
///
/// # Errors
/// As the evaluator.
pub fn attempt(
    attempt: &Attempt<'_>,
    evaluator: &mut dyn Evaluator,
) -> Result<Attempted, EvaluateError> {
    let meter = Meter::new(Budget::Samples(attempt.samples), Duration::ZERO, Duration::ZERO);
    // Only ratios of ticks count here.
    let tick_hz = 1e9;
    let mut deaf = ();
    let baselines = vec![Baseline::Libc];
    let (seed, strategy) = (attempt.seed, attempt.strategy);
    let mut context = Context::new(evaluator, &mut deaf, meter, seed, tick_hz, baselines, strategy);
    context.strict = true;
    context.alone = true;
    let mut screen = Screen::new(attempt.cell, attempt.candidates);
    screen.run_all(&mut context)?;
    let screened = screen.finish(false);
    Ok(Attempted {
        pick: screened.order.first().map(|(index, _)| *index),
        samples: screened.samples,
        trials: screened.trials,
    })
}
