//! How an illegal variant can be made legal.

use super::constraints::{Rule, check, check_all};
use crate::subject::{Direction, Head, Prefetch, Streams, Touch, Variant};
use crate::template::{Axes, AxisValue};

/// Why a variant is illegal, and the nearest legal one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// The variant.
    pub variant: Variant,
    /// The rules that it breaks; at least one.
    pub broken: Vec<&'static Rule>,
    /// A legal variant that differs in one axis, or in two where one is not enough.
    pub nearest: Option<Variant>,
}

impl std::fmt::Display for Explanation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "`{}` cannot be: ", self.variant)?;
        for (i, rule) in self.broken.iter().enumerate() {
            let separator = if i == 0 { "" } else { "; " };
            write!(f, "{separator}{} (rule {})", rule.reason, rule.name)?;
        }
        match self.nearest {
            Some(near) => write!(f, "; the nearest legal variant is {near}"),
            None => Ok(()),
        }
    }
}

/// Explains why a variant is illegal; `None` for a legal one.
pub fn explain(v: &Variant) -> Option<Explanation> {
    let broken = check_all(v);
    if broken.is_empty() {
        return None;
    }
    Some(Explanation { variant: *v, broken, nearest: nearest(v) })
}

fn nearest(v: &Variant) -> Option<Variant> {
    let axes = Axes::all();
    let legal = |v: &Variant| check(v).is_ok();
    let one = changes(v, &axes);
    if let Some(found) = one.iter().copied().find(legal) {
        return Some(found);
    }
    // Of two changes only those are tried whose first one mends something.
    let worst = check_all(v).len();
    let better = one.iter().filter(|w| check_all(w).len() < worst);
    let repaired = better.flat_map(|w| changes(w, &axes)).find(legal);
    repaired.or_else(|| {
        // An id of a string instruction may carry any number of tokens that it cannot have.
        let plain = Variant { head: v.head, tail: v.tail, ..Variant::new(v.op, v.class) };
        v.class.is_rep().then_some(plain).filter(legal)
    })
}

/// The variants that differ in one axis from this one; the op and the class are what the
/// person asked for and stay. The head comes first, as the change that costs least, and the
/// store after the axes that only shape the loop.
fn changes(v: &Variant, axes: &Axes) -> Vec<Variant> {
    let v = *v;
    let mut all = vec![
        Variant { head: Head::Dst, ..v },
        Variant { head: Head::None, ..v },
        Variant { encoding: v.class.default_encoding(), ..v },
        Variant { tail: Variant::default_tail(v.class), ..v },
    ];
    all.extend(axes.orders.iter().map(|&order| Variant { order, ..v }));
    // Downwards from the asked factor first.
    let mut unrolls = axes.unrolls.clone();
    unrolls.sort_by_key(|u| (*u > v.unroll, u.abs_diff(v.unroll)));
    all.extend(unrolls.into_iter().map(|unroll| Variant { unroll, ..v }));
    all.extend(axes.encodings.iter().map(|&encoding| Variant { encoding, ..v }));
    if let Some(p) = v.prefetch {
        let with = |p| Variant { prefetch: Some(p), ..v };
        all.extend(axes.sides.iter().rev().map(|&side| with(Prefetch { side, ..p })));
        let mut distances = u16::all();
        distances.sort_by_key(|d| d.abs_diff(p.distance));
        all.extend(distances.into_iter().map(|distance| with(Prefetch { distance, ..p })));
    }
    all.push(Variant { prefetch: None, ..v });
    all.extend(axes.stores.iter().map(|&store| Variant { store, ..v }));
    all.extend(axes.counts.iter().map(|&count| Variant { count, ..v }));
    all.push(Variant { touch: Touch::None, ..v });
    all.push(Variant { bounce: None, ..v });
    all.push(Variant { streams: Streams::One, ..v });
    all.push(Variant { direction: Direction::Forward, ..v });
    all.push(Variant { fixed: None, ..v });
    let mut aligns = axes.aligns.clone();
    aligns.sort_by_key(|a| (a.modulus.abs_diff(v.align.modulus), a.skew.abs_diff(v.align.skew)));
    all.extend(aligns.into_iter().map(|align| Variant { align, ..v }));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nearest_id(id: &str) -> String {
        let explanation = explain(&id.parse().unwrap()).unwrap();
        explanation.nearest.unwrap().to_string()
    }

    #[test]
    fn the_nearest_legal_variant_keeps_what_was_asked() {
        assert_eq!(nearest_id("zero/ymm/u4/aligned/head-none"), "zero/ymm/u4/aligned");
        assert_eq!(nearest_id("zero/ymm/u4/batch"), "zero/ymm/u4");
        assert_eq!(nearest_id("copy/r64/u8/batch"), "copy/r64/u8");
        assert_eq!(nearest_id("zero/r64/vex"), "zero/r64");
        assert_eq!(nearest_id("zero/zmm/vex/u2"), "zero/zmm/u2");
        assert_eq!(nearest_id("copy/ymm/pf-w@256"), "copy/ymm/pf-w@256-dst");
        assert_eq!(nearest_id("zero/rep8/u4/nt"), "zero/rep8");
        assert_eq!(nearest_id("zero/rep8/u4/nt/dec/a64/pf-t0@64"), "zero/rep8");
        assert_eq!(nearest_id("zero/r64/aligned"), "zero/r64/head-dst");
        assert_eq!(explain(&"zero/ymm".parse().unwrap()), None);
    }

    #[test]
    fn the_text_names_rule_reason_and_way_out() {
        let text = explain(&"zero/ymm/batch/u2".parse().unwrap()).unwrap().to_string();
        assert!(text.contains("batch-needs-loads") && text.contains("zero/ymm/u2"), "{text}");
    }
}
