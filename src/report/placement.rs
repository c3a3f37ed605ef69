//! What placements do to loops, as tables of 100 columns and as a part of a document.

use serde_json::{Value, json};

use super::grid::{Grid, Side, WIDTH};
use super::text::{NONE, fold, fold_id, ns_ci, percent, ratio_ci, state};
use crate::search::{Coordinate, Effect, Placed, PlacedRow, PlacedTimes, band};
use crate::units::human_ns;

/// Sweeps of placements, for people: for each loop the median and the worst, and what it hangs
/// on. Empty where there are none.
pub fn placements(found: &[Placed]) -> String {
    let mut text = String::new();
    for of_size in found.chunk_by(|a, b| a.cell.extent() == b.cell.extent()) {
        let head = format!("placed at {}", of_size[0].cell.extent());
        let mut grid = Grid::new(&[
            ("state", Side::Left),
            (head.as_str(), Side::Left),
            ("median", Side::Right),
            ("worst", Side::Right),
            ("at", Side::Left),
            ("hangs on", Side::Left),
        ]);
        let mut failures = Vec::new();
        for placed in of_size {
            for (nth, row) in placed.rows.iter().enumerate() {
                let mut line = vec![if nth == 0 { state(&placed.cell) } else { String::new() }];
                line.push(fold_id(&row.subject.to_string(), 30));
                match &row.result {
                    Ok(times) => line.extend(figures(placed, times)),
                    Err(failure) => {
                        line.extend([NONE.into(), NONE.into(), failure.kind.word().into()]);
                        line.push(String::new());
                        failures.push(format!("{}: {failure}", row.subject));
                    }
                }
                grid.row(line);
            }
        }
        text.push_str(&grid.text());
        let count = most_points(of_size);
        failures.push(format!(
            "{count} placements (dst and src modulo 64, dst - src modulo 4096), each in rounds of \
             its own; a loop hangs on the coordinate whose worst value costs most against its \
             best, beyond the interval"
        ));
        for line in failures {
            text.push_str(&format!("  {}\n", fold(&line, usize::from(WIDTH) - 2, 4)));
        }
        text.push('\n');
    }
    text
}

fn most_points(of_size: &[Placed]) -> usize {
    let rows = of_size.iter().flat_map(|p| &p.rows);
    rows.filter_map(|r| r.result.as_ref().ok()).map(|t| t.points.len()).max().unwrap_or(0)
}

fn figures(placed: &Placed, times: &PlacedTimes) -> [String; 4] {
    let (ns, at) = match times.worst() {
        Some(worst) => {
            let over = worst.ns / times.median_ns() - 1.0;
            (format!("{} +{}", human_ns(worst.ns), percent(over)), worst.placement.to_string())
        }
        None => (NONE.into(), NONE.into()),
    };
    [human_ns(times.median_ns()), ns, at, hangs_on(placed, times)]
}

/// Which coordinate a loop's time hangs on, in a few words.
pub(super) fn hangs_on(placed: &Placed, times: &PlacedTimes) -> String {
    match times.hangs_on(band(&placed.cell)) {
        Some(e) => format!("{}: {}", e.coordinate, cost(e)),
        None if times.effects.is_empty() => "not told".into(),
        None => "none of the three".into(),
    }
}

/// What the worst value of a coordinate costs.
fn cost(effect: &Effect) -> String {
    let word = |level: Option<u16>| match (effect.coordinate, level) {
        (Coordinate::Delta, None) => "any".to_string(),
        (_, level) => level.unwrap_or(0).to_string(),
    };
    format!(
        "{} against {}, {}",
        word(effect.worst),
        word(effect.best),
        ratio_ci(effect.spread, effect.ci)
    )
}

/// The effects of a loop in words, for captions.
pub(super) fn effects(row: &PlacedRow) -> Vec<String> {
    let times = row.result.as_ref().ok();
    let effects = times.into_iter().flat_map(|t| &t.effects);
    effects.map(|e| format!("{}: {}", e.coordinate, cost(e))).collect()
}

/// The worst placement's time with its interval.
pub(super) fn worst_words(times: &PlacedTimes) -> String {
    times.worst().map_or(NONE.into(), |w| format!("{} {}", human_ns(w.ns), ns_ci(w.ci)))
}

/// A sweep as a part of a document of schema 1.
pub fn placed_json(found: &Placed) -> Value {
    let point = |p: &crate::search::PlacedPoint| json!({ "placement": p.placement.to_string(), "ns": p.ns, "ci": [p.ci.0, p.ci.1] });
    let effect = |e: &Effect| {
        json!({
            "coordinate": e.coordinate.word(),
            "best": e.best, "worst": e.worst,
            "ratio": e.spread, "ratio_ci": [e.ci.0, e.ci.1],
        })
    };
    let rows = found.rows.iter().map(|row| match &row.result {
        Err(failure) => {
            json!({ "name": row.subject.to_string(), "failure": failure.to_string() })
        }
        Ok(times) => json!({
            "name": row.subject.to_string(),
            "median_ns": times.median_ns(),
            "worst": times.worst().map(point),
            "hangs_on": times.hangs_on(band(&found.cell)).map(|e| e.coordinate.word()),
            "effects": times.effects.iter().map(effect).collect::<Vec<_>>(),
            "placements": times.points.iter().map(point).collect::<Vec<_>>(),
        }),
    });
    json!({
        "op": found.cell.op.word(),
        "size_bytes": found.cell.size,
        "state": found.cell.state.to_string(),
        "drive": found.cell.drive.word(),
        "conditions": found.cell.conditions.words(),
        "rows": rows.collect::<Vec<_>>(),
    })
}
