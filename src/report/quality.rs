//! How good strategies are, as tables.

use serde_json::{Value, json};

use super::grid::{Grid, Side};
use crate::results::{Contested, Quality, RecordedSpace};
use crate::stats::Interval;

/// The columns of a space's table.
const COLUMNS: [(&str, Side); 6] = [
    ("strategy", Side::Left),
    ("samples", Side::Right),
    ("median regret", Side::Right),
    ("worst", Side::Right),
    ("best found", Side::Right),
    ("within 2 %", Side::Right),
];

/// The columns of the comparison.
const AGAINST: [(&str, Side); 3] =
    [("against", Side::Left), ("regret saved", Side::Left), ("more often the best", Side::Left)];

/// Tables for people: one a space, and one of all.
pub fn quality(spaces: &[RecordedSpace], contested: &Contested) -> String {
    let grid = |columns: &[(&str, Side)], rows: Vec<Vec<String>>| {
        let mut grid = Grid::new(columns);
        rows.into_iter().for_each(|row| grid.row(row));
        grid.text()
    };
    page(spaces, contested, "", grid)
}

/// The same as Markdown.
pub fn quality_markdown(spaces: &[RecordedSpace], contested: &Contested) -> String {
    let table = |columns: &[(&str, Side)], rows: Vec<Vec<String>>| {
        let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
        let mut text = line(columns.iter().map(|c| c.0.to_string()).collect());
        let rule = |side: Side| if side == Side::Left { ":--" } else { "--:" };
        text += &line(columns.iter().map(|c| rule(c.1).to_string()).collect());
        rows.into_iter().for_each(|row| text += &line(row));
        text
    };
    page(spaces, contested, "### ", table)
}

fn page(
    spaces: &[RecordedSpace],
    contested: &Contested,
    mark: &str,
    table: impl Fn(&[(&str, Side)], Vec<Vec<String>>) -> String,
) -> String {
    let mut page = String::new();
    for (space, rows) in spaces.iter().zip(&contested.spaces) {
        page += &format!("{mark}{}\n\n{}\n\n", space.cell, about(space, rows));
        page += &table(&COLUMNS, rows.iter().map(row).collect());
        page.push('\n');
    }
    if let Some(first) =
        contested.contest.strategies.first().filter(|_| !contested.better.is_empty())
    {
        let over = if spaces.len() == 1 { "this space" } else { "all spaces" };
        page += &format!("{mark}{first} against the others, over {over}\n\n");
        let rows = contested.better.iter().map(|(name, better)| {
            vec![name.to_string(), points(&better.regret), points(&better.within)]
        });
        page += &table(&AGAINST, rows.collect());
    }
    page
}

fn about(space: &RecordedSpace, rows: &[Quality]) -> String {
    let (blocks, disturbed) = space.blocks;
    let width = rows.first().map_or(0.0, |r| r.width);
    format!(
        "{} candidates, {} samples of each in {} epochs, each off by {:.1} %; {:.0} % of {} blocks \
         were disturbed and are left out, with {} candidates. The best counts as found within \
         {:.1} %.",
        space.candidates.len(),
        space.samples_each(),
        space.epochs,
        space.noise * 100.0,
        disturbed as f64 / blocks.max(1) as f64 * 100.0,
        blocks,
        space.short,
        width * 100.0
    )
}

fn row(quality: &Quality) -> Vec<String> {
    let (best, near) = quality.within();
    let worst = quality.runs.iter().map(|r| r.regret).fold(0.0, f64::max);
    let of = |n: usize| format!("{n} of {}", quality.runs.len());
    vec![
        quality.strategy.to_string(),
        format!("{:.0}", quality.samples()),
        format!("{:.2} %", quality.regret() * 100.0),
        format!("{:.2} %", worst * 100.0),
        of(best),
        of(near),
    ]
}

/// A difference in points of a hundred, with its interval.
fn points(interval: &Interval) -> String {
    let word = if interval.low > 0.0 {
        "better"
    } else if interval.high < 0.0 {
        "worse"
    } else {
        "undecided"
    };
    format!(
        "{:.2} [{:.2}, {:.2}] {word}",
        interval.estimate * 100.0,
        interval.low * 100.0,
        interval.high * 100.0
    )
}

/// The same as data: regrets and shares as fractions.
pub fn quality_json(spaces: &[RecordedSpace], contested: &Contested) -> Value {
    let ends = |i: &Interval| json!({ "mean": i.estimate, "ci": [i.low, i.high] });
    let strategy = |q: &Quality| {
        let (best, near) = q.within();
        let runs: Vec<Value> = q
            .runs
            .iter()
            .map(|r| json!({ "seed": r.seed, "regret": r.regret, "samples": r.samples }))
            .collect();
        json!({
            "strategy": q.strategy.word(), "samples": q.samples(), "median_regret": q.regret(),
            "best_found": best, "within_2_percent": near, "runs": runs,
        })
    };
    let spaces: Vec<Value> = spaces
        .iter()
        .zip(&contested.spaces)
        .map(|(space, rows)| {
            json!({
                "op": space.cell.op.word(), "size_bytes": space.cell.size,
                "state": space.cell.state.to_string(), "drive": space.cell.drive.word(),
                "candidates": space.candidates.len(), "samples_each": space.samples_each(),
                "epochs": space.epochs, "noise": space.noise, "blocks": space.blocks.0, "disturbed": space.blocks.1,
                "width": rows.first().map_or(0.0, |r| r.width),
                "strategies": rows.iter().map(strategy).collect::<Vec<_>>(),
            })
        })
        .collect();
    let better: Vec<Value> = contested
        .better
        .iter()
        .map(|(name, b)| {
            json!({ "strategy": name.word(), "regret_saved": ends(&b.regret), "more_often_best": ends(&b.within) })
        })
        .collect();
    json!({
        "schema": 1, "seeds": contested.contest.seeds, "drift": contested.contest.drift,
        "spaces": spaces, "first_against": better,
    })
}
