//! Placement sweeps: the same loops with their buffers at other addresses, so that no loop is
//! chosen for one lucky placement. Tells the median and the worst of each loop, and which of
//! the three coordinates its time hangs on.

mod effect;
mod sweep;

use crate::subject::{Cell, Op, Placement, Subject};
use crate::trial::Failure;

pub use effect::{Coordinate, Effect};
pub use sweep::{SweepJob, sweep};

/// Offsets of a pointer modulo 64 that loops are known to feel: none, the worst there is, and
/// half, a quarter and an eighth of a line.
const OFFSETS: [u8; 5] = [0, 1, 8, 16, 32];

/// The same and two more, close to the next line.
const MORE_OFFSETS: [u8; 7] = [0, 1, 8, 16, 32, 48, 63];

/// (dst − src) modulo 4096: equal, a line after and a line before, where stores and loads are
/// taken for each other.
const DELTAS: [u16; 3] = [0, 64, 4032];

/// The same and half a page.
const MORE_DELTAS: [u16; 4] = [0, 64, 2048, 4032];

/// Which placements are swept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sweep {
    /// Each coordinate alone, the others at their default.
    Quick,
    /// All of them crossed, and a few values more.
    Full,
    /// These.
    List(Vec<Placement>),
}

impl Sweep {
    /// Reads `quick`, `full` or placements separated by commas.
    ///
    /// # Errors
    /// What is wrong and what would be right, as a sentence.
    pub fn parse(text: &str) -> Result<Sweep, String> {
        match text {
            "quick" => Ok(Sweep::Quick),
            "full" => Ok(Sweep::Full),
            _ => {
                let mut list = Vec::new();
                for part in text.split(',') {
                    let placement = Placement::parse(part.trim())
                        .map_err(|e| format!("{e}; or quick, or full"))?;
                    if !list.contains(&placement) {
                        list.push(placement);
                    }
                }
                Ok(Sweep::List(list))
            }
        }
    }

    /// The one placement, where it is a list of one: there is nothing to be swept.
    pub fn single(&self) -> Option<Placement> {
        match self {
            Sweep::List(list) if list.len() == 1 => list.first().copied(),
            _ => None,
        }
    }

    /// The placements for an op; what has no source has neither an offset of it nor a
    /// distance.
    pub fn placements(&self, op: Op) -> Vec<Placement> {
        let aligned = Placement::ALIGNED;
        let all: Vec<Placement> = match self {
            Sweep::List(list) => list.clone(),
            Sweep::Quick => {
                let dst = OFFSETS.map(|dst| Placement { dst, ..aligned });
                let src = OFFSETS.map(|src| Placement { src, ..aligned });
                let delta = DELTAS.map(|delta| Placement { delta: Some(delta), ..aligned });
                dst.into_iter().chain(src).chain(delta).collect()
            }
            Sweep::Full => {
                let at =
                    |dst, src| MORE_DELTAS.map(|delta| Placement { dst, src, delta: Some(delta) });
                let of = |dst| MORE_OFFSETS.into_iter().flat_map(move |src| at(dst, src));
                MORE_OFFSETS.into_iter().flat_map(of).collect()
            }
        };
        let mut kept: Vec<Placement> = Vec::new();
        for mut placement in all {
            if !op.copies() {
                placement = Placement { dst: placement.dst, ..aligned };
            }
            if !kept.contains(&placement) {
                kept.push(placement);
            }
        }
        kept
    }
}

/// A loop's time at a placement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlacedPoint {
    /// Where the buffers lay.
    pub placement: Placement,
    /// Nanoseconds a call.
    pub ns: f64,
    /// 95 % interval of the same.
    pub ci: (f64, f64),
}

/// A loop over placements.
#[derive(Clone, Debug, PartialEq)]
pub struct PlacedTimes {
    /// Each placement, in the order of the sweep; at least one.
    pub points: Vec<PlacedPoint>,
    /// What each coordinate does by itself, those that were swept.
    pub effects: Vec<Effect>,
}

impl PlacedTimes {
    /// The median over placements, nanoseconds a call.
    pub fn median_ns(&self) -> f64 {
        crate::stats::median(&mut self.points.iter().map(|p| p.ns).collect::<Vec<_>>())
    }

    /// The placement with the longest time.
    pub fn worst(&self) -> Option<&PlacedPoint> {
        self.points.iter().max_by(|a, b| a.ns.total_cmp(&b.ns))
    }

    /// The coordinate that the time hangs on: that with the largest spread, of those whose
    /// interval says that there is one beyond `band`.
    pub fn hangs_on(&self, band: f64) -> Option<&Effect> {
        let told = self.effects.iter().filter(|e| e.ci.0 > 1.0 + band);
        told.max_by(|a, b| a.spread.total_cmp(&b.spread))
    }
}

/// A row of a sweep.
#[derive(Clone, Debug, PartialEq)]
pub struct PlacedRow {
    /// Who.
    pub subject: Subject,
    /// Times, or why there are none.
    pub result: Result<PlacedTimes, Failure>,
}

/// A sweep of a cell.
#[derive(Clone, Debug, PartialEq)]
pub struct Placed {
    /// The cell, with the default placement.
    pub cell: Cell,
    /// Who was placed.
    pub rows: Vec<PlacedRow>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sweeps_read_and_span_what_an_op_has() {
        let sweep = |text: &str| Sweep::parse(text).unwrap();
        assert_eq!(sweep("quick").placements(Op::Copy).len(), 1 + 4 + 4 + 3);
        assert_eq!(sweep("quick").placements(Op::Zero).len(), 5);
        assert_eq!(sweep("full").placements(Op::Copy).len(), 7 * 7 * 4);
        assert_eq!(sweep("full").placements(Op::Zero).len(), 7);
        assert_eq!(sweep("dst1,dst1/src8,dst1").placements(Op::Copy).len(), 2);
        assert_eq!(sweep("dst1,dst1/src8").placements(Op::Zero).len(), 1);
        assert_eq!(sweep("dst1").single().unwrap().dst, 1);
        assert_eq!(sweep("quick").single(), None);
        for bad in ["", "quik", "dst64", "dst1;src1"] {
            assert!(Sweep::parse(bad).unwrap_err().contains("quick"), "{bad}");
        }
    }
}
