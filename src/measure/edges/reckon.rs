//! Which cache sizes to reckon with: what is told, where the measurement agrees, else what was
//! measured. Pure.

use serde::{Deserialize, Serialize};

use super::{Edge, Edges, Found};
use crate::measure::ring::Levels;
use crate::units::{human_size, words};

words! {
    /// Whose word on cache sizes counts.
    CacheSizes {
        /// The measurement's.
        Measured = "measured",
        /// The processor's.
        Told = "told",
    }
}

/// Cache sizes for states, and what a reader must know of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reckoned {
    /// The sizes.
    pub levels: Levels,
    /// Where told and measured sizes disagree, or nothing could be measured: one sentence each.
    pub warnings: Vec<String>,
}

/// A told size so far outside of an edge's interval is still the same: footprints go in steps.
pub(super) const SLACK: f64 = 1.25;

/// What is decided of one level.
enum Choice {
    Told,
    Measured(Edge),
    /// The walk ended far below what is told.
    Cut(Edge),
    Nothing,
}

impl Reckoned {
    /// What is told, without a measurement.
    pub fn told(levels: Levels) -> Reckoned {
        Reckoned { levels, warnings: Vec::new() }
    }

    /// Decides. Where a told size lies within its edge's interval it stands, so that the states
    /// of two runs are the same and not two readings of one size.
    pub fn of(told: &Levels, edges: &Edges) -> Reckoned {
        let mut warnings = Vec::new();
        let mut level = |name: &str, told: Option<u64>, found: Found| match choose(told, found) {
            Choice::Told => {
                if told.is_some() && found == Found::Unclear {
                    warnings.push(format!(
                        "the {name} could not be measured: {} is taken, as told",
                        size(told)
                    ));
                }
                told
            }
            Choice::Cut(edge) => {
                warnings.push(format!(
                    "the {name} was walked up to {} only: {} is taken, as told",
                    about(edge.low),
                    size(told)
                ));
                told
            }
            Choice::Measured(edge) => {
                warnings.push(format!(
                    "the {name} is told as {}, but measured it is {}: states are made for that",
                    size(told),
                    told_edge(&edge)
                ));
                Some(edge.bytes)
            }
            Choice::Nothing => {
                warnings.push(format!(
                    "the {name} is told as {}, but measured there is none: behind the level \
                     before it accesses go to memory",
                    size(told)
                ));
                None
            }
        };
        let levels = Levels {
            l1d: level("L1d", told.l1d, edges.l1d),
            l2: level("L2", told.l2, edges.l2),
            llc: level("last-level cache", told.llc, edges.llc),
        };
        if ascending(&levels) {
            return Reckoned { levels, warnings };
        }
        warnings.push("measured and told sizes do not fit together: those told are taken".into());
        Reckoned { levels: *told, warnings }
    }
}

/// An edge for people, as in `2.3M (1.8M to 3.0M)`.
fn told_edge(edge: &Edge) -> String {
    match edge.high {
        Some(high) => {
            format!("{} ({} to {})", about(edge.bytes), about(edge.low), about(high))
        }
        None => format!("at least {}", about(edge.low)),
    }
}

/// A size to two digits at least: nobody measures caches to the byte.
fn about(bytes: u64) -> String {
    let kib = bytes as f64 / 1024.0;
    if kib < 1000.0 {
        format!("{kib:.0}k")
    } else if kib < 10.0 * 1024.0 {
        format!("{:.1}M", kib / 1024.0)
    } else {
        format!("{:.0}M", kib / 1024.0)
    }
}

impl std::fmt::Display for Found {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Found::Edge(edge) => f.write_str(&told_edge(edge)),
            Found::Absent => f.write_str("none: memory follows"),
            Found::Unclear => f.write_str("unclear"),
        }
    }
}

fn size(told: Option<u64>) -> String {
    told.map_or("none".into(), human_size)
}

fn choose(told: Option<u64>, found: Found) -> Choice {
    match (told, found) {
        (_, Found::Unclear) | (None, Found::Absent) => Choice::Told,
        (Some(_), Found::Absent) => Choice::Nothing,
        (None, Found::Edge(edge)) => Choice::Measured(edge),
        (Some(told), Found::Edge(edge)) if edge.high.is_none() && edge.low < told / 4 => {
            Choice::Cut(edge)
        }
        (Some(told), Found::Edge(edge)) => {
            let above = told as f64 * SLACK >= edge.low as f64;
            let below = edge.high.is_none_or(|high| told as f64 <= high as f64 * SLACK);
            if above && below { Choice::Told } else { Choice::Measured(edge) }
        }
    }
}

/// Whether each level is larger than the one before.
fn ascending(levels: &Levels) -> bool {
    let sizes: Vec<u64> = [levels.l1d, levels.l2, levels.llc].into_iter().flatten().collect();
    sizes.windows(2).all(|w| w[0] < w[1])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::state_exists;
    use crate::subject::{Cell, Drive, Level, Op, State};

    const TOLD: Levels = Levels { l1d: Some(32 << 10), l2: Some(512 << 10), llc: Some(32 << 20) };

    fn edge(low: u64, bytes: u64, high: u64) -> Found {
        Found::Edge(Edge { bytes: bytes << 10, low: low << 10, high: Some(high << 10) })
    }

    fn edges(llc: Found) -> Edges {
        Edges { l1d: edge(24, 30, 38), l2: edge(260, 400, 521), llc, ..Edges::default() }
    }

    #[test]
    fn what_agrees_stays_as_told_without_a_word() {
        let found = Reckoned::of(&TOLD, &edges(edge(20 << 10, 26 << 10, 36 << 10)));
        assert_eq!(found, Reckoned::told(TOLD));
        let open = Found::Edge(Edge { bytes: 12 << 20, low: 12 << 20, high: None });
        assert_eq!(Reckoned::of(&TOLD, &edges(open)), Reckoned::told(TOLD));
        let cut = Found::Edge(Edge { bytes: 1 << 20, low: 1 << 20, high: None });
        let found = Reckoned::of(&TOLD, &edges(cut));
        assert_eq!(found.levels, TOLD);
        assert!(found.warnings[0].contains("up to 1.0M only"), "{:?}", found.warnings);
    }

    #[test]
    fn a_claim_that_is_absurd_loses_and_the_plan_with_it() {
        let found = Reckoned::of(&TOLD, &edges(edge(1800, 2300, 3000)));
        assert_eq!(found.levels, Levels { llc: Some(2300 << 10), ..TOLD });
        assert_eq!(found.warnings.len(), 1);
        let text = &found.warnings[0];
        assert!(text.contains("told as 32M") && text.contains("2.2M (1.8M to 2.9M)"), "{text}");
        // With the claim, 4 MiB of lines that lie in memory would be called the last level's.
        let cell = |state| Cell::new(Op::Zero, 4 << 20, State::both(state), Drive::Throughput);
        assert!(state_exists(&cell(Level::Llc), &TOLD).is_ok());
        assert!(state_exists(&cell(Level::Llc), &found.levels).is_err());
        let tiny = Levels { l1d: Some(4 << 10), l2: Some(8 << 10), llc: None };
        let found = Reckoned::of(&tiny, &edges(edge(1800, 2300, 3000)));
        assert_eq!(found.levels.l1d, Some(30 << 10));
        assert_eq!(found.levels.l2, Some(400 << 10));
        assert_eq!(found.warnings.len(), 3, "{:?}", found.warnings);
        assert!(found.warnings[2].contains("told as none"), "{:?}", found.warnings);
    }

    #[test]
    fn a_level_that_is_not_felt_is_none() {
        let found = Reckoned::of(&TOLD, &edges(Found::Absent));
        assert_eq!(found.levels.llc, None);
        assert!(found.warnings[0].contains("there is none"), "{:?}", found.warnings);
        let flat = Levels { llc: None, ..TOLD };
        assert_eq!(Reckoned::of(&flat, &edges(Found::Absent)), Reckoned::told(flat));
    }

    #[test]
    fn what_is_unclear_is_taken_as_told_and_said() {
        let found = Reckoned::of(&TOLD, &Edges::default());
        assert_eq!(found.levels, TOLD);
        assert_eq!(found.warnings.len(), 3);
        assert!(found.warnings[1].contains("L2 could not be measured: 512k"));
        // Levels that stand on their heads are nobody's.
        let found = Reckoned::of(&TOLD, &Edges { l2: edge(8, 10, 12), ..edges(Found::Unclear) });
        assert_eq!(found.levels, TOLD);
        assert!(found.warnings.last().unwrap().contains("do not fit together"));
    }
}
