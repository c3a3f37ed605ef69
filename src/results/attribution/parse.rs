//! Rows of an explanation back to what they say.

use super::super::wire::{AttributionRow, word};
use super::{DEFAULT, Explained, kind};
use crate::search::{
    Attribution, AxisRow, Compared, Coordinate, Credit, Edge, Effect, ExcludedValue, ObjectRow,
    Placebo, Placed, PlacedPoint, PlacedRow, PlacedTimes, SkewCurve, SkewPoint, Suspect,
};
use crate::stats::Verdict;
use crate::subject::{Subject, Variant};
use crate::trial::Failure;
use crate::units::Picos;

/// What the rows of one explanation say; the last row says of what kind it is.
///
/// # Errors
/// Names the row's kind and what it lacks.
pub(super) fn explained(rows: &[AttributionRow]) -> Result<Explained, String> {
    match rows.last() {
        Some(last) if last.kind == kind::PLACED => placed(rows, last).map(Explained::Placement),
        Some(last) => attribution(rows, last).map(|a| Explained::Winner(Box::new(a))),
        None => Err("no rows".into()),
    }
}

fn need<T>(row: &AttributionRow, value: Option<T>, what: &str) -> Result<T, String> {
    value.ok_or_else(|| format!("a row of kind {} lacks {what}", row.kind))
}

fn number<T: std::str::FromStr>(row: &AttributionRow, text: &str) -> Result<T, String> {
    need(row, text.parse().ok(), "its number")
}

fn variant(text: &str) -> Result<Variant, String> {
    text.parse().map_err(|e: crate::subject::IdError| e.to_string())
}

fn interval(row: &AttributionRow) -> Result<(f64, f64), String> {
    Ok((
        need(row, row.ratio_ci_low, "ratio_ci_low")?,
        need(row, row.ratio_ci_high, "ratio_ci_high")?,
    ))
}

fn compared(row: &AttributionRow) -> Result<Compared, String> {
    Ok(Compared {
        ratio: need(row, row.ratio, "ratio")?,
        ratio_ci: interval(row)?,
        verdict: word("verdict", &row.verdict, Verdict::from_word)?,
    })
}

/// A loop of a placebo run, or why it has no time.
fn measured(row: &AttributionRow) -> Result<Result<(Variant, Compared), String>, String> {
    if row.ratio.is_none() {
        return Ok(Err(row.detail.clone()));
    }
    Ok(Ok((variant(&row.subject)?, compared(row)?)))
}

fn attribution(rows: &[AttributionRow], last: &AttributionRow) -> Result<Attribution, String> {
    let mut found = Attribution {
        cell: last.cell()?,
        winner: variant(&last.winner)?,
        skew: Err(String::new()),
        placebos: Vec::new(),
        axes: Vec::new(),
        excluded: Vec::new(),
        edges: Vec::new(),
        object: None,
        notes: Vec::new(),
    };
    let (mut without, mut placebo, mut bytes) = (None, None, None);
    for row in rows {
        match row.kind.as_str() {
            kind::NOTE => found.notes.push(row.detail.clone()),
            kind::SKEW_ABSENT => found.skew = Err(row.detail.clone()),
            kind::SKEW_OWN => {
                let own = number(row, &row.value)?;
                found.skew = Ok(SkewCurve { own, points: Vec::new() });
            }
            kind::SKEW => {
                let point = SkewPoint { skew: number(row, &row.value)?, compared: compared(row)? };
                let curve = found.skew.as_mut().ok();
                need(row, curve, "the row skew_own before it")?.points.push(point);
            }
            kind::AXIS => found.axes.push(AxisRow {
                axis: row.axis.clone(),
                own: row.own.clone(),
                value: row.value.clone(),
                is_default: row.detail == DEFAULT,
                variant: variant(&row.subject)?,
                compared: compared(row)?,
            }),
            kind::EXCLUDED => found.excluded.push(ExcludedValue {
                axis: row.axis.clone(),
                value: row.value.clone(),
                why: row.detail.clone(),
            }),
            kind::WITHOUT => without = Some(measured(row)?),
            kind::PLACEBO => placebo = Some(measured(row)?),
            kind::BYTES => bytes = Some(compared(row)?),
            kind::CREDIT => found.placebos.push(Placebo {
                suspect: word("suspect", &row.axis, Suspect::from_word)?,
                without: need(row, without.take(), "the row without before it")?,
                placebo: need(row, placebo.take(), "the row placebo before it")?,
                bytes: bytes.take(),
                credit: word("credit", &row.value, Credit::from_word)?,
            }),
            kind::EDGE => found.edges.push(Edge {
                axis: row.axis.clone(),
                what: row.own.clone(),
                largest: row.detail == "largest",
                value: number(row, &row.value)?,
            }),
            kind::OBJECT => {
                let (builder, compared) = (row.detail.clone(), compared(row)?);
                found.object = Some(Ok(ObjectRow { builder, compared }));
            }
            kind::OBJECT_ABSENT => found.object = Some(Err(row.detail.clone())),
            // Kinds of later versions are passed over.
            _ => {}
        }
    }
    Ok(found)
}

fn placed(rows: &[AttributionRow], last: &AttributionRow) -> Result<Placed, String> {
    let mut found = Placed { cell: last.cell()?, rows: Vec::new() };
    // The loop whose rows are being read.
    let mut open: Option<(Subject, PlacedTimes)> = None;
    for row in rows {
        let close = |open: &mut Option<(Subject, PlacedTimes)>, found: &mut Placed| {
            let done = open.take().map(|(subject, times)| PlacedRow { subject, result: Ok(times) });
            found.rows.extend(done);
        };
        let subject = || Subject::parse(&row.winner).map_err(|e| e.to_string());
        match row.kind.as_str() {
            kind::PLACEMENT => {
                let ns = |ps: Option<u64>| need(row, ps.map(|ps| Picos(ps).ns()), "a time");
                let point = PlacedPoint {
                    placement: row.cell()?.conditions.placement,
                    ns: ns(row.median_ps)?,
                    ci: (ns(row.ci_low_ps)?, ns(row.ci_high_ps)?),
                };
                let subject = subject()?;
                // The same loop may stand twice in a row: at a placement that it has, it is
                // the other one.
                let same = |(known, times): &(Subject, PlacedTimes)| {
                    let placed = times.points.iter().any(|p| p.placement == point.placement);
                    *known == subject && !placed
                };
                if !open.as_ref().is_some_and(same) {
                    close(&mut open, &mut found);
                }
                let blank = PlacedTimes { points: Vec::new(), effects: Vec::new() };
                open.get_or_insert((subject, blank)).1.points.push(point);
            }
            kind::EFFECT => {
                let level = |text: &str| match text {
                    "" => Ok(None),
                    text => number(row, text).map(Some),
                };
                let effect = Effect {
                    coordinate: word("coordinate", &row.axis, Coordinate::from_word)?,
                    best: level(&row.own)?,
                    worst: level(&row.value)?,
                    spread: need(row, row.ratio, "ratio")?,
                    ci: interval(row)?,
                };
                need(row, open.as_mut(), "a placement before it")?.1.effects.push(effect);
            }
            kind::PLACEMENT_FAILED => {
                close(&mut open, &mut found);
                let failure: Failure = serde_json::from_str(&row.detail)
                    .map_err(|e| format!("the failure of {}: {e}", row.winner))?;
                found.rows.push(PlacedRow { subject: subject()?, result: Err(failure) });
            }
            kind::PLACED => close(&mut open, &mut found),
            _ => {}
        }
    }
    Ok(found)
}
