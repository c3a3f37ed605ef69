//! Named subjects against each other, in one cell.

use std::time::Instant;

use super::budget::{Budget, Meter};
use super::context::Context;
use super::file::Strategy;
use super::panel::Entrant;
use super::plan::band;
use crate::stats::Verdict;
use crate::subject::{Cell, SizeMix, Subject};
use crate::trial::{EvaluateError, Evaluator, Failure, Observer, Phase};

/// Layouts of a comparison: ten at least for an interval; at 1600, in l1, half a per cent stands
/// out on a busy machine whose layouts differ by three.
const LAYOUTS: (u32, u32) = (10, 1600);

/// What is compared, and how long.
#[derive(Clone, Debug)]
pub struct Contest {
    /// Where.
    pub cell: Cell,
    /// The mix of the cell; `None` where it has one size.
    pub mix: Option<SizeMix>,
    /// Who; the first is the reference.
    pub entrants: Vec<Entrant>,
    /// What it may spend.
    pub budget: Budget,
    /// Seed of everything drawn.
    pub seed: u64,
}

/// A subject's line of a comparison.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Who.
    pub subject: Subject,
    /// Times, or why there are none.
    pub result: Result<RowTimes, Failure>,
}

/// Times of a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RowTimes {
    /// Nanoseconds a call, the call itself included.
    pub ns: f64,
    /// 95 % interval of the same.
    pub ci: (f64, f64),
    /// Bytes of the op a core cycle.
    pub bytes_per_cycle: f64,
    /// First row's time over this row's: above 1, this row is faster.
    pub ratio: f64,
    /// 95 % interval of the same.
    pub ratio_ci: (f64, f64),
    /// Verdict of this row against the first.
    pub verdict: Verdict,
}

/// Measures a contest.
///
/// # Errors
/// As the evaluator.
pub fn compare(
    contest: &Contest,
    tick_hz: f64,
    evaluator: &mut dyn Evaluator,
    observer: &mut dyn Observer,
) -> Result<Vec<Row>, EvaluateError> {
    let meter = Meter::new(contest.budget, Instant::now());
    let mut context = Context::new(
        evaluator,
        observer,
        meter,
        contest.seed,
        tick_hz,
        Vec::new(),
        Strategy::default(),
    );
    context.mixes.extend(contest.mix.clone());
    let mut panel = context.panel(contest.cell, contest.entrants.clone());
    let mut share = context.meter.share(1.0);
    context.fill(&mut panel, Phase::Bench, &mut share, LAYOUTS.0, LAYOUTS.1)?;
    let rng = &mut context.rng;
    let reference = (0..panel.entrants.len()).find(|i| panel.failures[*i].is_none());
    Ok((0..panel.entrants.len())
        .map(|i| {
            let subject = panel.entrants[i].subject.clone();
            if let Some(failure) = &panel.failures[i] {
                return Row { subject, result: Err(failure.clone()) };
            }
            let ns = panel.nanoseconds(i).interval(rng).exp();
            // Time of this row over the reference's; without a reference nobody gets here.
            let time_ratio = panel.against(i, &[reference.unwrap_or(i)]).interval(rng).exp();
            let is_reference = reference == Some(i);
            let verdict = match is_reference {
                true => Verdict::Reference,
                false => Verdict::of_time_ratio(time_ratio.ends(), band(&contest.cell)),
            };
            let result = Ok(RowTimes {
                ns: ns.estimate,
                ci: ns.ends(),
                bytes_per_cycle: panel.bytes_per_cycle(ns.estimate),
                ratio: 1.0 / time_ratio.estimate,
                ratio_ci: (1.0 / time_ratio.high, 1.0 / time_ratio.low),
                verdict,
            });
            Row { subject, result }
        })
        .collect())
}
