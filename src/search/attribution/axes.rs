//! One axis at a time: the winner against loops that differ from it in that axis alone.

use super::Compared;
use crate::encode;
use crate::host::FeatureSet;
use crate::space;
use crate::subject::{Hint, Prefetch, Touch, Variant};
use crate::template::{AXES, Axis, AxisValue};

/// Axes whose values have an order: next to the default, only the neighbours are measured.
const ORDERED: &[&str] = &["unroll", "distance", "bounce", "streams"];

/// The winner with one axis at another value.
#[derive(Clone, Debug, PartialEq)]
pub struct AxisRow {
    /// Key of the axis.
    pub axis: String,
    /// The value that the winner has.
    pub own: String,
    /// The value that is tried.
    pub value: String,
    /// Whether that value is the axis's default.
    pub is_default: bool,
    /// The loop with it.
    pub variant: Variant,
    /// Its time against the winner's: above 1, the winner's value is a gain.
    pub compared: Compared,
}

/// A value that cannot stand beside the winner's others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExcludedValue {
    /// Key of the axis.
    pub axis: String,
    /// The value.
    pub value: String,
    /// Which rule excludes it, or what the host lacks, or how it failed.
    pub why: String,
}

/// A row before it is measured.
pub(super) struct Planned {
    pub(super) axis: String,
    own: String,
    pub(super) value: String,
    is_default: bool,
    pub(super) variant: Variant,
}

impl Planned {
    pub(super) fn measured(self, compared: Compared) -> AxisRow {
        let Planned { axis, own, value, is_default, variant } = self;
        AxisRow { axis, own, value, is_default, variant, compared }
    }
}

/// What is tried instead of each of the winner's values, and what cannot be.
pub(super) fn alternatives(
    winner: &Variant,
    usable: FeatureSet,
) -> (Vec<Planned>, Vec<ExcludedValue>) {
    let (mut rows, mut excluded) = (Vec::new(), Vec::new());
    let own_bytes = encode::compile(winner).map(|code| code.bytes);
    // What a function is for is no choice of how it does it.
    for axis in AXES.iter().filter(|axis| axis.key != "fixed") {
        let Some(own) = (axis.of)(winner) else { continue };
        let default = default_of(axis, winner);
        for value in tried(axis, &own, default.as_deref()) {
            let Some(variant) = (axis.with)(winner, &value) else { continue };
            if variant == *winner {
                continue;
            }
            let bytes = || encode::compile(&variant).map(|code| code.bytes);
            let why = match (space::check(&variant), space::supported(&variant, &usable)) {
                (Err(broken), _) => Some(broken.to_string()),
                (_, Err(missing)) => Some(missing.to_string()),
                _ if !variant.is_exact() => Some("it would not copy every bit".into()),
                _ if bytes().is_ok_and(|b| own_bytes.as_ref().is_ok_and(|own| *own == b)) => {
                    Some("it is the same code".into())
                }
                _ => None,
            };
            let (axis, is_default) = (axis.key.to_string(), default.as_ref() == Some(&value));
            match why {
                Some(why) => excluded.push(ExcludedValue { axis, value, why }),
                None => {
                    let own = own.clone();
                    rows.push(Planned { axis, own, value, is_default, variant });
                }
            }
        }
    }
    (rows, excluded)
}

/// The value that the winner would have if its id did not name the axis; `None` where every id
/// names it.
fn default_of(axis: &Axis, winner: &Variant) -> Option<String> {
    let side = Prefetch::default_side(winner.op);
    let plain = Variant {
        encoding: winner.class.default_encoding(),
        store: winner.store,
        head: Variant::default_head(winner.store, winner.class),
        prefetch: winner.prefetch.map(|p| Prefetch { side, ..p }),
        ..Variant::new(winner.op, winner.class)
    };
    match axis.key {
        "class" | "distance" => None,
        "hint" => Some(AxisValue::word(None::<Hint>)),
        "store" => (axis.of)(&Variant::new(winner.op, winner.class)),
        _ => (axis.of)(&plain),
    }
}

/// The values to be tried beside the winner's own.
fn tried(axis: &Axis, own: &str, default: Option<&str>) -> Vec<String> {
    let nop = AxisValue::word(Some(Hint::Nop));
    let placebo = AxisValue::word(Touch::Placebo);
    let all: Vec<String> = match axis.key {
        // Neighbours at steps that can be felt.
        "distance" => (axis.coarse)(),
        // The skews have a curve of their own.
        "align" => (axis.coarse)().into_iter().filter(|v| !v.contains('+')).collect(),
        _ => (axis.values)(),
    };
    // Placebos have a table of their own.
    let all = all.into_iter().filter(|v| *v != nop && *v != placebo);
    let all: Vec<String> = all.filter(|v| v != own).collect();
    if !ORDERED.contains(&axis.key) {
        return all;
    }
    let number = |v: &str| v.trim_start_matches(|c: char| !c.is_ascii_digit()).parse::<u32>().ok();
    // "none" stands below every number.
    let at = |v: &str| number(v).unwrap_or(0);
    let below = all.iter().filter(|v| at(v) < at(own)).max_by_key(|v| at(v));
    let above = all.iter().filter(|v| at(v) > at(own)).min_by_key(|v| at(v));
    let default = all.iter().find(|v| Some(v.as_str()) == default);
    let mut chosen: Vec<String> = Vec::new();
    for value in [default, below, above].into_iter().flatten() {
        if !chosen.contains(value) {
            chosen.push(value.clone());
        }
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::Feature;

    fn planned(id: &str) -> (Vec<(String, String, bool)>, Vec<ExcludedValue>) {
        let every: FeatureSet = Feature::ALL.iter().copied().collect();
        let (rows, excluded) = alternatives(&id.parse().unwrap(), every);
        (
            rows.into_iter().map(|r| (r.axis, r.variant.to_string(), r.is_default)).collect(),
            excluded,
        )
    }

    #[test]
    fn each_axis_is_moved_alone_to_its_default_and_to_its_neighbours() {
        let (rows, excluded) = planned("copy/ymm/u8/a64/dec/pf-t0@512");
        let of = |axis: &str| -> Vec<(&str, bool)> {
            let own = rows.iter().filter(|r| r.0 == axis);
            own.map(|r| (r.1.as_str(), r.2)).collect()
        };
        assert_eq!(
            of("unroll"),
            [
                ("copy/ymm/a64/pf-t0@512/dec", true),
                ("copy/ymm/u6/a64/pf-t0@512/dec", false),
                ("copy/ymm/u12/a64/pf-t0@512/dec", false),
            ]
        );
        assert_eq!(
            of("distance"),
            [("copy/ymm/u8/a64/pf-t0@384/dec", false), ("copy/ymm/u8/a64/pf-t0@768/dec", false)]
        );
        assert!(of("count").contains(&("copy/ymm/u8/a64/pf-t0@512", true)));
        assert!(of("hint").contains(&("copy/ymm/u8/a64/dec", true)));
        assert!(of("hint").iter().all(|(id, _)| !id.contains("nop")));
        assert!(of("align").contains(&("copy/ymm/u8/pf-t0@512/dec", true)));
        assert!(of("order").iter().any(|(id, _)| id.contains("batch")));
        assert!(of("class").iter().any(|(id, _)| id.starts_with("copy/xmm")));
        // What cannot be is named with the reason.
        let encoding = excluded.iter().find(|e| e.axis == "encoding").unwrap();
        assert!(encoding.why.contains("encoding-fits-class"), "{encoding:?}");
    }

    #[test]
    fn what_this_host_lacks_is_said() {
        let (rows, excluded) = alternatives(&"zero/xmm/u4".parse().unwrap(), FeatureSet::EMPTY);
        assert!(rows.iter().all(|r| !r.variant.to_string().contains("zmm")));
        assert!(excluded.iter().any(|e| e.value == "zmm" && e.why.contains("needs")));
    }
}
