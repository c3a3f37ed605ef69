//! One step away from a variant: what a local search tries next.

use super::constraints::{check, encoding_fits};
use super::enumerate::Space;
use crate::subject::{Align, Order, Prefetch, Variant};
use crate::template::Axes;

/// The legal variants one step away: another value of one axis (for the unroll factor, the
/// prefetch distance and the skew the next one on either side), together with a second axis
/// where the step is legal only so (a store with its head, a class with its encoding, an
/// order with its unroll factor).
///
/// Only values that some region of the space has are used, and only pairs of class and
/// encoding that a region has; but not only the regions' own combinations of them, so that a
/// local search can join what the regions keep apart. In a fixed order, without repetition,
/// without the variant itself.
pub fn neighbours(v: &Variant, space: &Space) -> Vec<Variant> {
    let space = space.of(v.op);
    let Some(hull) = space.hull() else { return Vec::new() };
    let v = *v;
    let mut found = Found { of: v, space: &space, list: Vec::new() };

    for unroll in either_side(&hull.unrolls, v.unroll) {
        found.offer(Variant { unroll, ..v });
        found.offer(Variant { unroll, order: Order::Pair, ..v });
    }
    for &order in &hull.orders {
        for &unroll in std::iter::once(&v.unroll).chain(&hull.unrolls) {
            if found.offer(Variant { order, unroll, ..v }) {
                break;
            }
        }
    }
    hull.counts.iter().for_each(|&count| _ = found.offer(Variant { count, ..v }));
    hull.tails.iter().for_each(|&tail| _ = found.offer(Variant { tail, ..v }));
    hull.heads.iter().for_each(|&head| _ = found.offer(Variant { head, ..v }));
    for align in aligns(&hull, &v) {
        found.offer(Variant { align, ..v });
    }
    for &store in &hull.stores {
        let same_head = found.offer(Variant { store, ..v });
        if !same_head || v.head == Variant::default_head(v.store, v.class) {
            found.offer(Variant { store, head: Variant::default_head(store, v.class), ..v });
        }
    }
    for prefetch in prefetches(&hull, &v) {
        found.offer(Variant { prefetch, ..v });
    }
    for &class in &hull.classes {
        for &encoding in &hull.encodings {
            if !encoding_fits(class, encoding) {
                continue;
            }
            // A class that cannot have the other values starts from its own plain form.
            let tail = match v.tail == Variant::default_tail(v.class) {
                true => Variant::default_tail(class),
                false => v.tail,
            };
            let moved = Variant { class, encoding, tail, ..v };
            if !found.offer(moved) {
                let pair = Variant { order: Order::Pair, ..moved };
                let plain = Variant { head: v.head, ..Variant::new(v.op, class) };
                let _ = found.offer(pair) || found.offer(Variant { encoding, ..plain });
            }
        }
    }
    found.list
}

struct Found<'a> {
    of: Variant,
    space: &'a Space,
    list: Vec<Variant>,
}

impl Found<'_> {
    /// Takes a variant if it is legal and made of the space's values; whether it is so.
    fn offer(&mut self, v: Variant) -> bool {
        let in_space = self
            .space
            .regions()
            .iter()
            .any(|r| r.classes.contains(&v.class) && r.encodings.contains(&v.encoding));
        if v == self.of || !in_space || check(&v).is_err() {
            return false;
        }
        if !self.list.contains(&v) {
            self.list.push(v);
        }
        true
    }
}

/// The values next below and next above, of those that there are.
fn either_side<T: Copy + Ord>(values: &[T], at: T) -> impl Iterator<Item = T> {
    let below = values.iter().copied().filter(|v| *v < at).max();
    let above = values.iter().copied().filter(|v| *v > at).min();
    below.into_iter().chain(above)
}

/// The next skews of the same modulus, and the other moduli with the nearest skew they have.
fn aligns(hull: &Axes, v: &Variant) -> Vec<Align> {
    let of = |modulus: u8| hull.aligns.iter().copied().filter(move |a| a.modulus == modulus);
    let same: Vec<_> = of(v.align.modulus).collect();
    let mut next: Vec<_> = either_side(&same, v.align).collect();
    for &modulus in Align::MODULI.iter().filter(|m| **m != v.align.modulus) {
        next.extend(of(modulus).min_by_key(|a| a.skew.abs_diff(v.align.skew)));
    }
    next
}

/// No prefetch; the next distances; other hints; other sides.
fn prefetches(hull: &Axes, v: &Variant) -> Vec<Option<Prefetch>> {
    let Some(p) = v.prefetch else {
        // From none, every hint at every distance: there is no step in between.
        return hull.prefetches();
    };
    let mut next: Vec<Option<Prefetch>> = Vec::new();
    if hull.hints.contains(&None) {
        next.push(None);
    }
    next.extend(
        either_side(&hull.distances, p.distance).map(|distance| Some(Prefetch { distance, ..p })),
    );
    for hint in hull.hints.iter().flatten() {
        // prefetchw has the destination's side only.
        for &side in std::iter::once(&p.side).chain(&hull.sides) {
            next.push(Some(Prefetch { hint: *hint, side, ..p }));
        }
    }
    next
}
