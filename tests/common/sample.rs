//! Variants drawn over all axes.

use std::collections::BTreeSet;

use looptune::ir::{Function, lower};
use looptune::subject::{
    Align, Class, Count, Encoding, Head, Hint, Op, Order, Prefetch, Side, Store, Tail, UNROLLS,
    Variant,
};
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// So many distinct variants that can be lowered.
pub(crate) fn variants(seed: u64, count: usize) -> Vec<Variant> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut drawn = BTreeSet::new();
    let mut function = Function::default();
    while drawn.len() < count {
        let v = draw(&mut rng);
        if lower(&v, &mut function).is_ok() {
            drawn.insert(v);
        }
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
    cross(all, Order::ALL, |v, order| v.order = order);
    cross(all, Store::ALL, |v, store| v.store = store);
    cross(all, Head::ALL, |v, head| v.head = head);
    cross(all, Tail::ALL, |v, tail| v.tail = tail);
    cross(all, &[Count::Cmp, Count::Negidx], |v, count| v.count = count);
    cross(all, &[0, 1, 5, 255], |v, unroll| v.unroll = unroll);
    cross(all, &[None, Some(far)], |v, prefetch| v.prefetch = prefetch);
    cross(all, &[(1, 0), (0, 0), (64, 63), (16, 16)], |v, (modulus, skew)| {
        v.align = Align { modulus, skew };
    });
    corners.into_iter()
}

fn pick<T: Copy>(rng: &mut ChaCha8Rng, all: &[T]) -> T {
    *all.choose(rng).expect("axes have values")
}

fn draw(rng: &mut ChaCha8Rng) -> Variant {
    let op = pick(rng, Op::ALL);
    let class = pick(rng, Class::ALL);
    let plain = Variant::new(op, class);
    if class.is_rep() {
        return Variant { head: pick(rng, Head::ALL), tail: pick(rng, Tail::ALL), ..plain };
    }
    let modulus = *[1].iter().chain(Align::MODULI).collect::<Vec<_>>().choose(rng).expect("some");
    let align = Align { modulus: *modulus, skew: rng.random_range(0..*modulus) };
    let prefetch = rng.random_bool(0.3).then(|| Prefetch {
        hint: pick(rng, Hint::ALL),
        distance: 64 * rng.random_range(1..=64),
        side: pick(rng, Side::ALL),
    });
    Variant {
        encoding: pick(rng, Encoding::ALL),
        unroll: pick(rng, UNROLLS),
        order: pick(rng, Order::ALL),
        align,
        store: pick(rng, Store::ALL),
        prefetch,
        count: pick(rng, Count::ALL),
        head: pick(rng, Head::ALL),
        tail: pick(rng, Tail::ALL),
        ..plain
    }
}
