//! What a search found.

use crate::stats::Verdict;
use crate::subject::{Cell, Contract, Extent, Op, Variant};
use crate::trial::Failure;
use crate::units::words;

words! {
    /// Why a cell's measuring stopped.
    Stop {
        /// Its share of the budget was used.
        Budget = "budget",
        /// More samples would change nothing.
        Converged = "converged",
        /// Every candidate was measured as often as the strategy wants.
        Exhausted = "exhausted",
        /// The user interrupted.
        Interrupted = "interrupted",
    }
}

/// A variant with its time in a cell.
#[derive(Clone, Debug, PartialEq)]
pub struct Timed {
    /// Which one.
    pub variant: Variant,
    /// Nanoseconds a call, the call itself included.
    pub ns: f64,
    /// 95 % interval of the same.
    pub ci: (f64, f64),
    /// Bytes of the op a core cycle.
    pub bytes_per_cycle: f64,
    /// Length of the function.
    pub code_bytes: u32,
}

/// A finalist against the cell's best.
#[derive(Clone, Debug, PartialEq)]
pub struct Standing {
    /// The finalist and its time.
    pub timed: Timed,
    /// Its time over the best's, paired.
    pub ratio_to_best: f64,
    /// 95 % interval of the same.
    pub ratio_ci: (f64, f64),
    /// Verdict of the finalist against the best.
    pub verdict: Verdict,
    /// Which of the axes make it non-temporal.
    pub non_temporal: bool,
}

/// A baseline against the winner.
#[derive(Clone, Debug, PartialEq)]
pub struct BaselineOutcome {
    /// `libc`, `rep`, …
    pub name: String,
    /// Times and verdict of the baseline, or why there are none.
    pub result: Result<BaselineTimes, Failure>,
}

/// Times of a baseline.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BaselineTimes {
    /// Nanoseconds a call.
    pub ns: f64,
    /// 95 % interval of the same.
    pub ci: (f64, f64),
    /// Baseline time over winner time: above 1, the winner is faster.
    pub ratio: f64,
    /// 95 % interval of the same.
    pub ratio_ci: (f64, f64),
    /// Verdict of the baseline against the winner.
    pub verdict: Verdict,
}

/// Candidates without a time, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Excluded {
    /// This host cannot run them.
    pub unsupported: u64,
    /// Verification found them wrong.
    pub incorrect: u64,
    /// They died of a signal.
    pub crashed: u64,
    /// They passed the deadline.
    pub hung: u64,
}

/// What was found in one cell.
#[derive(Clone, Debug, PartialEq)]
pub struct CellOutcome {
    /// The question.
    pub cell: Cell,
    /// Distinct candidates timed.
    pub trials: u64,
    /// Samples of them and of the baselines.
    pub samples: u64,
    /// Why it ended.
    pub stop: Stop,
    /// The pick among the ties; `None` where nothing could be timed.
    pub winner: Option<Timed>,
    /// The other finalists tied with or undecided against the best, by speed.
    pub ties: Vec<Variant>,
    /// All finalists, by speed.
    pub standings: Vec<Standing>,
    /// Baselines against the winner.
    pub baselines: Vec<BaselineOutcome>,
    /// Candidates without a time.
    pub excluded: Excluded,
    /// Core cycles a nanosecond, measured during the final race.
    pub cycles_per_ns: f64,
    /// What a call of an empty function takes, nanoseconds: part of all times, and the least
    /// that any can be.
    pub driver_ns: f64,
}

/// The regret of a loop in a cell: its time over the cell's best time, minus one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RegretRow {
    /// Which cell.
    pub cell: Cell,
    /// Regret: 0 is the best.
    pub regret: f64,
    /// 95 % interval of the same.
    pub ci: (f64, f64),
}

/// A loop with its regrets over the cells of a size.
#[derive(Clone, Debug, PartialEq)]
pub struct Robust {
    /// Which one.
    pub variant: Variant,
    /// Its largest regret.
    pub max_regret: f64,
    /// Its regret in each cell.
    pub by_cell: Vec<RegretRow>,
}

/// What was found for one size, or for one mix of sizes.
#[derive(Clone, Debug, PartialEq)]
pub struct SizeOutcome {
    /// How many bytes calls have.
    pub extent: Extent,
    /// One outcome a cell.
    pub cells: Vec<CellOutcome>,
    /// States that do not exist for this size here, with the reason.
    pub absent: Vec<(String, String)>,
    /// The least regret.
    pub robust: Option<Robust>,
    /// The least regret among loops without non-temporal stores.
    pub best_plain: Option<Robust>,
    /// The least regret among loops with them.
    pub best_nt: Option<Robust>,
    /// The least regret among loops that keep the kernel's contract.
    pub best_kernel: Option<Robust>,
}

impl SizeOutcome {
    /// Nothing found.
    pub fn empty(extent: Extent) -> SizeOutcome {
        SizeOutcome {
            extent,
            cells: Vec::new(),
            absent: Vec::new(),
            robust: None,
            best_plain: None,
            best_nt: None,
            best_kernel: None,
        }
    }

    /// The loops for all states of the size, by the word that files and pages call each.
    pub fn choices(&self) -> [(&'static str, Option<&Robust>); 4] {
        [
            ("robust", self.robust.as_ref()),
            ("best_plain", self.best_plain.as_ref()),
            ("best_nt", self.best_nt.as_ref()),
            ("best_kernel", self.best_kernel.as_ref()),
        ]
    }
}

/// What a search found.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchOutcome {
    /// The op.
    pub op: Op,
    /// What every loop of it promises.
    pub contract: Contract,
    /// Seed of everything drawn.
    pub seed: u64,
    /// Wall time of the search.
    pub seconds: f64,
    /// One outcome a size.
    pub sizes: Vec<SizeOutcome>,
    /// What a reader must be told: conditions, edges of swept ranges, lost workers.
    pub warnings: Vec<String>,
}
