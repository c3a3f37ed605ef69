//! Named subjects against each other, in one cell.

use std::time::Duration;

use rand_chacha::ChaCha8Rng;

use super::budget::{Budget, Meter};
use super::context::Context;
use super::decide::ALPHA;
use super::panel::{Entrant, Panel};
use super::plan::band;
use super::strategy::Strategy;
use crate::stats::{Interval, Verdict, holm_rejects};
use crate::subject::{Cell, SizeMix, Subject};
use crate::trial::{EvaluateError, Evaluator, Failure, Observer, Phase, Without};

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
    /// Countermeasures that are left off.
    pub without: Without,
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
    /// Bytes of the op a core cycle, of one thread.
    pub bytes_per_cycle: f64,
    /// Where several threads made the calls at once: what they moved together, bytes a
    /// nanosecond, and the time of a call of the fastest and of the slowest, nanoseconds.
    pub threads: Option<(f64, (f64, f64))>,
    /// First row's time over this row's: above 1, this row is faster.
    pub ratio: f64,
    /// 95 % interval of the same.
    pub ratio_ci: (f64, f64),
    /// Verdict of this row against the first.
    pub verdict: Verdict,
}

/// One row against another, from the same blocks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pair {
    /// Place of the row among the entrants.
    pub row: usize,
    /// Place of the row that it is compared with.
    pub against: usize,
    /// That row's time over this row's: above 1, this row is faster.
    pub ratio: f64,
    /// 95 % interval of the same.
    pub ratio_ci: (f64, f64),
    /// Verdict of this row against that one.
    pub verdict: Verdict,
}

/// A contest that was measured.
#[derive(Clone, Debug)]
pub struct Contested {
    panel: Panel,
    rng: ChaCha8Rng,
}

impl Contested {
    /// Its rows, each against the first that runs.
    pub fn rows(&mut self) -> Vec<Row> {
        let reference = (0..self.panel.entrants.len()).find(|i| self.panel.failures[*i].is_none());
        (0..self.panel.entrants.len())
            .map(|i| Row {
                subject: self.panel.entrants[i].subject.clone(),
                result: match &self.panel.failures[i] {
                    Some(failure) => Err(failure.clone()),
                    // Without a reference nobody gets here.
                    None => Ok(self.times(i, reference.unwrap_or(i))),
                },
            })
            .collect()
    }

    /// One row against another; `None` where one of them has no times.
    pub fn pair(&mut self, row: usize, against: usize) -> Option<Pair> {
        self.paired(row, against).map(|(pair, _)| pair)
    }

    /// Each of some rows against each that follows it, where both have times. Verdicts that
    /// reject do so all at once: the chance of a single false one among them is that of one.
    pub fn mutual(&mut self, rows: &[usize]) -> Vec<Pair> {
        let mut pairs = Vec::new();
        for (place, row) in rows.iter().enumerate() {
            pairs.extend(rows[place + 1..].iter().filter_map(|other| self.paired(*row, *other)));
        }
        let p: Vec<f64> = pairs.iter().map(|(_, time_ratio)| time_ratio.p).collect();
        let rejected = holm_rejects(&p, ALPHA);
        let judged = pairs.into_iter().zip(rejected).map(|((mut pair, _), rejected)| {
            if matches!(pair.verdict, Verdict::Slower | Verdict::Faster) && !rejected {
                pair.verdict = Verdict::Undecided;
            }
            pair
        });
        judged.collect()
    }

    /// One row against another, beside the interval of its time over the other's.
    fn paired(&mut self, row: usize, against: usize) -> Option<(Pair, Interval)> {
        for index in [row, against] {
            self.panel.failures.get(index)?.is_none().then_some(())?;
        }
        let time_ratio = self.panel.against(row, &[against]).interval(&mut self.rng).exp();
        let pair = Pair {
            row,
            against,
            ratio: 1.0 / time_ratio.estimate,
            ratio_ci: (1.0 / time_ratio.high, 1.0 / time_ratio.low),
            verdict: Verdict::of_time_ratio(time_ratio.ends(), band(&self.panel.cell)),
        };
        Some((pair, time_ratio))
    }

    fn times(&mut self, index: usize, reference: usize) -> RowTimes {
        let panel = &self.panel;
        let ns = panel.nanoseconds(index).interval(&mut self.rng).exp();
        // Time of this row over the reference's.
        let time_ratio = panel.against(index, &[reference]).interval(&mut self.rng).exp();
        let verdict = match reference == index {
            true => Verdict::Reference,
            false => Verdict::of_time_ratio(time_ratio.ends(), band(&panel.cell)),
        };
        RowTimes {
            ns: ns.estimate,
            ci: ns.ends(),
            bytes_per_cycle: panel.bytes_per_cycle(ns.estimate),
            threads: panel
                .thread_ns(index)
                .map(|extremes| (panel.bytes_per_ns(ns.estimate), extremes)),
            ratio: 1.0 / time_ratio.estimate,
            ratio_ci: (1.0 / time_ratio.high, 1.0 / time_ratio.low),
            verdict,
        }
    }
}

/// Measures a contest, for its rows.
///
/// # Errors
/// As the evaluator.
pub fn compare(
    contest: &Contest,
    tick_hz: f64,
    evaluator: &mut dyn Evaluator,
    observer: &mut dyn Observer,
) -> Result<Vec<Row>, EvaluateError> {
    contested(contest, tick_hz, evaluator, observer).map(|mut measured| measured.rows())
}

/// Measures a contest, for its rows and for whatever pair of them one asks about afterwards.
///
/// # Errors
/// As the evaluator.
pub fn contested(
    contest: &Contest,
    tick_hz: f64,
    evaluator: &mut dyn Evaluator,
    observer: &mut dyn Observer,
) -> Result<Contested, EvaluateError> {
    let meter = Meter::new(contest.budget, evaluator.clock(), Duration::ZERO);
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
    panel.without = contest.without;
    let mut share = context.meter.share(1.0);
    context.fill(&mut panel, Phase::Bench, &mut share, LAYOUTS.0, LAYOUTS.1)?;
    Ok(Contested { panel, rng: context.rng })
}
