//! Subsets that leave no kind of loop out.

use std::collections::{BTreeMap, BTreeSet};

use rand::Rng;
use rand::seq::SliceRandom;

use crate::subject::{Class, Direction, Encoding, Store, Touch, Variant};
use crate::units::words;

words! {
    /// How far a loop is unrolled, roughly.
    Unrolled {
        /// 1 or 2 registers an iteration.
        Little = "little",
        /// 3 or 4.
        Some = "some",
        /// 6 or 8.
        Much = "much",
        /// 12 or more.
        Most = "most",
    }
}

/// A kind of loop: variants of one kind tend to be alike in speed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Stratum {
    /// Register class.
    pub class: Class,
    /// Store instruction.
    pub store: Store,
    /// Encoding.
    pub encoding: Encoding,
    /// Unroll factor, roughly.
    pub unrolled: Unrolled,
    /// Whether there is a prefetch.
    pub prefetch: bool,
    /// Whether it takes a detour: reads more than it must, goes through a block, walks several
    /// pages or goes backwards.
    pub detour: bool,
}

/// The stratum of a variant.
pub fn strata(v: &Variant) -> Stratum {
    let unrolled = match v.unroll {
        0..=2 => Unrolled::Little,
        3..=4 => Unrolled::Some,
        5..=8 => Unrolled::Much,
        _ => Unrolled::Most,
    };
    Stratum {
        class: v.class,
        store: v.store,
        encoding: v.encoding,
        unrolled,
        prefetch: v.prefetch.is_some(),
        detour: v.is_nest() || v.touch != Touch::None || v.direction != Direction::Forward,
    }
}

/// About `k` of the variants, drawn evenly from their strata, in their own order. Each pair
/// of class and store that occurs is represented, even where that takes more than `k`.
pub fn stratified<R: Rng + ?Sized>(variants: &[Variant], k: usize, rng: &mut R) -> Vec<Variant> {
    if variants.len() <= k {
        return variants.to_vec();
    }
    let mut members: BTreeMap<Stratum, Vec<usize>> = BTreeMap::new();
    for (i, v) in variants.iter().enumerate() {
        members.entry(strata(v)).or_default().push(i);
    }
    let mut groups: Vec<Vec<usize>> = members.into_values().collect();
    groups.iter_mut().for_each(|g| g.shuffle(rng));
    groups.shuffle(rng);

    let mut chosen: BTreeSet<usize> = BTreeSet::new();
    let mut represented: BTreeSet<(Class, Store)> = BTreeSet::new();
    for group in &mut groups {
        let v = &variants[group[group.len() - 1]];
        if represented.insert((v.class, v.store)) {
            chosen.extend(group.pop());
        }
    }
    // One from each stratum in turn, until there are enough.
    while chosen.len() < k {
        for group in &mut groups {
            if chosen.len() < k {
                chosen.extend(group.pop());
            }
        }
    }
    chosen.into_iter().map(|i| variants[i]).collect()
}
