//! How good a strategy is on a recorded space.

use std::io::Write;

use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};

use super::space::RecordedSpace;
use super::{Replay, half};
use crate::search::{Attempt, Strategy, StrategyName, attempt};
use crate::stats::{Interval, median};
use crate::trial::EvaluateError;

/// Samples of each candidate in the search that looks at all.
const EXHAUSTIVE: u32 = 7;

/// Bootstrap replicates.
const RESAMPLES: usize = 1000;

/// The least width within which a pick counts as the best.
const BAND: f64 = 0.01;

/// One run of a strategy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Run {
    /// Its seed.
    pub seed: u64,
    /// What the pick loses against the best of the truth: 0 where it is the best.
    pub regret: f64,
    /// Samples that were made.
    pub samples: u64,
}

/// Runs of one strategy on one space.
#[derive(Clone, Debug, PartialEq)]
pub struct Quality {
    /// Which strategy.
    pub strategy: StrategyName,
    /// Its runs, by seed.
    pub runs: Vec<Run>,
    /// Width within which a pick counts as the best: 1 %, or what can be told.
    pub width: f64,
}

impl Quality {
    /// Median regret.
    pub fn regret(&self) -> f64 {
        median(&mut self.runs.iter().map(|r| r.regret).collect::<Vec<_>>())
    }

    /// Runs whose pick lies within the width, and within 2 % (or the width, where that is more).
    pub fn within(&self) -> (usize, usize) {
        let of = |width: f64| self.runs.iter().filter(|r| r.regret <= width).count();
        (of(self.width), of(self.width.max(2.0 * BAND)))
    }

    /// Mean number of samples.
    pub fn samples(&self) -> f64 {
        self.runs.iter().map(|r| r.samples as f64).sum::<f64>() / self.runs.len() as f64
    }
}

impl RecordedSpace {
    /// Samples of a search that takes seven of every candidate.
    pub fn exhaustive_samples(&self) -> u64 {
        self.candidates.len() as u64 * u64::from(EXHAUSTIVE)
    }

    /// Width within which the best cannot be told, as a ratio minus one, 1 % at least: half of
    /// the 95 % interval of the ratio of the best two in a half of the record; of the two halves
    /// the wider.
    pub fn width(&self) -> f64 {
        (0..2).map(|half| self.width_of(half)).fold(BAND, f64::max)
    }

    fn width_of(&self, half: u32) -> f64 {
        let mut order: Vec<(usize, f64)> =
            (0..self.candidates.len()).map(|i| (i, self.middle(i, half))).collect();
        order.sort_by(|a, b| a.1.total_cmp(&b.1));
        let [(best, _), (second, _), ..] = order[..] else { return 0.0 };
        let (best, second) = (self.half(best, half), self.half(second, half));
        // One seed for all spaces: the width is a figure of the record alone.
        let mut rng = SmallRng::seed_from_u64(u64::from(half));
        let mut drawn = Vec::new();
        let mut differences: Vec<f64> = (0..RESAMPLES)
            .map(|_| {
                let mut middle = |values: &[f64]| {
                    drawn.clear();
                    drawn.extend(
                        (0..values.len()).map(|_| values[rng.random_range(0..values.len())]),
                    );
                    median(&mut drawn)
                };
                middle(&second) - middle(&best)
            })
            .collect();
        let (low, high) = ends(&mut differences);
        ((high - low) / 2.0).exp_m1()
    }
}

/// The 2.5 % and 97.5 % points.
fn ends(values: &mut [f64]) -> (f64, f64) {
    values.sort_unstable_by(f64::total_cmp);
    let at = |q: f64| values[((values.len() - 1) as f64 * q).round() as usize];
    (at(0.025), at(0.975))
}

/// Runs a strategy on a space with seeds from 1, each with so many samples; those that look at
/// all take the seven samples of every candidate that they need.
///
/// # Errors
/// As the evaluator.
pub fn quality(
    space: &RecordedSpace,
    strategy: Strategy,
    samples: u64,
    seeds: u64,
    drift: bool,
    mut trace: Option<&mut dyn Write>,
) -> Result<Quality, EvaluateError> {
    let looks_at_all = matches!(strategy.name, StrategyName::Exhaustive | StrategyName::Classic);
    // The baselines beside them are paid as well.
    let samples = if looks_at_all { space.exhaustive_samples() * 2 } else { samples };
    let strategy = match strategy.name {
        StrategyName::Exhaustive => Strategy { epochs: EXHAUSTIVE, screen_rounds: 1, ..strategy },
        _ => strategy,
    };
    let best = [0, 1].map(|of| {
        (0..space.candidates.len()).map(|i| space.middle(i, of)).fold(f64::INFINITY, f64::min)
    });
    let mut runs = Vec::new();
    for seed in 1..=seeds {
        let mut replay = match &mut trace {
            Some(trace) => Replay::new(space, seed, drift, Some(*trace)),
            None => Replay::new(space, seed, drift, None),
        };
        let candidates = &space.candidates;
        let asked = Attempt { cell: space.cell, candidates, strategy, samples, seed };
        let found = attempt(&asked, &mut replay)?;
        let truth = 1 - half(seed);
        let regret = found
            .pick
            .map_or(f64::INFINITY, |i| (space.middle(i, truth) - best[truth as usize]).exp_m1());
        runs.push(Run { seed, regret, samples: found.samples });
    }
    Ok(Quality { strategy: strategy.name, runs, width: space.width() })
}

/// How much less one strategy loses than another, over spaces and seeds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Better {
    /// Regret of the other minus regret of the one, in the mean, with its 95 % interval: above 0
    /// the one is better.
    pub regret: Interval,
    /// The same of the share of runs within the width.
    pub within: Interval,
}

/// Compares two strategies by their runs on the same spaces with the same seeds; the interval is
/// of a bootstrap over spaces and, within each, seeds.
pub fn better(one: &[&Quality], other: &[&Quality], seed: u64) -> Better {
    let of = |measure: &dyn Fn(&Quality, &Run) -> f64| -> Vec<Vec<f64>> {
        one.iter()
            .zip(other)
            .map(|(a, b)| {
                a.runs.iter().zip(&b.runs).map(|(x, y)| measure(b, y) - measure(a, x)).collect()
            })
            .collect()
    };
    // A pick that loses half is bad; one that loses ten times as much is not worse to anybody.
    let regret = of(&|_, run| run.regret.min(1.0));
    let within = of(&|quality, run| -f64::from(u8::from(run.regret <= quality.width)));
    Better { regret: interval(&regret, seed), within: interval(&within, seed) }
}

fn interval(groups: &[Vec<f64>], seed: u64) -> Interval {
    let mean = |groups: &[f64]| groups.iter().sum::<f64>() / groups.len().max(1) as f64;
    let estimate = mean(&groups.iter().map(|g| mean(g)).collect::<Vec<_>>());
    let mut rng = SmallRng::seed_from_u64(seed);
    let mut means: Vec<f64> = (0..RESAMPLES)
        .map(|_| {
            let drawn: Vec<f64> = (0..groups.len())
                .map(|_| {
                    let group = &groups[rng.random_range(0..groups.len())];
                    let n = group.len();
                    mean(&(0..n).map(|_| group[rng.random_range(0..n)]).collect::<Vec<_>>())
                })
                .collect();
            mean(&drawn)
        })
        .collect();
    if groups.is_empty() {
        return Interval { estimate, low: estimate, high: estimate, p: 1.0 };
    }
    let below = means.iter().filter(|m| **m <= 0.0).count() as f64 / RESAMPLES as f64;
    let (low, high) = ends(&mut means);
    Interval { estimate, low, high, p: (2.0 * below.min(1.0 - below)).min(1.0) }
}
