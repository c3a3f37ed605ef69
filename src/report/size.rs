//! The tables of one size: winners, what the host has, the loop to use.

use super::facts::Facts;
use super::grid::{Grid, Side, WIDTH};
use super::text::{NONE, fold, fold_id, ns_ci, percent, rate, ratio_ci, state};
use crate::search::{BaselineOutcome, CellOutcome, Robust, SizeOutcome};
use crate::stats::Verdict;
use crate::subject::Consumer;
use crate::units::human_ns;

/// Ids of ties shown for a state; the rest is counted.
const TIES_SHOWN: usize = 4;

/// Baselines that fit beside each other.
const BASELINES_ABREAST: usize = 2;

/// Regrets by state that fit beside each other.
const REGRETS_ABREAST: usize = 5;

/// Everything about one size.
pub(super) fn one_size(size: &SizeOutcome, facts: &Facts) -> String {
    let mut text = winners(size, facts);
    text.push('\n');
    text.push_str(&consumers(size));
    text.push_str(&ties(size));
    text.push_str(&baselines(size));
    text.push_str(&robust(size));
    text
}

fn winners(size: &SizeOutcome, facts: &Facts) -> String {
    let fastest = format!("fastest at {}", size.extent);
    let mut columns = vec![
        ("state", Side::Left),
        (fastest.as_str(), Side::Left),
        ("time", Side::Right),
        ("95 % interval", Side::Left),
        ("B/cycle", Side::Right),
    ];
    if facts.limit.is_some() {
        columns.push(("of limit", Side::Right));
    }
    columns.push(("ties", Side::Right));
    // What the figures and the names of states leave to ids.
    let states = size.cells.iter().map(|c| state(&c.cell).chars().count()).max().unwrap_or(0);
    let width = if facts.limit.is_some() { 43 } else { 53 } - states.clamp(5, 12);
    let mut grid = Grid::new(&columns);
    for cell in &size.cells {
        grid.row(winner_row(cell, facts, width));
    }
    let mut text = grid.text();
    for (state, why) in &size.absent {
        let line = format!("no {state}: {why}");
        text.push_str(&format!("  {}\n", fold(&line, usize::from(WIDTH) - 2, 4)));
    }
    text
}

fn winner_row(cell: &CellOutcome, facts: &Facts, width: usize) -> Vec<String> {
    let mut row = vec![state(&cell.cell)];
    let Some(winner) = &cell.winner else {
        row.push("nothing could be timed".into());
        row.resize(if facts.limit.is_some() { 7 } else { 6 }, String::new());
        return row;
    };
    row.extend([
        fold_id(&winner.variant.to_string(), width),
        human_ns(winner.ns),
        ns_ci(winner.ci),
        rate(winner.bytes_per_cycle),
    ]);
    if let Some(limit) = &facts.limit {
        row.push(format!("{:.0} %", 100.0 * winner.bytes_per_cycle / limit.bytes_per_cycle));
    }
    row.push(cell.ties.len().to_string());
    row
}

/// Where the winner is another one if the result is read next.
fn consumers(size: &SizeOutcome) -> String {
    let mut text = String::new();
    for line in reading(size) {
        text.push_str(&format!("  {}\n", fold(&line, usize::from(WIDTH) - 2, 4)));
    }
    if !text.is_empty() {
        text.push('\n');
    }
    text
}

/// The same as sentences, one a state whose winners differ.
pub(super) fn reading(size: &SizeOutcome) -> Vec<String> {
    let mut lines = Vec::new();
    let read = size.cells.iter().filter(|c| c.cell.conditions.consumer == Consumer::Read);
    for read in read {
        let mut cell = read.cell;
        cell.conditions.consumer = Consumer::None;
        let alone = size.cells.iter().find(|c| c.cell == cell).and_then(|c| c.winner.as_ref());
        let (Some(alone), Some(winner)) = (alone, &read.winner) else { continue };
        if alone.variant == winner.variant {
            continue;
        }
        let place = state(&cell);
        let other = read.standings.iter().find(|s| s.timed.variant == alone.variant);
        let what = format!(
            "in {place}, if the result is read next: {} instead of {}",
            winner.variant, alone.variant
        );
        lines.push(match other {
            Some(s) if is_tie(s.verdict) => format!(
                "{what}; the two are not told apart: the latter takes {} of the fastest's time",
                ratio_ci(s.ratio_to_best, s.ratio_ci)
            ),
            Some(s) => format!(
                "{what}, which then takes {} of the fastest's time",
                ratio_ci(s.ratio_to_best, s.ratio_ci)
            ),
            None => format!("{what}, which was not among its finalists"),
        });
    }
    lines
}

fn is_tie(verdict: Verdict) -> bool {
    verdict != Verdict::Slower
}

fn ties(size: &SizeOutcome) -> String {
    let tied: Vec<&CellOutcome> = size.cells.iter().filter(|c| !c.ties.is_empty()).collect();
    if tied.is_empty() {
        return String::new();
    }
    let mut grid =
        Grid::new(&[("ties", Side::Left), ("not told apart from the fastest", Side::Left)]);
    for cell in tied {
        let shown: Vec<String> =
            cell.ties.iter().take(TIES_SHOWN).map(ToString::to_string).collect();
        let more = match cell.ties.len().saturating_sub(TIES_SHOWN) {
            0 => String::new(),
            n => format!("  and {n} more"),
        };
        grid.row(vec![state(&cell.cell), format!("{}{more}", shown.join("  "))]);
    }
    format!("{}\n", grid.text())
}

fn baselines(size: &SizeOutcome) -> String {
    let mut names: Vec<&str> = Vec::new();
    for baseline in size.cells.iter().flat_map(|c| &c.baselines) {
        if !names.contains(&baseline.name.as_str()) {
            names.push(&baseline.name);
        }
    }
    let mut text = String::new();
    for abreast in names.chunks(BASELINES_ABREAST) {
        let mut columns = vec![("state", Side::Left)];
        for name in abreast {
            columns.push((name, Side::Right));
            columns.push(("× the winner's time", Side::Left));
        }
        let mut grid = Grid::new(&columns);
        let mut failures = Vec::new();
        for cell in &size.cells {
            let mut row = vec![state(&cell.cell)];
            for name in abreast {
                let found = cell.baselines.iter().find(|b| b.name == *name);
                row.extend(baseline_cells(found));
                if let Some(BaselineOutcome { result: Err(why), .. }) = found {
                    failures.push(format!("{name} in {}: {why}", state(&cell.cell)));
                }
            }
            grid.row(row);
        }
        text.push_str(&grid.text());
        for failure in failures {
            text.push_str(&format!("  {}\n", fold(&failure, usize::from(WIDTH) - 2, 4)));
        }
        text.push('\n');
    }
    text
}

fn baseline_cells(found: Option<&BaselineOutcome>) -> [String; 2] {
    match found.map(|b| &b.result) {
        None => [NONE.into(), NONE.into()],
        Some(Ok(t)) => [human_ns(t.ns), format!("{} {}", ratio_ci(t.ratio, t.ratio_ci), t.verdict)],
        Some(Err(failure)) => [NONE.into(), failure.kind.word().into()],
    }
}

fn robust(size: &SizeOutcome) -> String {
    let choices = size.choices().map(|(word, choice)| (word.replace('_', " "), choice));
    let choices: Vec<(&str, Option<&Robust>)> =
        choices.iter().map(|(word, choice)| (word.as_str(), *choice)).collect();
    let grid = if size.cells.len() > REGRETS_ABREAST {
        regrets_down(size, &choices)
    } else {
        regrets_abreast(size, &choices)
    };
    format!("{}\n", grid.text())
}

/// A row for each choice.
fn regrets_abreast(size: &SizeOutcome, choices: &[(&str, Option<&Robust>)]) -> Grid {
    let mut columns = vec![
        ("one for all".to_string(), Side::Left),
        (String::new(), Side::Left),
        ("worst regret".into(), Side::Right),
    ];
    columns.extend(size.cells.iter().map(|c| (state(&c.cell), Side::Right)));
    // What the names, the worst regret and the regrets by state leave to ids.
    let taken: usize = columns[3..].iter().map(|(n, _)| n.chars().count().max(6) + 2).sum();
    let width = usize::from(WIDTH).saturating_sub(2 + 14 + 14 + taken).max(24);
    let columns: Vec<(&str, Side)> = columns.iter().map(|(n, s)| (n.as_str(), *s)).collect();
    let mut grid = Grid::new(&columns);
    for (name, choice) in choices {
        grid.row(robust_row(name, *choice, &size.cells, width));
    }
    grid
}

/// A column for each choice, where there are many states.
fn regrets_down(size: &SizeOutcome, choices: &[(&str, Option<&Robust>)]) -> Grid {
    let mut columns = vec![("one for all", Side::Left)];
    columns.extend(choices.iter().map(|(name, _)| (*name, Side::Left)));
    let mut grid = Grid::new(&columns);
    let width = (usize::from(WIDTH) - 2 - 14) / choices.len() - 2;
    let row = |name: &str, of: &dyn Fn(&Robust) -> Option<String>| {
        let cells = choices.iter().map(|(_, choice)| choice.and_then(of).unwrap_or(NONE.into()));
        std::iter::once(name.to_string()).chain(cells).collect::<Vec<_>>()
    };
    grid.row(row("", &|r| Some(fold_id(&r.variant.to_string(), width))));
    grid.row(row("worst regret", &|r| Some(percent(r.max_regret))));
    for found in &size.cells {
        grid.row(row(&state(&found.cell), &|r| regret_in(r, found)));
    }
    grid
}

fn regret_in(robust: &Robust, found: &CellOutcome) -> Option<String> {
    robust.by_cell.iter().find(|b| b.cell == found.cell).map(|b| percent(b.regret))
}

fn robust_row(
    name: &str,
    choice: Option<&Robust>,
    cells: &[CellOutcome],
    width: usize,
) -> Vec<String> {
    let mut row = vec![name.to_string()];
    match choice {
        None => row.extend(["none was measured in all states".into(), NONE.into()]),
        Some(robust) => {
            row.extend([fold_id(&robust.variant.to_string(), width), percent(robust.max_regret)])
        }
    }
    row.extend(
        cells.iter().map(|found| choice.and_then(|r| regret_in(r, found)).unwrap_or(NONE.into())),
    );
    row
}
