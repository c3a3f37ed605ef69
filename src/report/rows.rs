//! The report as a table for programs: a row for each op, size, state, drive and subject.

use serde::Serialize;

use super::document::limit;
use super::gather::HostResults;
use crate::search::{Attribution, CellOutcome, Compared, Placed, SizeOutcome};
use crate::subject::{Cell, Variant};

/// Columns carry their unit; empty fields are not known or do not apply.
#[derive(Debug, Default, Serialize)]
struct Row<'a> {
    host_key: &'a str,
    run: &'a str,
    op: String,
    size_bytes: u64,
    /// Name of the mix of sizes, whose largest `size_bytes` is; empty for one size.
    mix: String,
    /// Bytes a call in the mean.
    mean_bytes: f64,
    state: String,
    drive: String,
    subject: String,
    /// `finalist` or `baseline`; `axis`, `skew`, `without`, `placebo` or `object` of what explains
    /// the winner; `placement` of a loop at a placement.
    role: &'static str,
    median_ns: Option<f64>,
    ci_low_ns: Option<f64>,
    ci_high_ns: Option<f64>,
    bytes_per_cycle: Option<f64>,
    /// Part of what the ports allow.
    limit_share: Option<f64>,
    /// Time over the time of the fastest, of a finalist.
    ratio_to_best: Option<f64>,
    ratio_to_best_ci_low: Option<f64>,
    ratio_to_best_ci_high: Option<f64>,
    /// Time over the time of the winner, of a baseline.
    ratio_to_winner: Option<f64>,
    ratio_to_winner_ci_low: Option<f64>,
    ratio_to_winner_ci_high: Option<f64>,
    verdict: String,
    code_bytes: Option<u32>,
    is_winner: bool,
    is_tie: bool,
    is_robust: bool,
    is_best_plain: bool,
    is_best_nt: bool,
    is_best_kernel: bool,
    /// Its largest regret over the states, of the loops for all states.
    max_regret: Option<f64>,
    /// Why there are no times.
    failure: String,
    /// Under which conditions.
    placement: String,
    pages: String,
    consumer: String,
    source: String,
    threads: u16,
    /// Of a row that explains the winner: which axis (or `skew`) was moved, and to what.
    axis: String,
    value: String,
}

/// The table.
///
/// # Errors
/// Where a row cannot be written, which a string does not refuse.
pub(super) fn rows(hosts: &[HostResults]) -> Result<String, csv::Error> {
    let mut out = csv::Writer::from_writer(Vec::new());
    let mut any = false;
    for host in hosts {
        for op in &host.ops {
            let most = limit(host, op.op).map(|l| l.bytes_per_cycle);
            for decided in std::iter::once(&op.decided).chain(&op.others) {
                for (size, run) in decided.outcome.sizes.iter().zip(&decided.runs) {
                    let of_cell = |cell| of_cell(&host.key, run, size, cell, most);
                    for row in size.cells.iter().flat_map(of_cell) {
                        out.serialize(row)?;
                        any = true;
                    }
                }
            }
            let explained = op.attributions.iter().flat_map(|(run, a)| winner(&host.key, run, a));
            let placed = op.placed.iter().flat_map(|(run, p)| places(&host.key, run, p));
            for row in explained.chain(placed) {
                out.serialize(row)?;
                any = true;
            }
        }
    }
    if !any {
        // The head is written with the first row only.
        out.serialize(Row::default())?;
    }
    let text = out.into_inner().map_err(|e| csv::Error::from(e.into_error()))?;
    let text = String::from_utf8_lossy(&text).into_owned();
    match any {
        true => Ok(text),
        false => Ok(text.lines().take(1).map(|head| format!("{head}\n")).collect()),
    }
}

/// A number that a table can hold.
fn finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}

/// A row of a cell that says nothing yet.
fn of<'a>(key: &'a str, run: &'a str, cell: &Cell) -> Row<'a> {
    let conditions = &cell.conditions;
    Row {
        host_key: key,
        run,
        op: cell.op.to_string(),
        size_bytes: cell.size,
        mix: cell.mix.map_or(String::new(), |m| m.name().to_string()),
        mean_bytes: cell.extent().mean(),
        state: cell.state.to_string(),
        drive: cell.drive.to_string(),
        placement: conditions.placement.to_string(),
        pages: conditions.pages.to_string(),
        consumer: conditions.consumer.to_string(),
        source: conditions.source.to_string(),
        threads: conditions.threads,
        ..Row::default()
    }
}

/// What explains a winner.
fn winner<'a>(key: &'a str, run: &'a str, found: &Attribution) -> Vec<Row<'a>> {
    let row = |role: &'static str, subject: String, compared: &Compared| Row {
        role,
        subject,
        ratio_to_winner: finite(compared.ratio),
        ratio_to_winner_ci_low: finite(compared.ratio_ci.0),
        ratio_to_winner_ci_high: finite(compared.ratio_ci.1),
        verdict: compared.verdict.to_string(),
        ..of(key, run, &found.cell)
    };
    let mut rows = Vec::new();
    for point in found.skew.iter().flat_map(|curve| &curve.points) {
        let moved = row("skew", found.winner.to_string(), &point.compared);
        rows.push(Row { axis: "skew".into(), value: point.skew.to_string(), ..moved });
    }
    for one in &found.axes {
        let moved = row("axis", one.variant.to_string(), &one.compared);
        rows.push(Row { axis: one.axis.clone(), value: one.value.clone(), ..moved });
    }
    for placebo in &found.placebos {
        for (role, loop_) in [("without", &placebo.without), ("placebo", &placebo.placebo)] {
            if let Ok((variant, compared)) = loop_ {
                let moved = row(role, variant.to_string(), compared);
                let (axis, value) = (placebo.suspect.to_string(), placebo.credit.to_string());
                rows.push(Row { axis, value, ..moved });
            }
        }
    }
    if let Some(Ok(object)) = &found.object {
        rows.push(row("object", found.winner.to_string(), &object.compared));
    }
    rows
}

/// Loops at placements.
fn places<'a>(key: &'a str, run: &'a str, found: &Placed) -> Vec<Row<'a>> {
    let mut rows = Vec::new();
    for placed in &found.rows {
        for point in placed.result.iter().flat_map(|times| &times.points) {
            let mut cell = found.cell;
            cell.conditions.placement = point.placement;
            rows.push(Row {
                subject: placed.subject.to_string(),
                role: "placement",
                median_ns: finite(point.ns),
                ci_low_ns: finite(point.ci.0),
                ci_high_ns: finite(point.ci.1),
                ..of(key, run, &cell)
            });
        }
    }
    rows
}

fn of_cell<'a>(
    key: &'a str,
    run: &'a str,
    size: &SizeOutcome,
    found: &CellOutcome,
    limit: Option<f64>,
) -> Vec<Row<'a>> {
    let cell = &found.cell;
    let blank = || of(key, run, cell);
    let winner = found.winner.as_ref().map(|w| w.variant);
    let chosen = |variant: Variant| {
        size.choices().map(|(_, c)| c.filter(|c| c.variant == variant).map(|c| c.max_regret))
    };
    let mut rows = Vec::new();
    for standing in &found.standings {
        let timed = &standing.timed;
        let [robust, plain, nt, kernel] = chosen(timed.variant);
        rows.push(Row {
            subject: timed.variant.to_string(),
            role: "finalist",
            median_ns: finite(timed.ns),
            ci_low_ns: finite(timed.ci.0),
            ci_high_ns: finite(timed.ci.1),
            bytes_per_cycle: finite(timed.bytes_per_cycle),
            limit_share: limit.and_then(|l| finite(timed.bytes_per_cycle / l)),
            ratio_to_best: finite(standing.ratio_to_best),
            ratio_to_best_ci_low: finite(standing.ratio_ci.0),
            ratio_to_best_ci_high: finite(standing.ratio_ci.1),
            verdict: standing.verdict.to_string(),
            code_bytes: Some(timed.code_bytes),
            is_winner: winner == Some(timed.variant),
            is_tie: found.ties.contains(&timed.variant),
            is_robust: robust.is_some(),
            is_best_plain: plain.is_some(),
            is_best_nt: nt.is_some(),
            is_best_kernel: kernel.is_some(),
            max_regret: robust.or(plain).or(nt).or(kernel).and_then(finite),
            ..blank()
        });
    }
    for baseline in &found.baselines {
        let row = Row { subject: baseline.name.clone(), role: "baseline", ..blank() };
        rows.push(match &baseline.result {
            Err(failure) => {
                Row { verdict: failure.kind.word().into(), failure: failure.to_string(), ..row }
            }
            Ok(times) => {
                let figure = cell.extent().mean() / (times.ns * found.cycles_per_ns);
                Row {
                    median_ns: finite(times.ns),
                    ci_low_ns: finite(times.ci.0),
                    ci_high_ns: finite(times.ci.1),
                    bytes_per_cycle: finite(figure),
                    limit_share: limit.and_then(|l| finite(figure / l)),
                    ratio_to_winner: finite(times.ratio),
                    ratio_to_winner_ci_low: finite(times.ratio_ci.0),
                    ratio_to_winner_ci_high: finite(times.ratio_ci.1),
                    verdict: times.verdict.to_string(),
                    ..row
                }
            }
        });
    }
    rows
}
