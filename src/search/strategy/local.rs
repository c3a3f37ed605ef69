//! Iterated local search: downhill one axis step at a time; at the bottom, a jump.

use rand::RngExt;
use rand::seq::{IndexedRandom, SliceRandom};

use super::super::field::{Field, Looks};
use super::LOOKS;
use crate::trial::EvaluateError;

/// Neighbours in one request: the first better one of them is taken.
const STEP: usize = 16;

/// Axis steps of a jump.
const JUMP: usize = 3;

/// Part of the jumps that go anywhere at all, so that no valley is home for ever.
const RESTART: f64 = 0.2;

/// Descends and jumps until the share is used.
pub(super) fn run(field: &mut Field<'_, '_, '_>) -> Result<(), EvaluateError> {
    let mut at = start(field)?;
    let mut home = at;
    while !field.is_used_up() {
        at = descend(field, at)?;
        if better(field, at, home) {
            home = at;
        }
        at = jump(field, home);
        if !field.is_known(at) {
            field.measure(&[at], Looks::of(LOOKS))?;
        } else if (0..field.len()).all(|i| field.is_known(i)) {
            break;
        }
    }
    Ok(())
}

/// The best of a few from anywhere.
fn start(field: &mut Field<'_, '_, '_>) -> Result<usize, EvaluateError> {
    let mut everyone: Vec<usize> = (0..field.len()).collect();
    everyone.shuffle(field.rng());
    everyone.truncate(STEP);
    field.measure(&everyone, Looks::of(LOOKS))?;
    let best = everyone.iter().copied().reduce(|a, b| if better(field, b, a) { b } else { a });
    Ok(best.unwrap_or(0))
}

/// Goes to better neighbours until there is none.
fn descend(field: &mut Field<'_, '_, '_>, mut at: usize) -> Result<usize, EvaluateError> {
    'step: while !field.is_used_up() {
        let mut near = field.neighbours(at);
        near.shuffle(field.rng());
        for some in near.chunks(STEP) {
            let new: Vec<usize> = some.iter().copied().filter(|i| !field.is_known(*i)).collect();
            field.measure(&new, Looks::of(LOOKS))?;
            let best = some.iter().copied().reduce(|a, b| if better(field, b, a) { b } else { a });
            if let Some(best) = best.filter(|b| better(field, *b, at)) {
                at = best;
                continue 'step;
            }
        }
        break;
    }
    Ok(at)
}

fn better(field: &Field<'_, '_, '_>, a: usize, b: usize) -> bool {
    match (field.score(a), field.score(b)) {
        (Some(a), Some(b)) => a < b,
        (a, _) => a.is_some(),
    }
}

/// A few axis steps away, or anywhere.
fn jump(field: &mut Field<'_, '_, '_>, from: usize) -> usize {
    if field.rng().random_bool(RESTART) {
        let all = field.len();
        return field.rng().random_range(0..all);
    }
    let mut at = from;
    for _ in 0..JUMP {
        let near = field.neighbours(at);
        at = near.choose(field.rng()).copied().unwrap_or(at);
    }
    at
}
