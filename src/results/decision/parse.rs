//! Rows of one run back to what it found.

use super::super::wire::{CellText, DecisionRow, MixText, word};
use super::kind;
use crate::search::{
    BaselineOutcome, BaselineTimes, CellOutcome, Excluded, RegretRow, Robust, SearchOutcome,
    SizeOutcome, Standing, Stop, Timed,
};
use crate::stats::Verdict;
use crate::subject::{Cell, Contract, Extent, Op, Placement, Variant};
use crate::trial::Failure;
use crate::units::Picos;

/// The detail of a non-temporal finalist.
pub(super) const NON_TEMPORAL: &str = "non-temporal";

/// What the rows of a finished run say; `None` where the run was no search.
///
/// # Errors
/// Names the row's kind and what it lacks.
pub(super) fn outcome(rows: &[DecisionRow]) -> Result<Option<SearchOutcome>, String> {
    let Some(last) = rows.last().filter(|row| !row.op.is_empty()) else {
        return Ok(None);
    };
    let mut found = SearchOutcome {
        op: word("op", &last.op, Op::from_word)?,
        contract: Contract::User,
        seed: need(last, last.seed, "seed")?,
        seconds: need(last, last.seconds, "seconds")?,
        sizes: Vec::new(),
        warnings: Vec::new(),
    };
    for row in rows {
        if row.kind == kind::CONTRACT {
            found.contract = word("contract", &row.detail, Contract::from_word)?;
        } else if row.kind == kind::WARNING {
            found.warnings.push(row.detail.clone());
        } else if let Some(size) = row.size_bytes {
            let extent = Extent { mix: mix_text(row).mix()?, size };
            read_row(row, size_of(&mut found, extent))?;
        }
    }
    Ok(Some(found))
}

/// The outcome of a size or a mix; a new one where it is the first of it.
fn size_of(found: &mut SearchOutcome, extent: Extent) -> &mut SizeOutcome {
    let at = found.sizes.iter().position(|s| s.extent == extent).unwrap_or_else(|| {
        found.sizes.push(SizeOutcome::empty(extent));
        found.sizes.len() - 1
    });
    &mut found.sizes[at]
}

/// Adds one row to its size. Kinds of later versions are passed over.
fn read_row(row: &DecisionRow, size: &mut SizeOutcome) -> Result<(), String> {
    match row.kind.as_str() {
        kind::CELL => size.cells.push(cell_outcome(row)?),
        kind::WINNER => {
            let winner = timed(row)?;
            in_cell(row, size)?.winner = Some(winner);
        }
        kind::TIE | kind::FINALIST => {
            if row.kind == kind::TIE {
                let tie = variant(row)?;
                in_cell(row, size)?.ties.push(tie);
            }
            if row.median_ps.is_some() {
                let standing = standing(row)?;
                in_cell(row, size)?.standings.push(standing);
            }
        }
        kind::BASELINE => {
            let baseline = baseline(row)?;
            in_cell(row, size)?.baselines.push(baseline);
        }
        kind::ROBUST => regret(row, &mut size.robust)?,
        kind::BEST_PLAIN => regret(row, &mut size.best_plain)?,
        kind::BEST_NT => regret(row, &mut size.best_nt)?,
        kind::BEST_KERNEL => regret(row, &mut size.best_kernel)?,
        kind::ABSENT => size.absent.push((row.state.clone(), row.detail.clone())),
        _ => {}
    }
    Ok(())
}

fn in_cell<'a>(
    row: &DecisionRow,
    size: &'a mut SizeOutcome,
) -> Result<&'a mut CellOutcome, String> {
    let cell = cell(row)?;
    size.cells
        .iter_mut()
        .find(|c| c.cell == cell)
        .ok_or_else(|| format!("a {} row stands before the row of its cell, {cell}", row.kind))
}

fn need<T>(row: &DecisionRow, value: Option<T>, column: &str) -> Result<T, String> {
    value.ok_or_else(|| format!("a {} row lacks {column}", row.kind))
}

fn mix_text(row: &DecisionRow) -> MixText<'_> {
    let (name, digest) = (row.mix.as_deref(), row.mix_digest.as_deref());
    MixText { name, digest, mean: row.mean_bytes }
}

fn cell(row: &DecisionRow) -> Result<Cell, String> {
    CellText {
        op: &row.op,
        mix: mix_text(row),
        size: need(row, row.size_bytes, "size_bytes")?,
        state: &row.state,
        drive: &row.drive,
        placement: Placement {
            dst: need(row, row.dst_mod64_bytes, "dst_mod64_bytes")?,
            src: need(row, row.src_mod64_bytes, "src_mod64_bytes")?,
            delta: row.delta_mod4096_bytes,
        },
        pages: &row.pages,
        consumer: &row.consumer,
        source: row.source.as_deref(),
        threads: row.threads,
    }
    .cell()
}

fn variant(row: &DecisionRow) -> Result<Variant, String> {
    row.subject.parse::<Variant>().map_err(|e| e.to_string())
}

fn interval(
    row: &DecisionRow,
    low: Option<f64>,
    high: Option<f64>,
    column: &str,
) -> Result<(f64, f64), String> {
    Ok((need(row, low, column)?, need(row, high, column)?))
}

/// Median and interval, nanoseconds.
fn times(row: &DecisionRow) -> Result<(f64, (f64, f64)), String> {
    let ns = |ps: Option<u64>| ps.map(|ps| Picos(ps).ns());
    let ci = interval(row, ns(row.ci_low_ps), ns(row.ci_high_ps), "ci_low_ps or ci_high_ps")?;
    Ok((need(row, ns(row.median_ps), "median_ps")?, ci))
}

fn ratio(row: &DecisionRow) -> Result<(f64, (f64, f64)), String> {
    let ci = interval(row, row.ratio_ci_low, row.ratio_ci_high, "the interval of its ratio")?;
    Ok((need(row, row.ratio, "ratio")?, ci))
}

fn timed(row: &DecisionRow) -> Result<Timed, String> {
    let (ns, ci) = times(row)?;
    Ok(Timed {
        variant: variant(row)?,
        ns,
        ci,
        bytes_per_cycle: need(row, row.bytes_per_cycle, "bytes_per_cycle")?,
        code_bytes: need(row, row.code_bytes, "code_bytes")?,
    })
}

fn cell_outcome(row: &DecisionRow) -> Result<CellOutcome, String> {
    Ok(CellOutcome {
        cell: cell(row)?,
        trials: need(row, row.trials, "trials")?,
        samples: need(row, row.samples, "samples")?,
        stop: word("reason to stop", &row.stop, Stop::from_word)?,
        winner: None,
        ties: Vec::new(),
        standings: Vec::new(),
        baselines: Vec::new(),
        excluded: Excluded {
            unsupported: row.unsupported.unwrap_or(0),
            incorrect: row.incorrect.unwrap_or(0),
            crashed: row.crashed.unwrap_or(0),
            hung: row.hung.unwrap_or(0),
        },
        cycles_per_ns: need(row, row.cycles_per_ns, "cycles_per_ns")?,
        // Older files have no such column.
        driver_ns: row.driver_ns.unwrap_or(0.0),
    })
}

fn standing(row: &DecisionRow) -> Result<Standing, String> {
    let (ratio_to_best, ratio_ci) = ratio(row)?;
    Ok(Standing {
        timed: timed(row)?,
        ratio_to_best,
        ratio_ci,
        verdict: word("verdict", &row.verdict, Verdict::from_word)?,
        non_temporal: row.detail == NON_TEMPORAL,
    })
}

fn baseline(row: &DecisionRow) -> Result<BaselineOutcome, String> {
    let result = match Verdict::from_word(&row.verdict) {
        Some(verdict) => {
            let (ns, ci) = times(row)?;
            let (ratio, ratio_ci) = ratio(row)?;
            Ok(BaselineTimes { ns, ci, ratio, ratio_ci, verdict })
        }
        None => {
            let failure: Failure = serde_json::from_str(&row.detail)
                .map_err(|e| format!("the failure of baseline {}: {e}", row.subject))?;
            Err(failure)
        }
    };
    Ok(BaselineOutcome { name: row.subject.clone(), result })
}

/// Adds a row to a loop's regrets: the first, without a state, is its headline.
fn regret(row: &DecisionRow, into: &mut Option<Robust>) -> Result<(), String> {
    let regret = need(row, row.regret, "regret")?;
    if row.state.is_empty() {
        *into = Some(Robust { variant: variant(row)?, max_regret: regret, by_cell: Vec::new() });
        return Ok(());
    }
    let ci = interval(row, row.regret_ci_low, row.regret_ci_high, "the interval of its regret")?;
    let cell = cell(row)?;
    into.as_mut()
        .ok_or_else(|| format!("a {} row of {cell} stands before the headline", row.kind))?
        .by_cell
        .push(RegretRow { cell, regret, ci });
    Ok(())
}
