//! From the samples of a final to winner, ties and the choice of least regret.

use rand_chacha::ChaCha8Rng;

use super::candidate::Candidate;
use super::outcome::{
    BaselineOutcome, BaselineTimes, CellOutcome, RegretRow, Robust, Standing, Timed,
};
use super::panel::Panel;
use super::plan::band;
use crate::space::features_of;
use crate::stats::{Interval, Regret, Verdict, holm_rejects, is_as_good, least_regrets};
use crate::subject::{Cell, Class, Subject, Variant};
use crate::trial::Role;

/// Chance of one false "slower" among all rivals of a cell.
pub(super) const ALPHA: f64 = 0.05;

/// Bootstrap replicates of intervals that nothing is decided by.
const SHOWN_RESAMPLES: usize = 200;

/// Index of the fastest of the first `count` entrants, against the panel's references.
fn fastest(panel: &Panel, count: usize) -> Option<usize> {
    let references = panel.references();
    let location = |i: usize| {
        if references.is_empty() {
            panel.nanoseconds(i).location()
        } else {
            panel.against(i, &references).location()
        }
    };
    (0..count)
        .filter(|i| panel.failures[*i].is_none())
        .map(|i| (i, location(i)))
        .filter(|(_, l)| l.is_finite())
        .min_by(|a, b| a.1.total_cmp(&b.1))
        .map(|(i, _)| i)
}

/// Regret of each of the first `count` entrants against the fastest of them, without
/// intervals. `None` for those without times.
pub(super) fn regrets(panel: &Panel, count: usize) -> Vec<Option<f64>> {
    let Some(best) = fastest(panel, count) else { return vec![None; count] };
    let regret = |i: usize| panel.against(i, &[best]).location().exp_m1().max(0.0);
    (0..count).map(|i| Some(regret(i)).filter(|r| r.is_finite())).collect()
}

/// Net nanoseconds a call with interval, and bytes a cycle.
fn timed(panel: &Panel, index: usize, candidate: &Candidate, rng: &mut ChaCha8Rng) -> Timed {
    // Shown, not judged by: few replicates do.
    let ns = panel.nanoseconds(index).interval_of(SHOWN_RESAMPLES, rng).exp();
    Timed {
        variant: candidate.variant,
        ns: ns.estimate,
        ci: ns.ends(),
        bytes_per_cycle: panel.bytes_per_cycle(ns.estimate),
        code_bytes: candidate.code_bytes,
    }
}

/// Finalists of a panel (its first entrants, in the order of `field`) against the best of
/// them, by speed.
pub(super) fn standings(
    panel: &Panel,
    field: &[usize],
    candidates: &[Candidate],
    rng: &mut ChaCha8Rng,
) -> Vec<Standing> {
    let Some(best) = fastest(panel, field.len()) else { return Vec::new() };
    let band = band(&panel.cell);
    let mut rows: Vec<(usize, Interval, Verdict)> = Vec::new();
    for i in (0..field.len()).filter(|i| panel.failures[*i].is_none()) {
        if i == best {
            let one = Interval { estimate: 1.0, low: 1.0, high: 1.0, p: 1.0 };
            rows.push((i, one, Verdict::Reference));
            continue;
        }
        let ratio = panel.against(i, &[best]).interval(rng).exp();
        if ratio.estimate.is_finite() {
            rows.push((i, ratio, Verdict::of_time_ratio(ratio.ends(), band)));
        }
    }
    // Only verdicts that reject are many at once; each of them must survive Holm.
    let p: Vec<f64> = rows.iter().filter(|r| r.0 != best).map(|r| r.1.p).collect();
    let rejected = holm_rejects(&p, ALPHA);
    let rivals = rows.iter_mut().filter(|r| r.0 != best);
    for (row, rejected) in rivals.zip(rejected) {
        if matches!(row.2, Verdict::Slower | Verdict::Faster) && !rejected {
            row.2 = Verdict::Undecided;
        }
    }
    rows.sort_by(|a, b| a.1.estimate.total_cmp(&b.1.estimate));
    rows.into_iter()
        .map(|(i, ratio, verdict)| {
            let candidate = &candidates[field[i]];
            Standing {
                timed: timed(panel, i, candidate, rng),
                ratio_to_best: ratio.estimate,
                ratio_ci: ratio.ends(),
                verdict,
                non_temporal: candidate.variant.leaves_cache(),
            }
        })
        .collect()
}

/// Whether a standing counts as a tie: the data do not say that it is slower.
pub(super) fn is_tie(standing: &Standing) -> bool {
    standing.verdict != Verdict::Slower
}

/// What makes one of two equally fast loops the better: fewer code bytes, lower instruction
/// set, no prefetch, smaller id.
pub(super) fn simplicity(variant: &Variant, code_bytes: u32) -> impl Ord + use<> {
    let level = features_of(variant).iter().map(|f| f as u32).max();
    let class = Class::ALL.iter().position(|c| *c == variant.class);
    (code_bytes, level, class, variant.prefetch.is_some(), variant.to_string())
}

/// The pick among the ties: who won before, else the simplest.
pub(super) fn pick(standings: &[Standing], incumbent: Option<Variant>) -> Option<&Standing> {
    let ties = || standings.iter().filter(|s| is_tie(s));
    let simple = |s: &&Standing| simplicity(&s.timed.variant, s.timed.code_bytes);
    ties().find(|s| Some(s.timed.variant) == incumbent).or_else(|| ties().min_by_key(simple))
}

/// Which of a confirming panel's first two entrants is the winner: the pick, unless fresh data
/// say that it is slower than the final's fastest. Intervals of a noisy moment are wide, and
/// make a tie of what is none.
pub(super) fn confirmed(panel: &Panel, rng: &mut ChaCha8Rng) -> usize {
    let runs = |i: usize| panel.failures[i].is_none();
    if panel.entrants.get(1).is_none_or(|e| e.role == Role::Baseline) || !runs(1) {
        return 0;
    }
    let ratio = panel.against(0, &[1]).interval(rng).exp();
    let slower = Verdict::of_time_ratio(ratio.ends(), band(&panel.cell)) == Verdict::Slower;
    usize::from(slower || !runs(0))
}

/// Baselines of a confirming panel against the entrant that is the winner.
pub(super) fn baselines(
    panel: &Panel,
    winner: usize,
    rng: &mut ChaCha8Rng,
) -> Vec<BaselineOutcome> {
    let mut seen: Vec<&Subject> = Vec::new();
    let mut list = Vec::new();
    for (i, entrant) in panel.entrants.iter().enumerate() {
        if entrant.role != Role::Baseline || seen.contains(&&entrant.subject) {
            continue;
        }
        seen.push(&entrant.subject);
        let result = match &panel.failures[i] {
            Some(failure) => Err(failure.clone()),
            None => {
                let ns = panel.nanoseconds(i).interval(rng).exp();
                let ratio = panel.against(i, &[winner]).interval(rng).exp();
                Ok(BaselineTimes {
                    ns: ns.estimate,
                    ci: ns.ends(),
                    ratio: ratio.estimate,
                    ratio_ci: ratio.ends(),
                    verdict: Verdict::of_time_ratio(ratio.ends(), band(&panel.cell)),
                })
            }
        };
        list.push(BaselineOutcome { name: entrant.subject.to_string(), result });
    }
    list
}

/// Regrets of every finalist over the cells of a size.
pub(super) struct RegretTable {
    cells: Vec<Cell>,
    /// Each with the length of its code and a regret a cell.
    rows: Vec<(Variant, u32, Vec<Regret>)>,
}

impl RegretTable {
    /// From the standings of each cell.
    pub(super) fn new(cells: &[CellOutcome]) -> RegretTable {
        let mut table =
            RegretTable { cells: cells.iter().map(|c| c.cell).collect(), rows: Vec::new() };
        let Some(first) = cells.first() else { return table };
        for Timed { variant, code_bytes, .. } in first.standings.iter().map(|s| &s.timed) {
            // A loop that failed in one cell is nobody's choice for all of them.
            let row: Option<Vec<Regret>> = cells.iter().map(|c| regret_in(c, variant)).collect();
            table.rows.extend(row.map(|row| (*variant, *code_bytes, row)));
        }
        table
    }

    /// The choice of least regret among the variants that `wanted` admits; of those that
    /// regrets cannot tell apart the one that was chosen before, else the simplest.
    pub(super) fn choose(
        &self,
        weights: &[f64],
        incumbent: Option<Variant>,
        wanted: impl Fn(&Variant) -> bool,
    ) -> Option<Robust> {
        let admitted: Vec<&(Variant, u32, Vec<Regret>)> =
            self.rows.iter().filter(|(v, _, _)| wanted(v)).collect();
        let rows: Vec<Vec<Regret>> = admitted.iter().map(|(_, _, row)| row.clone()).collect();
        let equal = least_regrets(&rows, weights).into_iter().map(|i| admitted[i]);
        let simplest =
            equal.min_by_key(|(variant, code_bytes, _)| simplicity(variant, *code_bytes))?;
        let before = admitted.iter().find(|(variant, _, _)| Some(*variant) == incumbent);
        let before = before.filter(|(_, _, row)| is_as_good(row, &simplest.2, weights));
        let (variant, _, row) = before.unwrap_or(&simplest);
        Some(Robust {
            variant: *variant,
            max_regret: row.iter().map(|r| r.value).fold(0.0, f64::max),
            by_cell: self
                .cells
                .iter()
                .zip(row)
                .map(|(cell, r)| RegretRow { cell: *cell, regret: r.value, ci: (r.low, r.high) })
                .collect(),
        })
    }
}

fn regret_in(cell: &CellOutcome, variant: &Variant) -> Option<Regret> {
    let standing = cell.standings.iter().find(|s| s.timed.variant == *variant)?;
    let (low, high) = standing.ratio_ci;
    let regret = |ratio: f64| (ratio - 1.0).max(0.0);
    Some(Regret { value: regret(standing.ratio_to_best), low: regret(low), high: regret(high) })
}
