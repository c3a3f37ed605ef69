//! Whether a search was made in a loud moment, by its own intervals. Pure, and free.

use super::noise::wanted;
use crate::search::{CellOutcome, SizeOutcome};
use crate::stats::median;
use crate::subject::Cell;
use crate::trial::Company;

/// Half the width of an interval, times this, is the difference that 95 of 100 such intervals
/// would see: 1.96 standard errors are the half width, and 1.64 more let 95 % of them lie
/// beyond it.
const SEEN: f64 = (1.959_964 + 1.644_854) / 1.959_964;

/// Time that others took of the CPUs, as a part, from which it is worth a word.
const STOLEN: f64 = 0.02;

/// How loud it was.
#[derive(Clone, Debug, PartialEq)]
pub struct Loudness {
    /// States whose final could not see the differences that it should, each with what it could
    /// see, as a fraction.
    pub cells: Vec<(Cell, f64)>,
    /// Part of the CPUs' time that others took, where it was much.
    pub steal: Option<f64>,
    /// Who else was on the core.
    pub company: Company,
}

/// How loud a search was; `None` where it was quiet. `steal`: part of the CPUs' time that
/// others took meanwhile, where the system tells.
pub fn loudness(sizes: &[SizeOutcome], steal: Option<f64>, company: Company) -> Option<Loudness> {
    let cells = sizes.iter().flat_map(|s| &s.cells);
    let loud = cells.filter_map(|c| Some((c.cell, seen(c)?)));
    let cells: Vec<(Cell, f64)> = loud.filter(|(cell, seen)| *seen > wanted(cell)).collect();
    let steal = steal.filter(|s| *s >= STOLEN);
    let quiet = cells.is_empty() && steal.is_none() && company.to_string().is_empty();
    (!quiet).then_some(Loudness { cells, steal, company })
}

/// The difference that the final of a cell could see, by the intervals of its finalists.
fn seen(outcome: &CellOutcome) -> Option<f64> {
    let half = |(low, high): (f64, f64)| (high / low).ln() / 2.0;
    let halves = outcome.standings.iter().map(|s| half(s.ratio_ci));
    // The best against itself has none.
    let mut halves: Vec<f64> = halves.filter(|h| h.is_finite() && *h > 0.0).collect();
    (!halves.is_empty()).then(|| (median(&mut halves) * SEEN).exp_m1())
}

impl std::fmt::Display for Loudness {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut clauses = Vec::new();
        if !self.cells.is_empty() {
            let cell = |(cell, x): &(Cell, f64)| format!("above {:.1} % in {cell}", x * 100.0);
            let cells: Vec<String> = self.cells.iter().map(cell).collect();
            clauses.push(format!("differences can be believed only {}", cells.join(", ")));
        }
        if let Some(steal) = self.steal {
            clauses.push(format!("{:.0} % of the CPUs' time went to others", steal * 100.0));
        }
        clauses.extend(Some(self.company.to_string()).filter(|c| !c.is_empty()));
        let said = clauses.join("; ");
        write!(f, "loud for what was asked: {said} (`looptune selftest` says more)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::{Standing, Stop, Timed};
    use crate::stats::Verdict;
    use crate::subject::{Drive, Extent, Level, Op, State};

    fn size(halves: &[f64]) -> SizeOutcome {
        let standing = |half: &f64| Standing {
            timed: Timed {
                variant: "zero/ymm/u4".parse().unwrap(),
                ns: 20.0,
                ci: (19.9, 20.1),
                bytes_per_cycle: 60.0,
                code_bytes: 100,
            },
            ratio_to_best: 1.05,
            ratio_ci: (1.05 * (-half).exp(), 1.05 * half.exp()),
            verdict: Verdict::Slower,
            non_temporal: false,
        };
        let cell = CellOutcome {
            cell: Cell::new(Op::Zero, 4096, State::both(Level::L1), Drive::Throughput),
            trials: 1,
            samples: 1,
            stop: Stop::Budget,
            winner: None,
            ties: Vec::new(),
            standings: halves.iter().map(standing).collect(),
            baselines: Vec::new(),
            excluded: Default::default(),
            cycles_per_ns: 3.0,
            driver_ns: 1.0,
        };
        SizeOutcome {
            extent: Extent::fixed(4096),
            cells: vec![cell],
            absent: Vec::new(),
            robust: None,
            best_plain: None,
            best_nt: None,
            best_kernel: None,
        }
    }

    #[test]
    fn a_quiet_search_says_nothing_and_a_loud_one_how_loud() {
        let alone = Company::default();
        assert_eq!(loudness(&[size(&[0.0, 0.002, 0.003, 0.2])], Some(0.001), alone), None);
        assert_eq!(loudness(&[size(&[])], None, alone), None);
        let loud = loudness(&[size(&[0.0, 0.02, 0.03, 0.02])], None, alone).unwrap();
        assert!((loud.cells[0].1 - 0.0375).abs() < 0.001, "{loud:?}");
        assert!(loud.to_string().contains("only above 3.7 % in zero 4k l1"), "{loud}");
        let stolen = loudness(&[size(&[0.0, 0.001])], Some(0.1), alone).unwrap();
        assert!(stolen.to_string().contains("asked: 10 % of the CPUs' time"), "{stolen}");
    }
}
