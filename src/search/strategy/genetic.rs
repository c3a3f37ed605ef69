//! A population of loops: parents by tournament, children by crossing their axes, and now and
//! then an axis step to the side.

use std::collections::HashMap;

use rand::RngExt;
use rand::seq::{IndexedRandom, SliceRandom};
use rand_chacha::ChaCha8Rng;

use super::super::field::{Field, Looks};
use super::LOOKS;
use crate::subject::Variant;
use crate::trial::EvaluateError;

/// Loops of a generation.
const POPULATION: usize = 32;

/// Loops that meet in a tournament.
const TOURNAMENT: usize = 3;

/// Part of the children that take a step to the side.
const MUTATION: f64 = 0.4;

/// Crossings that are tried for a child that is a candidate and new.
const ATTEMPTS: usize = 20;

/// Breeds until the share is used.
pub(super) fn run(field: &mut Field<'_, '_, '_>) -> Result<(), EvaluateError> {
    let places: HashMap<Variant, usize> =
        (0..field.len()).map(|i| (*field.variant(i), i)).collect();
    let mut everyone: Vec<usize> = (0..field.len()).collect();
    everyone.shuffle(field.rng());
    let mut population: Vec<usize> = everyone.iter().copied().take(POPULATION).collect();
    field.measure(&population, Looks::of(LOOKS))?;
    // Those that are left come in where a generation brings nothing new.
    let mut strangers = everyone.into_iter().skip(POPULATION);
    while !field.is_used_up() {
        population.retain(|i| field.score(*i).is_some());
        let mut children: Vec<usize> = Vec::new();
        while children.len() < POPULATION {
            let child = child(field, &places, &population, &children);
            let Some(child) = child.or_else(|| strangers.find(|i| !field.is_known(*i))) else {
                break;
            };
            children.push(child);
        }
        if children.is_empty() {
            break;
        }
        field.measure(&children, Looks::of(LOOKS))?;
        population.extend(children);
        population.retain(|i| field.score(*i).is_some());
        let score = |i: &usize| field.score(*i).unwrap_or(f64::INFINITY);
        population.sort_by(|a, b| score(a).total_cmp(&score(b)).then(a.cmp(b)));
        population.dedup();
        population.truncate(POPULATION);
    }
    Ok(())
}

/// A candidate that nobody has looked at, bred from the population.
fn child(
    field: &mut Field<'_, '_, '_>,
    places: &HashMap<Variant, usize>,
    population: &[usize],
    siblings: &[usize],
) -> Option<usize> {
    for _ in 0..ATTEMPTS {
        let mother = parent(field, population)?;
        let father = parent(field, population)?;
        let (mother, father) = (*field.variant(mother), *field.variant(father));
        let crossed = cross(&mother, &father, field.rng());
        let Some(mut child) = places.get(&crossed).copied() else { continue };
        if field.is_known(child) || field.rng().random_bool(MUTATION) {
            let near = field.neighbours(child);
            child = near.choose(field.rng()).copied().unwrap_or(child);
        }
        if !field.is_known(child) && !siblings.contains(&child) {
            return Some(child);
        }
    }
    None
}

/// The best of a few of the population.
fn parent(field: &mut Field<'_, '_, '_>, population: &[usize]) -> Option<usize> {
    let few: Vec<usize> =
        (0..TOURNAMENT).filter_map(|_| population.choose(field.rng()).copied()).collect();
    let score = |i: &usize| field.score(*i).unwrap_or(f64::INFINITY);
    few.into_iter().min_by(|a, b| score(a).total_cmp(&score(b)))
}

/// Each axis from one parent or the other; what only makes sense together goes together.
fn cross(mother: &Variant, father: &Variant, rng: &mut ChaCha8Rng) -> Variant {
    let mut pick = || if rng.random_bool(0.5) { mother } else { father };
    let of_class = pick();
    let of_store = pick();
    Variant {
        op: mother.op,
        class: of_class.class,
        encoding: of_class.encoding,
        store: of_store.store,
        head: of_store.head,
        unroll: pick().unroll,
        order: pick().order,
        align: pick().align,
        prefetch: pick().prefetch,
        touch: pick().touch,
        count: pick().count,
        tail: pick().tail,
        bounce: pick().bounce,
        streams: pick().streams,
        direction: pick().direction,
        fixed: mother.fixed,
    }
}
