//! Variants drawn over all axes.

use std::collections::BTreeSet;

use looptune::ir::{Function, lower};
use looptune::subject::{
    Align, BOUNCES, Class, Count, Direction, Encoding, Head, Hint, Op, Order, Prefetch, Side,
    Store, Streams, Tail, Touch, UNROLLS, Variant,
};
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Draws for an op and a class that may find nothing new before both count as exhausted.
const PATIENCE: usize = 20_000;

/// So many distinct variants that can be lowered; ops and classes by turns, so that each has
/// its share.
pub(crate) fn variants(seed: u64, count: usize) -> Vec<Variant> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut drawn = BTreeSet::new();
    let mut function = Function::default();
    let mut kinds: Vec<(Op, Class)> =
        Op::ALL.iter().flat_map(|op| Class::ALL.iter().map(move |class| (*op, *class))).collect();
    while drawn.len() < count {
        assert!(!kinds.is_empty(), "there are only {} variants", drawn.len());
        kinds.retain(|(op, class)| {
            let mut draws = (0..PATIENCE).map(|_| draw(*op, *class, &mut rng));
            let new = draws.find(|v| lower(v, &mut function).is_ok() && !drawn.contains(v));
            new.is_some_and(|v| drawn.insert(v))
        });
    }
    drawn.into_iter().collect()
}

/// Every combination of the small axes, with unroll factors and alignments that no id may
/// have among them.
#[allow(dead_code, reason = "not every test that samples needs it")]
pub(crate) fn every_corner() -> impl Iterator<Item = Variant> {
    let mut corners = vec![];
    for &op in Op::ALL {
        for &class in Class::ALL {
            corners.push(Variant::new(op, class));
        }
    }
    /// Crosses what there is with the values of one axis.
    fn cross<T: Copy>(all: &mut Vec<Variant>, values: &[T], set: impl Fn(&mut Variant, T)) {
        *all = all
            .iter()
            .flat_map(|v| values.iter().map(move |value| (*v, *value)))
            .map(|(mut v, value)| {
                set(&mut v, value);
                v
            })
            .collect();
    }
    let far = Prefetch { hint: Hint::Nop, distance: u16::MAX, side: Side::Both };
    let all = &mut corners;
    cross(all, Encoding::ALL, |v, encoding| v.encoding = encoding);
    cross(all, &[Order::Pair, Order::Reverse], |v, order| v.order = order);
    cross(all, Store::ALL, |v, store| v.store = store);
    cross(all, Head::ALL, |v, head| v.head = head);
    cross(all, Tail::ALL, |v, tail| v.tail = tail);
    cross(all, &[0, 1, 5, 255], |v, unroll| v.unroll = unroll);
    // One of the rare axes at a time, and two that exclude each other.
    cross(all, &(0..12).collect::<Vec<_>>(), |v, rare| match rare {
        0 => v.count = Count::Negidx,
        1 => v.prefetch = Some(far),
        2 => v.align = Align { modulus: 0, skew: 0 },
        3 => v.align = Align { modulus: 16, skew: 16 },
        4 => v.touch = Touch::Rbw,
        5 => v.touch = Touch::SrcBlock,
        6 => v.bounce = Some(1000),
        7 => v.bounce = Some(16384),
        8 => (v.streams, v.bounce) = (Streams::Two, Some(1024)),
        9 => v.streams = Streams::Four,
        10 => (v.direction, v.count) = (Direction::Backward, Count::Dec),
        _ => v.fixed = Some(u32::MAX),
    });
    cross(all, &[(1, 0), (64, 63)], |v, (modulus, skew)| {
        if v.align == Align::NATURAL {
            v.align = Align { modulus, skew };
        }
    });
    corners.into_iter()
}

fn pick<T: Copy>(rng: &mut ChaCha8Rng, all: &[T]) -> T {
    *all.choose(rng).expect("axes have values")
}

fn draw(op: Op, class: Class, rng: &mut ChaCha8Rng) -> Variant {
    let plain = Variant::new(op, class);
    // Small ones are most of what a fixed size is for.
    let fixed = rng.random_bool(0.1).then(|| match rng.random_bool(0.7) {
        true => rng.random_range(1..1200),
        false => rng.random_range(1..9000),
    });
    if class.is_rep() {
        return Variant { head: pick(rng, Head::ALL), tail: pick(rng, Tail::ALL), fixed, ..plain };
    }
    let modulus = pick(rng, Align::MODULI);
    let align = Align { modulus, skew: rng.random_range(0..modulus) };
    let prefetch = rng.random_bool(0.3).then(|| Prefetch {
        hint: pick(rng, Hint::ALL),
        distance: 64 * rng.random_range(1..=64),
        side: pick(rng, Side::ALL),
    });
    // Few loops with two of these are legal.
    let rare = rng.random_range(0..12);
    let drawn = Variant {
        encoding: pick(rng, Encoding::ALL),
        unroll: pick(rng, UNROLLS),
        order: pick(rng, Order::ALL),
        align,
        store: pick(rng, Store::ALL),
        prefetch,
        count: pick(rng, Count::ALL),
        head: pick(rng, Head::ALL),
        tail: pick(rng, Tail::ALL),
        touch: if rare < 4 { pick(rng, Touch::ALL) } else { Touch::None },
        bounce: (rare == 4 || rare == 5).then(|| pick(rng, BOUNCES)),
        streams: if rare == 6 { pick(rng, Streams::ALL) } else { Streams::One },
        direction: if rare > 9 { Direction::Backward } else { Direction::Forward },
        fixed,
        ..plain
    };
    // Loops that run in parts have one way of counting.
    if drawn.is_nest() { Variant { count: Count::Cmp, fixed: None, ..drawn } } else { drawn }
}
