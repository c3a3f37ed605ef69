//! What the samples so far say of loops that nobody has looked at: log time as a sum of effects
//! of axis values, and of pairs of them, each shrunk towards nothing where few samples show it.

use std::collections::HashMap;

use crate::subject::Variant;

/// What a group's levels are told apart by: a few axes of a variant.
type Group = fn(&Variant, &mut Vec<u32>);

/// Groups of levels and how many samples of nothing each effect is shrunk by. Single axes first,
/// then the pairs that are known to go together.
const GROUPS: &[(Group, f64)] = &[
    (|v, k| k.extend([v.class as u32, v.encoding as u32]), 1.0),
    (|v, k| k.push(v.unroll.into()), 1.0),
    (|v, k| k.push(v.store as u32), 1.0),
    (|v, k| k.push(align(v)), 1.0),
    (|v, k| prefetch(v, k), 1.0),
    (|v, k| detour(v, k), 1.0),
    (|v, k| k.extend([v.count as u32]), 1.0),
    (|v, k| k.extend([v.order as u32]), 1.0),
    (|v, k| k.extend([v.head as u32]), 1.0),
    (|v, k| k.extend([v.tail as u32]), 1.0),
    (|v, k| k.extend([v.class as u32, v.store as u32, v.encoding as u32]), 1.5),
    (|v, k| k.extend([v.class as u32, v.unroll.into()]), 2.0),
    (|v, k| k.extend([v.store as u32, v.unroll.into()]), 2.0),
    (|v, k| k.extend([v.store as u32, v.head as u32]), 2.0),
    (|v, k| k.extend([v.class as u32, v.tail as u32]), 2.0),
    (|v, k| k.extend([v.class as u32, v.head as u32]), 2.0),
    (|v, k| k.extend([v.class as u32, v.order as u32]), 2.0),
    (|v, k| k.extend([v.class as u32, v.store as u32, v.unroll.into()]), 3.0),
    (|v, k| k.extend([v.unroll.into(), v.count as u32]), 3.0),
    (|v, k| k.extend([v.class as u32, v.count as u32]), 3.0),
    (|v, k| k.extend([align(v), v.count as u32]), 3.0),
    (|v, k| k.extend([align(v), v.unroll.into()]), 3.0),
    (|v, k| k.extend([align(v), v.class as u32, v.encoding as u32]), 3.0),
    (
        |v, k| {
            prefetch(v, k);
            k.extend([v.class as u32, v.store as u32]);
        },
        3.0,
    ),
    (
        |v, k| {
            detour(v, k);
            k.extend([v.class as u32, v.store as u32]);
        },
        3.0,
    ),
    (
        |v, k| {
            k.extend([v.class as u32, v.encoding as u32, v.store as u32, v.head as u32]);
            k.extend([v.unroll.into(), v.tail as u32]);
        },
        3.0,
    ),
];

fn align(v: &Variant) -> u32 {
    u32::from(v.align.modulus) * 256 + u32::from(v.align.skew)
}

fn prefetch(v: &Variant, key: &mut Vec<u32>) {
    if let Some(p) = v.prefetch {
        key.extend([1 + p.hint as u32, p.distance.into(), p.side as u32]);
    }
}

fn detour(v: &Variant, key: &mut Vec<u32>) {
    key.extend([v.touch as u32, v.bounce.unwrap_or(0).into(), v.streams as u32]);
    key.push(v.direction as u32);
}

/// Times that all effects are fitted to what the others leave over.
const PASSES: usize = 12;

/// What is slower than the fastest by more than this (as a log) is only slow: how slow, shall not
/// bend what is said of the fast ones.
const SLOW: f64 = 0.5;

/// Samples of a candidate that what the model says of it is worth.
const WORTH: f64 = 1.0;

/// The effects, as last fitted.
pub(super) struct Model {
    /// Of each candidate, its level in each group.
    levels: Vec<[u32; GROUPS.len()]>,
    /// Of each group, how many levels there are.
    counts: [usize; GROUPS.len()],
    predictions: Vec<f64>,
}

impl Model {
    /// A model that has seen nothing.
    pub(super) fn new<'v>(variants: impl Iterator<Item = &'v Variant>) -> Model {
        let mut names: Vec<HashMap<Vec<u32>, u32>> = vec![HashMap::new(); GROUPS.len()];
        let mut key = Vec::new();
        let levels: Vec<[u32; GROUPS.len()]> = variants
            .map(|variant| {
                std::array::from_fn(|group| {
                    key.clear();
                    GROUPS[group].0(variant, &mut key);
                    let next = names[group].len() as u32;
                    match names[group].get(&key) {
                        Some(level) => *level,
                        None => *names[group].entry(key.clone()).or_insert(next),
                    }
                })
            })
            .collect();
        let counts = std::array::from_fn(|group| names[group].len());
        let predictions = vec![0.0; levels.len()];
        Model { levels, counts, predictions }
    }

    /// Fits the effects to values, given as (candidate, mean, number of samples).
    pub(super) fn fit(&mut self, seen: &[(usize, f64, f64)]) {
        let weight: f64 = seen.iter().map(|s| s.2).sum();
        if weight == 0.0 {
            return;
        }
        let mut fast: Vec<f64> = seen.iter().map(|s| s.1).collect();
        fast.sort_unstable_by(f64::total_cmp);
        // Not the very fastest: it may be an accident.
        let slow = fast[fast.len() / 100] + SLOW;
        let value = |s: &(usize, f64, f64)| s.1.min(slow);
        let mean = seen.iter().map(|s| value(s) * s.2).sum::<f64>() / weight;
        let mut left: Vec<f64> = seen.iter().map(|s| value(s) - mean).collect();
        let mut effects: [Vec<f64>; GROUPS.len()] =
            std::array::from_fn(|group| vec![0.0; self.counts[group]]);
        let mut sums = Vec::new();
        for _ in 0..PASSES {
            for (group, (_, shrink)) in GROUPS.iter().enumerate() {
                let effects = &mut effects[group];
                sums.clear();
                sums.resize(effects.len(), (0.0, *shrink));
                for ((index, _, n), left) in seen.iter().zip(&left) {
                    let level = self.levels[*index][group] as usize;
                    sums[level].0 += n * (left + effects[level]);
                    sums[level].1 += n;
                }
                for ((index, _, _), left) in seen.iter().zip(&mut left) {
                    let level = self.levels[*index][group] as usize;
                    *left += effects[level] - sums[level].0 / sums[level].1;
                }
                for (effect, (sum, n)) in effects.iter_mut().zip(&sums) {
                    *effect = sum / n;
                }
            }
        }
        self.predictions.clear();
        self.predictions.extend(self.levels.iter().map(|levels| {
            mean + effects.iter().zip(levels).map(|(e, l)| e[*l as usize]).sum::<f64>()
        }));
    }

    /// What it expects of a candidate.
    pub(super) fn prediction(&self, index: usize) -> f64 {
        self.predictions[index]
    }

    /// The same, with what was seen of the candidate itself: `score` of so many values.
    pub(super) fn posterior(&self, index: usize, score: f64, values: f64) -> f64 {
        (WORTH * self.predictions[index] + score * values) / (WORTH + values)
    }
}
