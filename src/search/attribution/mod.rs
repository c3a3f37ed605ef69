//! Why a loop wins: what its address, its prefetches and each of its axes are worth, measured
//! on data that had no part in choosing it.
//!
//! Every figure is a paired comparison with the winner in blocks of its own cell. Where many
//! rivals are compared at once, a verdict that tells two loops apart has survived Holm's
//! procedure over all of them.

mod axes;
mod edge;
mod placebo;
mod skew;
mod study;

use super::compare::Pair;
use crate::stats::Verdict;
use crate::subject::{Cell, Variant};

pub use axes::{AxisRow, ExcludedValue};
pub use edge::{Edge, edges, main_loop_matters};
pub use placebo::{Credit, Placebo, Suspect};
pub use skew::{SkewCurve, SkewPoint};
pub use study::{Study, attribute};

/// A loop against the winner, from the same blocks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Compared {
    /// Its time over the winner's: above 1, the winner is faster.
    pub ratio: f64,
    /// 95 % interval of the same.
    pub ratio_ci: (f64, f64),
    /// Verdict of it against the winner.
    pub verdict: Verdict,
}

impl Compared {
    /// Of a pair whose second is the winner.
    pub fn of(pair: &Pair) -> Compared {
        let (low, high) = pair.ratio_ci;
        Compared {
            ratio: 1.0 / pair.ratio,
            ratio_ci: (1.0 / high, 1.0 / low),
            verdict: pair.verdict,
        }
    }
}

/// All that is known of why a loop wins in a cell.
#[derive(Clone, Debug, PartialEq)]
pub struct Attribution {
    /// Where.
    pub cell: Cell,
    /// The loop.
    pub winner: Variant,
    /// The same loop at each address modulo 64, or why there is no such curve.
    pub skew: Result<SkewCurve, String>,
    /// What its prefetch and its touches are worth beyond their bytes; none where it has none.
    pub placebos: Vec<Placebo>,
    /// The same loop with one axis at another value.
    pub axes: Vec<AxisRow>,
    /// Values of axes that no loop here can have beside the winner's others, with the reason.
    pub excluded: Vec<ExcludedValue>,
    /// Where the winner sits on the edge of what was swept.
    pub edges: Vec<Edge>,
    /// The function of the assembled export against the code in memory; `None` where it was not
    /// asked for, else why there is none.
    pub object: Option<Result<ObjectRow, String>>,
    /// What a reader must know before all of it.
    pub notes: Vec<String>,
}

/// The assembled export against the code in memory.
#[derive(Clone, Debug, PartialEq)]
pub struct ObjectRow {
    /// Who assembled and linked it.
    pub builder: String,
    /// Its time against the winner's: a tie, or the export is not what was measured.
    pub compared: Compared,
}
