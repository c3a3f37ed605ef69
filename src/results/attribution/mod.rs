//! Explanations of loops: why a winner wins, and what placements do to loops; as rows and back.
//!
//! Rows of one explanation stand together and end with a row of their own. Of a winner in a
//! cell: `note`s; the skew curve, as `skew_own` (the address of the winner's loop top modulo 64)
//! and a `skew` for each address, or as `skew_absent` with the reason; an `axis` for each value
//! tried and an `excluded` for each that cannot be; of each placebo run the rows `without`,
//! `placebo` and `bytes` (the former over the latter), then its `credit`; each `edge`; the
//! `object`, or `object_absent` with the reason; last `attributed`. Of a sweep of placements, for
//! each loop a `placement` for each (or one `placement_failed`) and an `effect` for each
//! coordinate; last `placed`.

use std::path::Path;

use super::error::ResultsError;
use super::table::{Read, one_line, read_table};
use super::wire::{AttributionRow, mix_columns};
use crate::search::{Attribution, Compared, Effect, Placebo, Placed};
use crate::subject::{Cell, Variant};
use crate::units::Picos;

mod parse;

/// Kinds of rows.
pub(super) mod kind {
    pub(in crate::results) const NOTE: &str = "note";
    pub(in crate::results) const SKEW_OWN: &str = "skew_own";
    pub(in crate::results) const SKEW: &str = "skew";
    pub(in crate::results) const SKEW_ABSENT: &str = "skew_absent";
    pub(in crate::results) const AXIS: &str = "axis";
    pub(in crate::results) const EXCLUDED: &str = "excluded";
    pub(in crate::results) const WITHOUT: &str = "without";
    pub(in crate::results) const PLACEBO: &str = "placebo";
    pub(in crate::results) const BYTES: &str = "bytes";
    pub(in crate::results) const CREDIT: &str = "credit";
    pub(in crate::results) const EDGE: &str = "edge";
    pub(in crate::results) const OBJECT: &str = "object";
    pub(in crate::results) const OBJECT_ABSENT: &str = "object_absent";
    pub(in crate::results) const ATTRIBUTED: &str = "attributed";
    pub(in crate::results) const PLACEMENT: &str = "placement";
    pub(in crate::results) const PLACEMENT_FAILED: &str = "placement_failed";
    pub(in crate::results) const EFFECT: &str = "effect";
    pub(in crate::results) const PLACED: &str = "placed";
}

/// The detail of a value that is its axis's default.
const DEFAULT: &str = "default";

/// What is explained.
#[derive(Clone, Debug, PartialEq)]
pub enum Explained {
    /// Why a loop wins.
    Winner(Box<Attribution>),
    /// What placements do to loops.
    Placement(Placed),
}

/// An explanation, as recorded.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedExplanation {
    /// Id of its run.
    pub run: String,
    /// What it says.
    pub explained: Explained,
}

/// Reads an `attributions.csv`, oldest first. An explanation without its last row is left out;
/// what is damaged is left out with a warning.
///
/// # Errors
/// Only where the file exists and cannot be read at all.
pub fn read_attributions(path: &Path) -> Result<Read<RecordedExplanation>, ResultsError> {
    let rows: Read<AttributionRow> = read_table(path, Ok)?;
    let mut read = Read { rows: Vec::new(), warnings: rows.warnings };
    let mut open: Vec<(String, Vec<AttributionRow>)> = Vec::new();
    for row in rows.rows {
        let at = open.iter().position(|(run, _)| *run == row.run).unwrap_or_else(|| {
            open.push((row.run.clone(), Vec::new()));
            open.len() - 1
        });
        let last = matches!(row.kind.as_str(), kind::ATTRIBUTED | kind::PLACED);
        open[at].1.push(row);
        if !last {
            continue;
        }
        let (run, rows) = open.remove(at);
        match parse::explained(&rows) {
            Ok(explained) => read.rows.push(RecordedExplanation { run, explained }),
            Err(why) => {
                let what = format!("an explanation of run {run} is left out: {why}");
                read.warnings.push(format!("{}: {what}", path.display()));
            }
        }
    }
    Ok(read)
}

fn at_cell(run: &str, kind: &str, cell: &Cell) -> AttributionRow {
    let (mix, mix_digest, mean_bytes) = mix_columns(cell.mix);
    AttributionRow {
        run: run.into(),
        kind: kind.into(),
        op: cell.op.to_string(),
        size_bytes: cell.size,
        state: cell.state.to_string(),
        drive: cell.drive.to_string(),
        dst_mod64_bytes: cell.conditions.placement.dst,
        src_mod64_bytes: cell.conditions.placement.src,
        delta_mod4096_bytes: cell.conditions.placement.delta,
        pages: cell.conditions.pages.to_string(),
        consumer: cell.conditions.consumer.to_string(),
        source: Some(cell.conditions.source.to_string()),
        threads: Some(cell.conditions.threads),
        mix,
        mix_digest,
        mean_bytes,
        ..AttributionRow::default()
    }
}

fn with_ratio(row: AttributionRow, compared: &Compared) -> AttributionRow {
    AttributionRow {
        ratio: Some(compared.ratio),
        ratio_ci_low: Some(compared.ratio_ci.0),
        ratio_ci_high: Some(compared.ratio_ci.1),
        verdict: compared.verdict.to_string(),
        ..row
    }
}

/// The rows of an attribution.
pub(super) fn attribution_rows(run: &str, found: &Attribution) -> Vec<AttributionRow> {
    let blank = |kind: &str| AttributionRow {
        winner: found.winner.to_string(),
        ..at_cell(run, kind, &found.cell)
    };
    let told =
        |kind: &str, detail: &str| AttributionRow { detail: one_line(detail), ..blank(kind) };
    let mut rows: Vec<AttributionRow> =
        found.notes.iter().map(|note| told(kind::NOTE, note)).collect();
    match &found.skew {
        Err(why) => rows.push(told(kind::SKEW_ABSENT, why)),
        Ok(curve) => {
            rows.push(AttributionRow { value: curve.own.to_string(), ..blank(kind::SKEW_OWN) });
            rows.extend(curve.points.iter().map(|point| {
                let row = AttributionRow { value: point.skew.to_string(), ..blank(kind::SKEW) };
                with_ratio(row, &point.compared)
            }));
        }
    }
    for row in &found.axes {
        let about = AttributionRow {
            axis: row.axis.clone(),
            own: row.own.clone(),
            value: row.value.clone(),
            subject: row.variant.to_string(),
            detail: if row.is_default { DEFAULT.into() } else { String::new() },
            ..blank(kind::AXIS)
        };
        rows.push(with_ratio(about, &row.compared));
    }
    for excluded in &found.excluded {
        rows.push(AttributionRow {
            axis: excluded.axis.clone(),
            value: excluded.value.clone(),
            ..told(kind::EXCLUDED, &excluded.why)
        });
    }
    for placebo in &found.placebos {
        placebo_rows(placebo, &blank, &mut rows);
    }
    for edge in &found.edges {
        rows.push(AttributionRow {
            axis: edge.axis.clone(),
            own: edge.what.clone(),
            value: edge.value.to_string(),
            ..told(kind::EDGE, edge.end())
        });
    }
    rows.extend(found.object.as_ref().map(|object| match object {
        Ok(row) => with_ratio(told(kind::OBJECT, &row.builder), &row.compared),
        Err(why) => told(kind::OBJECT_ABSENT, why),
    }));
    rows.push(blank(kind::ATTRIBUTED));
    rows
}

fn placebo_rows(
    placebo: &Placebo,
    blank: &dyn Fn(&str) -> AttributionRow,
    rows: &mut Vec<AttributionRow>,
) {
    let of = |kind| AttributionRow { axis: placebo.suspect.to_string(), ..blank(kind) };
    let measured = |kind, loop_: &Result<(Variant, Compared), String>| match loop_ {
        Ok((variant, compared)) => {
            with_ratio(AttributionRow { subject: variant.to_string(), ..of(kind) }, compared)
        }
        Err(why) => AttributionRow { detail: one_line(why), ..of(kind) },
    };
    rows.push(measured(kind::WITHOUT, &placebo.without));
    rows.push(measured(kind::PLACEBO, &placebo.placebo));
    rows.extend(placebo.bytes.iter().map(|bytes| with_ratio(of(kind::BYTES), bytes)));
    rows.push(AttributionRow { value: placebo.credit.to_string(), ..of(kind::CREDIT) });
}

/// The rows of a sweep.
pub(super) fn placed_rows(run: &str, found: &Placed) -> Vec<AttributionRow> {
    let ps = |ns| Some(Picos::from_ns(ns).0);
    let mut rows = Vec::new();
    for row in &found.rows {
        let of = |kind, cell: &Cell| AttributionRow {
            winner: one_line(&row.subject.to_string()),
            ..at_cell(run, kind, cell)
        };
        let times = match &row.result {
            Ok(times) => times,
            Err(failure) => {
                // Whole, as in decisions: a record must give back what it was given.
                let detail = serde_json::to_string(failure).unwrap_or_default();
                rows.push(AttributionRow { detail, ..of(kind::PLACEMENT_FAILED, &found.cell) });
                continue;
            }
        };
        for point in &times.points {
            let mut cell = found.cell;
            cell.conditions.placement = point.placement;
            rows.push(AttributionRow {
                median_ps: ps(point.ns),
                ci_low_ps: ps(point.ci.0),
                ci_high_ps: ps(point.ci.1),
                ..of(kind::PLACEMENT, &cell)
            });
        }
        rows.extend(times.effects.iter().map(|e| effect_row(e, of(kind::EFFECT, &found.cell))));
    }
    rows.push(at_cell(run, kind::PLACED, &found.cell));
    rows
}

fn effect_row(effect: &Effect, blank: AttributionRow) -> AttributionRow {
    let level = |level: Option<u16>| level.map_or(String::new(), |l| l.to_string());
    AttributionRow {
        axis: effect.coordinate.to_string(),
        own: level(effect.best),
        value: level(effect.worst),
        ratio: Some(effect.spread),
        ratio_ci_low: Some(effect.ci.0),
        ratio_ci_high: Some(effect.ci.1),
        ..blank
    }
}
