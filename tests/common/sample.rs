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
