//! Where an optimum sits on the edge of what was swept, so that a better one may lie beyond.

use crate::subject::{BOUNCES, Cell, Prefetch, Streams, UNROLLS, Variant};

/// An axis whose values have an order, and the number of a variant on it. The address of the
/// loop top is none of them: it goes round, and beyond 63 comes 0.
struct Ordered {
    key: &'static str,
    what: &'static str,
    of: fn(&Variant) -> Option<u32>,
    /// The least and the largest that there is.
    ends: fn() -> (u32, u32),
    /// Whether only loops of the same class are compared.
    by_class: bool,
}

static ORDERED: &[Ordered] = &[
    Ordered {
        key: "distance",
        what: "prefetch distance",
        of: |v| v.prefetch.map(|p| u32::from(p.distance)),
        ends: || (64, u32::from(Prefetch::MAX_DISTANCE)),
        by_class: false,
    },
    Ordered {
        key: "unroll",
        what: "unroll factor",
        of: |v| (!v.class.is_rep() && !v.class.is_line()).then_some(u32::from(v.unroll)),
        ends: || ends(UNROLLS.iter().map(|u| u32::from(*u))),
        by_class: true,
    },
    Ordered {
        key: "bounce",
        what: "block in the first-level cache",
        of: |v| v.bounce.map(u32::from),
        ends: || ends(BOUNCES.iter().map(|b| u32::from(*b))),
        by_class: false,
    },
    Ordered {
        key: "streams",
        what: "number of pages side by side",
        of: |v| Some(v.streams.count()),
        ends: || ends(Streams::ALL.iter().map(|s| s.count())),
        by_class: false,
    },
];

fn ends(values: impl Iterator<Item = u32> + Clone) -> (u32, u32) {
    (values.clone().min().unwrap_or(0), values.max().unwrap_or(0))
}

/// An optimum on the edge of the swept range, on an axis that goes on beyond it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edge {
    /// Key of the axis.
    pub axis: String,
    /// What it is, for people.
    pub what: String,
    /// Whether it is the largest value swept; else it is the smallest.
    pub largest: bool,
    /// The value.
    pub value: u32,
}

impl Edge {
    /// `largest` or `smallest`.
    pub fn end(&self) -> &'static str {
        if self.largest { "largest" } else { "smallest" }
    }
}

impl std::fmt::Display for Edge {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "the optimum sits on the edge of the swept range: {} is the {} {} swept",
            self.value,
            self.end(),
            self.what
        )
    }
}

/// The edges that a loop sits on, of the ranges that `swept` spans. An axis with one value was
/// fixed and not swept; where the axis itself ends there is nothing beyond.
pub fn edges<'a>(winner: &Variant, swept: impl Iterator<Item = &'a Variant> + Clone) -> Vec<Edge> {
    let mut found = Vec::new();
    for axis in ORDERED {
        let Some(value) = (axis.of)(winner) else { continue };
        let like = |v: &&Variant| !axis.by_class || v.class == winner.class;
        let values = swept.clone().filter(like).filter_map(axis.of);
        let (least, most) = ends(values.clone().chain([value]).collect::<Vec<_>>().into_iter());
        let (first, last) = (axis.ends)();
        let edge = |largest| Edge { axis: axis.key.into(), what: axis.what.into(), largest, value };
        if least == most {
            continue;
        }
        if value == most && value < last {
            found.push(edge(true));
        } else if value == least && value > first {
            found.push(edge(false));
        }
    }
    found
}

/// Whether the main loop runs often enough for what is in it to have made a winner.
pub fn main_loop_matters(variant: &Variant, cell: &Cell) -> bool {
    f64::from(variant.block()) * 2.0 <= cell.extent().mean()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edges_of(ids: &[&str]) -> Vec<(String, &'static str)> {
        let loops: Vec<Variant> = ids.iter().map(|id| id.parse().unwrap()).collect();
        let found = edges(&loops[loops.len() - 1], loops.iter());
        found.into_iter().map(|e| (e.axis.clone(), e.end())).collect()
    }

    #[test]
    fn both_ends_of_a_range_are_edges_unless_the_axis_ends_there() {
        let edge = |key: &str, end| vec![(key.to_string(), end)];
        assert_eq!(edges_of(&["zero/ymm/u2", "zero/ymm/u4"]), edge("unroll", "largest"));
        assert_eq!(edges_of(&["zero/ymm/u8", "zero/ymm/u4"]), edge("unroll", "smallest"));
        assert_eq!(edges_of(&["zero/ymm/u8", "zero/ymm/u2", "zero/ymm/u4"]), []);
        // The ends of the axis itself, and loops of another class.
        assert_eq!(edges_of(&["zero/ymm/u8", "zero/ymm"]), []);
        let last = format!("zero/ymm/u{}", UNROLLS.iter().max().unwrap());
        assert_eq!(edges_of(&["zero/ymm/u2", &last]), []);
        assert_eq!(edges_of(&["zero/xmm/u2", "zero/ymm/u4"]), []);
        let far = "copy/ymm/u4/pf-t0@512";
        let ids = ["copy/ymm/u4/pf-t0@256", "copy/ymm/u4", far];
        assert_eq!(edges_of(&ids), edge("distance", "largest"));
        let ids = ["copy/ymm/u4/pf-t0@1024", "copy/ymm/u4", far];
        assert_eq!(edges_of(&ids), edge("distance", "smallest"));
        let ids = ["copy/ymm/bounce1024", "copy/ymm/bounce4096"];
        assert_eq!(edges_of(&ids), edge("bounce", "largest"));
    }
}
