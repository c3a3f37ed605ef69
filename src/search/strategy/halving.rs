//! The default: a first look at every kind, steps from the leaders, sequential halving, and a
//! race of the last few. At every turn all looks so far are judged together by a [`Model`].

use super::super::field::{Field, Looks};
use super::model::Model;
use super::settings::Strategy;
use crate::space::strata;
use crate::trial::EvaluateError;

/// Parts of the samples: a first look; steps from the leaders; halving; the race of the last few,
/// where nobody else races them.
const FIRST: f64 = 0.20;
const STEPS: f64 = 0.25;
const HALVING: f64 = 0.30;
const RACE: f64 = 0.25;

/// Samples a candidate that are enough where priming is cheap and no budget was asked for.
const ENOUGH: f64 = 1.0;

/// Candidates that come first in any case, so that the price of a sample is known.
const PILOT: usize = 48;

/// Leaders whose neighbours are looked at in a step, and how many of one kind may be among them.
const LEADERS: usize = 12;
const OF_A_KIND: usize = 3;

/// Part of a step that goes to neighbours of leaders; the rest goes to whom the model likes best.
const NEAR: f64 = 0.5;

/// Halving begins with so many times the square root of its samples and ends with so many.
const LAST: usize = 10;

/// Candidates that a search hands on to its race of all cells.
const HANDED_ON: usize = 24;

/// Runs it.
pub(super) fn run(field: &mut Field<'_, '_, '_>, settings: &Strategy) -> Result<(), EvaluateError> {
    let pilot = with_favourites(field, PILOT);
    field.measure(&pilot, Looks::of(1))?;
    let mut purse = Purse::of(field);
    let mut model = Model::new((0..field.len()).map(|i| field.variant(i)));
    let first = (purse.take(field, FIRST) as usize).min(field.len());
    let mut some = field.subset(first);
    some.retain(|i| !field.is_known(*i));
    field.measure(&some, Looks::of(1))?;
    let steps = settings.local_rounds.max(1);
    for _ in 0..steps {
        model.fit(field.looks());
        let step = purse.take(field, STEPS / f64::from(steps));
        let next = next(field, &model, step as usize);
        if next.is_empty() {
            break;
        }
        field.measure(&next, Looks::of(1))?;
    }
    let samples = purse.take(field, HALVING);
    let last = halve(field, &mut model, samples)?;
    if field.is_alone() {
        race(field, &last)?;
        model.fit(field.looks());
    }
    for (index, expected) in posterior(field, &model) {
        field.judge(index, expected - model.baseline());
    }
    Ok(())
}

/// The samples that there are, handed out in parts. What a sample costs is known better each time:
/// the first request pays for much that is done once.
struct Purse {
    /// Looks that are enough.
    most: f64,
    /// What is left of all parts.
    parts: f64,
}

impl Purse {
    fn of(field: &Field<'_, '_, '_>) -> Purse {
        let enough = field.is_cheap() && !field.is_strict();
        Purse {
            most: if enough { field.len() as f64 * ENOUGH } else { f64::INFINITY },
            parts: FIRST + STEPS + HALVING + if field.is_alone() { RACE } else { 0.0 },
        }
    }

    /// Samples that are this part of all.
    fn take(&mut self, field: &Field<'_, '_, '_>, part: f64) -> f64 {
        let left = (self.most - field.looks().len() as f64).max(0.0);
        let samples = left.min(field.affords() as f64) * part / self.parts;
        self.parts -= part;
        samples
    }
}

fn with_favourites(field: &mut Field<'_, '_, '_>, count: usize) -> Vec<usize> {
    let mut first = field.subset(count);
    let favourites = field.favourites();
    first.extend(favourites.iter().filter(|f| !first.contains(f)).copied().collect::<Vec<_>>());
    first
}

/// All that were timed, by what model and samples together say of them, fastest first.
fn posterior(field: &Field<'_, '_, '_>, model: &Model) -> Vec<(usize, f64)> {
    let timed = (0..field.len()).filter(|i| field.score(*i).is_some());
    let mut all: Vec<(usize, f64)> = timed.map(|i| (i, model.posterior(i))).collect();
    all.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
    all
}

/// Whom to look at next: neighbours of leaders of several kinds, and whom the model likes best,
/// each the best of those that nobody has looked at.
fn next(field: &Field<'_, '_, '_>, model: &Model, count: usize) -> Vec<usize> {
    let mut leaders: Vec<usize> = Vec::new();
    for (index, _) in posterior(field, model) {
        let kind = strata(field.variant(index));
        let alike = leaders.iter().filter(|l| strata(field.variant(**l)) == kind).count();
        if alike < OF_A_KIND {
            leaders.push(index);
        }
        if leaders.len() == LEADERS {
            break;
        }
    }
    let by_model = |list: &mut Vec<usize>| {
        list.retain(|i| !field.is_known(*i));
        list.sort_by(|a, b| model.prediction(*a).total_cmp(&model.prediction(*b)).then(a.cmp(b)));
        list.dedup();
    };
    let mut near: Vec<usize> = leaders.iter().flat_map(|l| field.neighbours(*l)).collect();
    by_model(&mut near);
    near.truncate((count as f64 * NEAR) as usize);
    let mut liked: Vec<usize> = (0..field.len()).filter(|i| !near.contains(i)).collect();
    by_model(&mut liked);
    liked.truncate(count - near.len());
    near.extend(liked);
    near
}

/// Looks again at the better ones, at fewer and fewer of them, each round as often as the last
/// looks together.
fn halve(
    field: &mut Field<'_, '_, '_>,
    model: &mut Model,
    samples: f64,
) -> Result<Vec<usize>, EvaluateError> {
    let last = if field.is_alone() { LAST } else { HANDED_ON };
    // n + n/2·2 + n/4·4 + …: every round costs the same.
    let mut rounds = 1;
    while (samples / f64::from(rounds + 1)) as usize >= last << rounds {
        rounds += 1;
    }
    let mut count = ((samples / f64::from(rounds)) as usize).max(last);
    for round in 0..rounds {
        model.fit(field.looks());
        let mut left: Vec<usize> = posterior(field, model).iter().map(|(i, _)| *i).collect();
        left.truncate(count);
        field.promote(&left, round + 1);
        field.measure(&left, Looks::of(1 << round))?;
        count = (count / 2).max(last);
    }
    model.fit(field.looks());
    let mut left: Vec<usize> = posterior(field, model).iter().map(|(i, _)| *i).collect();
    left.truncate(last);
    field.promote(&left, rounds + 1);
    Ok(left)
}

/// The last few again, until the share is used.
fn race(field: &mut Field<'_, '_, '_>, last: &[usize]) -> Result<(), EvaluateError> {
    let layouts = (field.affords() / (last.len() as u64 + 3)).clamp(1, 10_000) as u32;
    field.measure(last, Looks::of(layouts))
}
