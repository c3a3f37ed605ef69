//! Random variants of the whole axis product.

use std::collections::HashSet;

use rand::Rng;
use rand::seq::IndexedRandom;

use super::{check, supported};
use crate::host::FeatureSet;
use crate::subject::{
    Align, BOUNCES, Class, Count, Direction, Encoding, Head, Hint, Op, Order, Prefetch, Side,
    Store, Streams, Tail, Touch, UNROLLS, Variant,
};

/// Draws for a class in a row that may find nothing new before the class counts as
/// exhausted: a string instruction's legal points are a thousandth of the product.
const PATIENCE: u32 = 20_000;

/// `count` distinct random variants that are legal and that a host with these features can
/// run, classes drawn alike; fewer only where there are no more.
pub fn random<R: Rng + ?Sized>(
    op: Op,
    features: &FeatureSet,
    count: usize,
    rng: &mut R,
) -> Vec<Variant> {
    let mut classes: Vec<Class> = Class::ALL.to_vec();
    classes.retain(|c| supported(&Variant::new(op, *c), features).is_ok());
    let mut seen = HashSet::new();
    let mut list = Vec::with_capacity(count);
    while list.len() < count {
        let Some(class) = classes.choose(rng).copied() else { break };
        let found = (0..PATIENCE)
            .filter_map(|_| draw(op, class, rng))
            .find(|v| check(v).is_ok() && supported(v, features).is_ok() && seen.insert(*v));
        match found {
            Some(variant) => list.push(variant),
            None => classes.retain(|c| *c != class),
        }
    }
    list
}

/// One point of a class, legal or not.
fn draw<R: Rng + ?Sized>(op: Op, class: Class, rng: &mut R) -> Option<Variant> {
    if class.is_rep() {
        // Few points are legal, and these axes have them all.
        let fixed = rng.next_u32().is_multiple_of(3).then(|| draw_fixed(rng));
        let (head, tail) = (*Head::ALL.choose(rng)?, *Tail::ALL.choose(rng)?);
        return Some(Variant { head, tail, fixed, ..Variant::new(op, class) });
    }
    let modulus = *Align::MODULI.choose(rng)?;
    let prefetch = if rng.next_u32().is_multiple_of(3) {
        Some(Prefetch {
            hint: *Hint::ALL.choose(rng)?,
            distance: (rng.next_u32() % u32::from(Prefetch::MAX_DISTANCE / 64) + 1) as u16 * 64,
            side: *Side::ALL.choose(rng)?,
        })
    } else {
        None
    };
    // Each special axis has its default in most draws: few loops with two of them are legal.
    let mut rare = |of: u32| rng.next_u32().is_multiple_of(of);
    let touched = rare(4);
    let (bounced, side_by_side, backward, fixed) = (rare(8), rare(6), rare(5), rare(6));
    let touch = if touched { *Touch::ALL.choose(rng)? } else { Touch::None };
    let bounce = if bounced { BOUNCES.choose(rng).copied() } else { None };
    let streams = if side_by_side { *Streams::ALL.choose(rng)? } else { Streams::One };
    let direction = if backward { Direction::Backward } else { Direction::Forward };
    let fixed = if fixed { Some(draw_fixed(rng)) } else { None };
    Some(Variant {
        touch,
        bounce,
        streams,
        direction,
        fixed,
        op,
        class,
        encoding: *Encoding::ALL.choose(rng)?,
        unroll: *UNROLLS.choose(rng)?,
        order: *Order::ALL.choose(rng)?,
        align: Align { modulus, skew: (rng.next_u32() % u32::from(modulus)) as u8 },
        store: *Store::ALL.choose(rng)?,
        prefetch,
        count: *Count::ALL.choose(rng)?,
        head: *Head::ALL.choose(rng)?,
        tail: *Tail::ALL.choose(rng)?,
    })
}

/// A fixed size: mostly small and odd, sometimes a power of two up to four pages.
fn draw_fixed<R: Rng + ?Sized>(rng: &mut R) -> u32 {
    if rng.next_u32().is_multiple_of(2) {
        rng.next_u32() % 700 + 1
    } else {
        1 << (rng.next_u32() % 15)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    #[test]
    fn draws_are_legal_distinct_and_span_every_supported_class() {
        let mut features: FeatureSet = crate::host::Feature::ALL.iter().copied().collect();
        features = features.without(crate::host::Feature::Avx512f);
        let list = random(Op::Copy, &features, 3000, &mut ChaCha8Rng::seed_from_u64(1));
        assert_eq!(list.len(), 3000);
        assert_eq!(list.iter().collect::<HashSet<_>>().len(), 3000);
        assert!(list.iter().all(|v| check(v).is_ok()));
        for class in Class::ALL {
            let there = list.iter().any(|v| v.class == *class);
            let absent = [Class::Zmm, Class::Clzero, Class::Tmm].contains(class);
            assert_eq!(there, !absent, "{class}");
        }
    }
}
