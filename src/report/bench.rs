//! The page and the document of a bench.

use serde_json::{Value, json};

use super::facts::Facts;
use super::grid::{Grid, Side, WIDTH};
use super::text::{NONE, fold, fold_id, mix_notes, ns_ci, percent, ratio_ci, state};
use crate::search::{Row, RowTimes};
use crate::subject::{Cell, Conditions, Consumer, Op, Subject};
use crate::units::human_ns;

/// Columns that figures leave to names.
const NAME_WIDTH: usize = 22;

/// One cell of a bench.
#[derive(Clone, Debug, PartialEq)]
pub struct BenchCell {
    /// Where.
    pub cell: Cell,
    /// Subjects in the order they were named; the first is the reference.
    pub rows: Vec<Row>,
}

/// What a reader must know beside the figures.
#[derive(Clone, Debug, PartialEq)]
pub struct Note {
    /// The op whose rows it is about; `None`: all.
    pub op: Option<Op>,
    /// One sentence that names the subjects.
    pub text: String,
}

/// A line that names the processor and its key.
pub(super) fn host_line(facts: &Facts) -> String {
    let host = format!("{} ({})", facts.cpu, facts.host_key);
    format!("{}\n", fold(&host, usize::from(WIDTH), 2))
}

/// The variants of named loops among the rows, a line each.
fn named(cells: &[BenchCell]) -> String {
    let mut lines: Vec<String> = Vec::new();
    for row in cells.iter().flat_map(|c| &c.rows) {
        if let Subject::Named(named) = row.subject {
            let line = format!("{named} is {}\n", named.variant());
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
    }
    lines.concat()
}

/// What a bench found, for people: one table a cell. The notes stand below all of them.
pub fn bench(cells: &[BenchCell], facts: &Facts, notes: &[Note]) -> String {
    let mut text = host_line(facts);
    for cell in cells {
        let c = &cell.cell;
        text.push_str(&format!("\n{} {} in {}{}\n\n", c.op, c.extent(), state(c), under(c)));
        text.push_str(&table(cell, facts));
        for (row, extremes) in cell.rows.iter().filter_map(by_thread) {
            let line = format!("{}: a call takes {} on the threads", row.subject, ns_ci(extremes));
            text.push_str(&format!("  {}\n", fold(&line, usize::from(WIDTH) - 2, 4)));
        }
        let failures = cell.rows.iter().filter_map(|r| Some((r, r.result.as_ref().err()?)));
        for (row, failure) in failures {
            let line = format!("{}: {failure}", row.subject);
            text.push_str(&format!("  {}\n", fold(&line, usize::from(WIDTH) - 2, 4)));
        }
    }
    let extents = cells.iter().map(|c| c.cell.extent());
    for note in mix_notes(extents) {
        text.push_str(&format!("\n{}\n", fold(&note, usize::from(WIDTH), 2)));
    }
    text.push_str("\nRatio: the reference's time over the row's; above 1 the row is faster. Times are of a whole call.\n");
    text.push_str(&named(cells));
    for note in notes {
        text.push_str(&format!("{}\n", fold(&note.text, usize::from(WIDTH), 2)));
    }
    if let Some(limit) = &facts.limit {
        let line = format!("Limit: {:.0} B/cycle: {}", limit.bytes_per_cycle, limit.why);
        text.push_str(&format!("{}\n", fold(&line, usize::from(WIDTH), 7)));
    }
    text
}

/// The conditions that differ from the defaults and are not part of the state's words.
fn under(cell: &Cell) -> String {
    let conditions = Conditions { consumer: Consumer::None, ..cell.conditions };
    conditions.words().iter().map(|word| format!(", {word}")).collect()
}

/// The fastest and the slowest of several threads in a row, nanoseconds a call.
fn by_thread(row: &Row) -> Option<(&Row, (f64, f64))> {
    Some((row, row.result.as_ref().ok()?.threads?.1))
}

fn table(cell: &BenchCell, facts: &Facts) -> String {
    let threads = cell.cell.conditions.threads > 1;
    let mut columns = vec![
        ("subject", Side::Left),
        ("time", Side::Right),
        ("95 % interval", Side::Left),
        ("B/cycle", Side::Right),
    ];
    if facts.limit.is_some() && !threads {
        columns.push(("of limit", Side::Right));
    }
    if threads {
        columns.push(("all, B/ns", Side::Right));
    }
    columns.extend([("ratio", Side::Left), ("verdict", Side::Left)]);
    let mut grid = Grid::new(&columns);
    for row in &cell.rows {
        let mut line = vec![fold_id(&row.subject.to_string(), NAME_WIDTH)];
        match &row.result {
            Ok(times) => line.extend(figures(times, facts, threads)),
            Err(failure) => {
                line.extend(std::iter::repeat_n(NONE.to_string(), columns.len() - 2));
                line.push(failure.kind.word().into());
            }
        }
        grid.row(line);
    }
    grid.text()
}

fn figures(times: &RowTimes, facts: &Facts, threads: bool) -> Vec<String> {
    let mut line =
        vec![human_ns(times.ns), ns_ci(times.ci), format!("{:.1}", times.bytes_per_cycle)];
    if let Some(limit) = facts.limit.as_ref().filter(|_| !threads) {
        line.push(percent(times.bytes_per_cycle / limit.bytes_per_cycle));
    }
    if threads {
        line.push(times.threads.map_or(NONE.into(), |(all, _)| format!("{all:.1}")));
    }
    line.push(ratio_ci(times.ratio, times.ratio_ci));
    line.push(times.verdict.to_string());
    line
}

/// What a bench found, as one document of schema 1: nanoseconds a call, `ratio` the first
/// row's time over the row's. A row without times has a `failure`, and its kind
/// as the verdict. `notes` is there where there are some.
pub fn bench_json(cells: &[BenchCell], facts: &Facts, notes: &[Note]) -> Value {
    let mut document = json!({
        "schema": 1,
        "command": facts.command,
        "host": { "key": facts.host_key, "cpu": facts.cpu, "features": facts.features },
        "cells": cells.iter().map(cell_json).collect::<Vec<_>>(),
    });
    if !notes.is_empty() {
        document["notes"] = notes.iter().map(|note| json!(note.text)).collect();
    }
    document
}

fn cell_json(cell: &BenchCell) -> Value {
    let rows = cell.rows.iter().map(|row| match &row.result {
        Ok(t) => {
            let mut found = json!({
                "name": row.subject.to_string(),
                "ns": t.ns,
                "ci": [t.ci.0, t.ci.1],
                "bytes_per_cycle": t.bytes_per_cycle,
                "ratio": t.ratio,
                "ratio_ci": [t.ratio_ci.0, t.ratio_ci.1],
                "verdict": t.verdict.word(),
            });
            if let Some((all, (fastest, slowest))) = t.threads {
                found["all_threads_bytes_per_ns"] = json!(all);
                found["thread_ns"] = json!([fastest, slowest]);
            }
            found
        }
        Err(failure) => json!({
            "name": row.subject.to_string(),
            "verdict": failure.kind.word(),
            "failure": failure.to_string(),
        }),
    });
    json!({
        "op": cell.cell.op.word(),
        "size_bytes": cell.cell.size,
        "mix": super::json::mix(&cell.cell.extent()),
        "state": cell.cell.state.to_string(),
        "drive": cell.cell.drive.word(),
        "placement": cell.cell.conditions.placement.to_string(),
        "pages": cell.cell.conditions.pages.word(),
        "consumer": cell.cell.conditions.consumer.word(),
        "source": cell.cell.conditions.source.word(),
        "threads": cell.cell.conditions.threads,
        "rows": rows.collect::<Vec<_>>(),
    })
}
