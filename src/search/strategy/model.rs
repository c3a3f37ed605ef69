//! What the looks so far say of every loop, those among them that nobody has looked at: log time
//! as a sum of effects of axis values, and of pairs of them, of what is the loop's own, and of the
//! moment. Each effect is shrunk towards nothing where few looks show it.
//!
//! That the moment is an effect like the others is what makes looks of different blocks
//! comparable: of a block's fifty members the fit knows what to expect, so they tell its moment
//! far better than the baseline's two samples do.

use std::collections::HashMap;

use super::super::screen::Look;
use crate::stats::median;
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

/// Times that all effects are fitted to what the others leave over: at first, and when there are
/// new looks.
const FIRST_PASSES: usize = 10;
const PASSES: usize = 4;

/// What is slower than the fastest by more than this (as a log) is only slow: how slow, shall not
/// bend what is said of the fast ones.
const SLOW: f64 = 0.5;

/// Rests beyond so many of their usual size count as of that size: a look into which something
/// got says little of the loop (Huber's estimate).
const FAR: f64 = 3.0;

/// A median distance times this is a standard deviation.
const DEVIATION: f64 = 1.482_6;

/// What is left of loops' differences when their axes are accounted for, and what an effect of
/// axes is like, as logs. Against these, and against the noise that there is, one weighs how much
/// so many looks say.
const OWN: f64 = 0.04;
const EFFECT: f64 = 0.1;

/// Looks of nothing by which the effect of a moment is shrunk, and the own of a baseline, which is
/// in every block.
const MOMENT: f64 = 0.5;
const BASELINE: f64 = 0.05;

/// The effects, as last fitted.
pub(super) struct Model {
    /// Of each candidate, its level in each group.
    levels: Vec<[u32; GROUPS.len()]>,
    /// By group and level.
    effects: Vec<Vec<f64>>,
    /// Of each candidate, then of each baseline.
    own: Vec<f64>,
    moments: Vec<f64>,
    mean: f64,
    predictions: Vec<f64>,
    fitted: bool,
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
        Model {
            effects: names.iter().map(|names| vec![0.0; names.len()]).collect(),
            own: vec![0.0; levels.len()],
            moments: Vec::new(),
            mean: 0.0,
            predictions: vec![0.0; levels.len()],
            levels,
            fitted: false,
        }
    }

    /// Fits the effects to all looks.
    pub(super) fn fit(&mut self, looks: &[Look]) {
        let candidates = self.levels.len();
        let mut fast: Vec<f64> =
            looks.iter().filter(|l| l.who < candidates).map(|l| l.over).collect();
        if fast.is_empty() {
            return;
        }
        // Not the very fastest: it may be an accident.
        let place = fast.len() / 100;
        let slow = *fast.select_nth_unstable_by(place, f64::total_cmp).1 + SLOW;
        let value = |l: &Look| l.log - (l.over - slow).max(0.0);
        let blocks = looks.last().map_or(0, |l| l.block as usize + 1);
        self.moments.resize(blocks, 0.0);
        let last = looks.iter().map(|l| l.who).max().unwrap_or(0);
        self.own.resize(self.own.len().max(last + 1), 0.0);
        if !self.fitted {
            self.mean = looks.iter().map(value).sum::<f64>() / looks.len() as f64;
        }
        let mut left: Vec<f64> = looks.iter().map(|l| value(l) - self.expected(l)).collect();
        let passes = if self.fitted { PASSES } else { FIRST_PASSES };
        let mut sums = Vec::new();
        let mut values = Vec::new();
        let mut by_who: Vec<Vec<u32>> = vec![Vec::new(); self.own.len()];
        for (i, look) in looks.iter().enumerate() {
            by_who[look.who].push(i as u32);
        }
        for pass in 0..passes {
            let usual = DEVIATION * median(&mut left.iter().map(|l| l.abs()).collect::<Vec<_>>());
            // In the first pass all that is to be explained is left.
            let far = if pass == 0 && !self.fitted { f64::INFINITY } else { usual * FAR };
            let noise = usual * usual;
            let axes = ((noise + OWN * OWN) / (EFFECT * EFFECT)).max(1.0);
            let own = (noise / (OWN * OWN)).clamp(0.25, 30.0);
            let shrink = |who: usize| if who < candidates { own } else { BASELINE };
            let mut update = |effects: &mut Vec<f64>,
                              level: &dyn Fn(&Look) -> Option<usize>,
                              shrink: &dyn Fn(usize) -> f64| {
                sums.clear();
                sums.extend((0..effects.len()).map(|level| (0.0, shrink(level))));
                for (look, left) in looks.iter().zip(&left) {
                    let Some(level) = level(look) else { continue };
                    sums[level].0 += left.clamp(-far, far) + effects[level];
                    sums[level].1 += 1.0;
                }
                for (look, left) in looks.iter().zip(&mut left) {
                    let Some(level) = level(look) else { continue };
                    *left += effects[level] - sums[level].0 / sums[level].1;
                }
                for (effect, (sum, n)) in effects.iter_mut().zip(&sums) {
                    *effect = sum / n;
                }
            };
            update(&mut self.moments, &|l| Some(l.block as usize), &|_| MOMENT);
            for (group, effects) in self.effects.iter_mut().enumerate() {
                let level = |l: &Look| Some(self.levels.get(l.who)?[group] as usize);
                update(effects, &level, &|_| GROUPS[group].1 * axes);
            }
            for (who, looks) in by_who.iter().enumerate().filter(|(_, looks)| !looks.is_empty()) {
                // What is far off again and again is the loop's own: the middle tells it at once,
                // where a mean of what is not too far would creep.
                values.clear();
                values.extend(looks.iter().map(|i| left[*i as usize] + self.own[who]));
                let n = values.len() as f64;
                let own = median(&mut values) * n / (n + shrink(who));
                looks.iter().for_each(|i| left[*i as usize] += self.own[who] - own);
                self.own[who] = own;
            }
        }
        self.fitted = true;
        self.predictions = (0..candidates).map(|i| self.mean + self.of_axes(i)).collect();
    }

    fn of_axes(&self, index: usize) -> f64 {
        let levels = self.levels.get(index).into_iter().flatten();
        self.effects.iter().zip(levels).map(|(e, l)| e[*l as usize]).sum()
    }

    fn expected(&self, look: &Look) -> f64 {
        self.mean + self.of_axes(look.who) + self.own[look.who] + self.moments[look.block as usize]
    }

    /// What it expects of a candidate by its axes.
    pub(super) fn prediction(&self, index: usize) -> f64 {
        self.predictions[index]
    }

    /// The same, with what was seen of the candidate itself.
    pub(super) fn posterior(&self, index: usize) -> f64 {
        self.predictions[index] + self.own[index]
    }

    /// What the first baseline takes.
    pub(super) fn baseline(&self) -> f64 {
        self.mean + self.own.get(self.levels.len()).copied().unwrap_or(0.0)
    }
}
