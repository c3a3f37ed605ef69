//! Tables of what was decided.

use std::cmp::Ordering;

use super::super::charts::step;
use super::super::facts::Limit;
use super::super::text::{NONE, ns_ci, percent, rate, ratio_ci, state};
use super::{Block, Column, Entry, Table};
use crate::search::{CellOutcome, SearchOutcome, SizeOutcome};
use crate::stats::Verdict;
use crate::units::human_ns;

/// Rows of a regret matrix; those behind are beaten by all before.
const LOOPS: usize = 16;

/// Ties shown of a cell; the rest is counted.
const TIES: usize = 6;

fn cells(found: &SearchOutcome) -> impl Iterator<Item = &CellOutcome> {
    found.sizes.iter().flat_map(|s| &s.cells)
}

/// The winner of every cell.
pub(super) fn winners(found: &SearchOutcome, limit: Option<&Limit>) -> Option<Block> {
    let mut columns = vec!["#size", "state", "fastest", "#time", "95 % interval", "#B/cycle"];
    if limit.is_some() {
        columns.push("#of limit");
    }
    columns.extend(["#code", "#ties"]);
    let mut table = Table::new("The fastest loop of each size and state", &columns);
    for cell in cells(found) {
        let mut row =
            vec![Entry::text(cell.cell.extent().to_string()), Entry::text(state(&cell.cell))];
        match &cell.winner {
            None => {
                row.push(Entry::text("nothing could be timed"));
                row.resize(columns.len(), Entry::default());
            }
            Some(winner) => {
                row.extend([
                    Entry { strong: true, ..Entry::code(winner.variant) },
                    Entry::text(human_ns(winner.ns)),
                    Entry::text(ns_ci(winner.ci)),
                    Entry::text(rate(winner.bytes_per_cycle)),
                ]);
                if let Some(limit) = limit {
                    row.push(Entry::text(percent(winner.bytes_per_cycle / limit.bytes_per_cycle)));
                }
                row.push(Entry::text(format!("{} B", winner.code_bytes)));
                row.push(Entry::text(cell.ties.len().to_string()));
            }
        }
        table.rows.push(row);
    }
    table.block()
}

/// Names of all baselines, in the order met.
pub(super) fn baseline_names<'a>(cells: impl Iterator<Item = &'a CellOutcome>) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for baseline in cells.flat_map(|c| &c.baselines) {
        if !names.contains(&baseline.name) {
            names.push(baseline.name.clone());
        }
    }
    names
}

/// What the host has, against the winners.
pub(super) fn baselines(found: &SearchOutcome) -> Option<Block> {
    let names = baseline_names(cells(found));
    let caption = "What the host has: its time, and that over the winner's (above 1 the winner is \
                   faster), with the 95 % interval";
    let mut table = Table::new(caption, &["#size", "state"]);
    for name in &names {
        table.columns.push(Column::new(&format!("#{name}")));
        table.columns.push(Column::new("× the winner's time"));
    }
    for cell in cells(found).filter(|c| !c.baselines.is_empty()) {
        let mut row =
            vec![Entry::text(cell.cell.extent().to_string()), Entry::text(state(&cell.cell))];
        for name in &names {
            match cell.baselines.iter().find(|b| b.name == *name).map(|b| &b.result) {
                None => row.extend([Entry::text(NONE), Entry::text(NONE)]),
                Some(Err(failure)) => {
                    row.extend([Entry::text(NONE), Entry::text(failure.to_string())]);
                }
                Some(Ok(t)) => row.extend([
                    Entry::text(human_ns(t.ns)),
                    Entry {
                        strong: t.verdict == Verdict::Faster,
                        ..Entry::text(format!("{} {}", ratio_ci(t.ratio, t.ratio_ci), t.verdict))
                    },
                ]),
            }
        }
        table.rows.push(row);
    }
    table.block()
}

/// The loop for all states of each size.
pub(super) fn robust(found: &SearchOutcome) -> Option<Block> {
    let caption = "One loop for all states of a size, by the least worst regret (time over the \
                   state's best, minus one): of all loops, of those with plain stores, of those \
                   with non-temporal ones";
    let columns = ["#size", "kind", "loop", "#worst regret", "~by state"];
    let mut table = Table::new(caption, &columns);
    for size in &found.sizes {
        for (kind, choice) in size.choices() {
            let Some(choice) = choice else { continue };
            let regrets = choice.by_cell.iter();
            let regrets = regrets.map(|r| format!("{} {}", state(&r.cell), percent(r.regret)));
            table.rows.push(vec![
                Entry::text(size.extent.to_string()),
                Entry::text(kind.replace('_', " ")),
                Entry { strong: kind == "robust", ..Entry::code(choice.variant) },
                Entry::text(percent(choice.max_regret)),
                Entry::text(regrets.collect::<Vec<_>>().join(", ")),
            ]);
        }
    }
    table.block()
}

/// Finalists that could not be told apart from the fastest.
pub(super) fn ties(found: &SearchOutcome) -> Option<Block> {
    let mut table =
        Table::new("Ties: not told apart from the fastest", &["#size", "state", "~loops"]);
    for cell in cells(found).filter(|c| !c.ties.is_empty()) {
        let mut loops: Vec<String> = cell.ties.iter().take(TIES).map(ToString::to_string).collect();
        if cell.ties.len() > TIES {
            loops.push(format!("and {} more", cell.ties.len() - TIES));
        }
        table.rows.push(vec![
            Entry::text(cell.cell.extent().to_string()),
            Entry::text(state(&cell.cell)),
            Entry::code(loops.join("  ")),
        ]);
    }
    table.block()
}

/// States that a size cannot be in.
pub(super) fn absent(found: &SearchOutcome) -> Option<Block> {
    let mut table = Table::new("States that do not exist here", &["#size", "state", "~why"]);
    for size in &found.sizes {
        for (state, why) in &size.absent {
            let row = [size.extent.to_string(), state.clone(), why.clone()];
            table.rows.push(row.map(Entry::text).to_vec());
        }
    }
    table.block()
}

/// A row of the regret matrix.
struct Regrets {
    name: String,
    /// One a cell.
    regrets: Vec<Option<f64>>,
    robust: bool,
    code: bool,
}

impl Regrets {
    fn worst(&self) -> f64 {
        self.regrets.iter().flatten().copied().fold(0.0, f64::max)
    }

    fn missing(&self) -> usize {
        self.regrets.iter().filter(|r| r.is_none()).count()
    }

    fn order(&self, other: &Regrets) -> Ordering {
        let complete = self.missing().cmp(&other.missing());
        complete.then(self.worst().total_cmp(&other.worst())).then(self.name.cmp(&other.name))
    }
}

/// Finalists and baselines by state, coloured by regret.
pub(super) fn regrets(size: &SizeOutcome) -> Option<Block> {
    if size.cells.len() < 2 {
        return None;
    }
    let mut rows = finalists(size);
    rows.sort_by(Regrets::order);
    rows.truncate(LOOPS);
    let names = baseline_names(size.cells.iter());
    rows.extend(names.into_iter().map(|name| of_baseline(size, name)));
    let told = rows.iter().filter(|r| r.code).min_by(|a, b| a.order(b))?;
    let worst = size.cells.iter().zip(&told.regrets);
    let worst = worst.max_by(|a, b| a.1.unwrap_or(0.0).total_cmp(&b.1.unwrap_or(0.0)))?.0;
    let even = rows.iter().filter(|r| r.missing() == 0 && r.worst() <= 0.02).count();
    let caption = format!(
        "Regret of finalists and baselines by state: time over the state's best, minus one. {} {}",
        match even {
            0 => "No loop is within 2 % of the best in every state;".to_string(),
            1 => "One loop is within 2 % of the best in every state;".to_string(),
            n => format!("{n} loops are within 2 % of the best in every state;"),
        },
        format_args!(
            "the least worst is {}, reached in {} by {}.",
            percent(told.worst()),
            state(&worst.cell),
            told.name
        ),
    );
    let mut table = Table::new(caption, &["loop", "#worst"]);
    let states = size.cells.iter().map(|c| Column::new(&format!("#{}", state(&c.cell))));
    table.columns.extend(states);
    for row in &rows {
        let name = Entry { code: row.code, strong: row.robust, ..Entry::text(&row.name) };
        let mut line = vec![name, coloured(Some(row.worst()))];
        line.extend(row.regrets.iter().map(|r| coloured(*r)));
        table.rows.push(line);
    }
    table.block()
}

fn coloured(regret: Option<f64>) -> Entry {
    let Some(regret) = regret.filter(|r| r.is_finite()) else { return Entry::text(NONE) };
    Entry { step: Some(step(1.0 / (1.0 + regret.max(0.0)))), ..Entry::text(percent(regret)) }
}

fn finalists(size: &SizeOutcome) -> Vec<Regrets> {
    let mut loops: Vec<_> =
        size.cells.iter().flat_map(|c| &c.standings).map(|s| s.timed.variant).collect();
    loops.sort();
    loops.dedup();
    let of = |variant| {
        let in_cell = |cell: &CellOutcome| {
            let standing = cell.standings.iter().find(|s| s.timed.variant == variant)?;
            Some(standing.ratio_to_best - 1.0).filter(|r| r.is_finite())
        };
        Regrets {
            name: variant.to_string(),
            regrets: size.cells.iter().map(in_cell).collect(),
            robust: size.robust.as_ref().is_some_and(|r| r.variant == variant),
            code: true,
        }
    };
    loops.into_iter().map(of).collect()
}

/// A baseline's ratio is to the winner, which may be a little slower than the fastest.
fn of_baseline(size: &SizeOutcome, name: String) -> Regrets {
    let in_cell = |cell: &CellOutcome| {
        let baseline = cell.baselines.iter().find(|b| b.name == name)?;
        let ratio = baseline.result.as_ref().ok()?.ratio;
        let winner = cell.winner.as_ref()?.variant;
        let standing = cell.standings.iter().find(|s| s.timed.variant == winner);
        let regret = ratio * standing.map_or(1.0, |s| s.ratio_to_best) - 1.0;
        Some(regret).filter(|r| r.is_finite())
    };
    let regrets = size.cells.iter().map(in_cell).collect();
    Regrets { name, regrets, robust: false, code: false }
}
