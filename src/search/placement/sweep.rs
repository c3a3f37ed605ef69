//! The measuring behind a sweep.

use std::time::Duration;

use rand::seq::SliceRandom;

use super::effect::effects;
use super::{Placed, PlacedPoint, PlacedRow, PlacedTimes};
use crate::search::budget::{Budget, Meter};
use crate::search::context::{Context, DEAR_PASS_NS, RACE_PASS_NS};
use crate::search::panel::{Effort, Entrant, Panel};
use crate::search::plan::is_cheap;
use crate::search::strategy::Strategy;
use crate::stats::Paired;
use crate::subject::{Cell, Conditions, Placement};
use crate::trial::{EvaluateError, Evaluator, Observer, Phase};

/// Rounds of a sweep, each with a layout of every placement: a half picks, a half judges, and
/// an interval wants some of each. Beyond the most, a page of figures says no more.
const ROUNDS: (u32, u32) = (8, 60);

/// Blocks of a layout where priming is cheap.
const BLOCKS: u32 = 3;

/// What is swept.
#[derive(Clone, Debug)]
pub struct SweepJob {
    /// Where; its placement is not looked at.
    pub cell: Cell,
    /// Who.
    pub entrants: Vec<Entrant>,
    /// At which placements.
    pub placements: Vec<Placement>,
    /// What it may spend.
    pub budget: Budget,
    /// Seed of everything drawn.
    pub seed: u64,
    /// Time-stamp ticks a second.
    pub tick_hz: f64,
}

/// Measures all entrants at each placement, round by round in an order drawn anew, so that a
/// clock that drifts is no effect of a placement.
///
/// # Errors
/// As the evaluator.
pub fn sweep(
    job: &SweepJob,
    evaluator: &mut dyn Evaluator,
    observer: &mut dyn Observer,
) -> Result<Placed, EvaluateError> {
    let meter = Meter::new(job.budget, evaluator.clock(), Duration::ZERO);
    let strategy = Strategy::default();
    let mut context =
        Context::new(evaluator, observer, meter, job.seed, job.tick_hz, Vec::new(), strategy);
    let at = |placement: &Placement| {
        let conditions = Conditions { placement: *placement, ..job.cell.conditions };
        Cell { conditions, ..job.cell }
    };
    let mut panels: Vec<Panel> =
        job.placements.iter().map(|p| context.panel(at(p), job.entrants.clone())).collect();
    let cheap = is_cheap(&job.cell);
    let effort = Effort {
        layouts: 1,
        blocks: if cheap { BLOCKS } else { 1 },
        pass_ns: if cheap { RACE_PASS_NS } else { DEAR_PASS_NS },
        limit_ns: 0,
    };
    let mut order: Vec<usize> = (0..panels.len()).collect();
    let mut share = context.meter.share(1.0);
    let all = u64::from(ROUNDS.1);
    for round in 0..ROUNDS.1 {
        if round >= ROUNDS.0 && share.is_used() {
            break;
        }
        order.shuffle(&mut context.rng);
        for i in &order {
            context.measure(&mut panels[*i], Phase::Bench, effort, &mut share)?;
        }
        context.progress(&job.cell, Phase::Bench, (u64::from(round) + 1, all), None);
    }
    let rows = (0..job.entrants.len()).map(|index| PlacedRow {
        subject: job.entrants[index].subject.clone(),
        result: row(index, &job.placements, &panels, &mut context),
    });
    let rows = rows.collect();
    Ok(Placed { cell: at(&Placement::ALIGNED), rows })
}

fn row(
    index: usize,
    placements: &[Placement],
    panels: &[Panel],
    context: &mut Context<'_>,
) -> Result<PlacedTimes, crate::trial::Failure> {
    if let Some(failure) = panels.iter().find_map(|p| p.failures[index].clone()) {
        return Err(failure);
    }
    let times: Vec<Paired> = panels.iter().map(|p| p.nanoseconds(index)).collect();
    let logs: Vec<Vec<f64>> =
        times.iter().map(|t| t.medians().map(|(_, log)| log).collect()).collect();
    let points = placements.iter().zip(&times).map(|(placement, times)| {
        let ns = times.interval(&mut context.rng).exp();
        PlacedPoint { placement: *placement, ns: ns.estimate, ci: ns.ends() }
    });
    let points = points.collect();
    let effects = effects(placements, &logs, &mut context.rng);
    Ok(PlacedTimes { points, effects })
}
