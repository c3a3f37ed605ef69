//! Several hosts side by side: the best of the breed.

use super::super::gather::HostResults;
use super::super::text::{NONE, ns_ci, percent, rate, state};
use super::{Block, Column, Entry, Section, Table};
use crate::search::{CellOutcome, Robust, SizeOutcome, Timed};
use crate::subject::{Cell, Extent, Op};
use crate::units::human_ns;

/// Marks the best of a row.
pub(in crate::report) const STAR: &str = "★";

/// The tables that compare hosts; `None` for a single one.
pub(in crate::report) fn breed(hosts: &[HostResults]) -> Option<Section> {
    if hosts.len() < 2 {
        return None;
    }
    let mut blocks = Vec::new();
    for op in Op::ALL {
        blocks.extend(winners(hosts, *op));
        blocks.extend(robust(hosts, *op));
    }
    if blocks.is_empty() {
        return None;
    }
    Some(Section {
        id: "breed".into(),
        title: "Best of the breed".into(),
        short: "Best of the breed".into(),
        level: 2,
        folds: None,
        blocks,
        sections: Vec::new(),
    })
}

fn sizes_of(host: &HostResults, op: Op) -> &[SizeOutcome] {
    host.ops.iter().find(|o| o.op == op).map_or(&[], |o| &o.outcome().sizes)
}

fn winner_in<'a>(host: &'a HostResults, cell: &Cell) -> Option<&'a Timed> {
    let mut cells = sizes_of(host, cell.op).iter().flat_map(|s| &s.cells);
    cells.find(|c: &&CellOutcome| c.cell == *cell)?.winner.as_ref()
}

/// Which of the figures are best: the largest, and those whose interval reaches that of
/// the largest. Each with its lower and upper bound.
fn best(figures: &[Option<(f64, f64, f64)>]) -> Vec<bool> {
    let top = figures.iter().flatten().max_by(|a, b| a.0.total_cmp(&b.0)).copied();
    let reaches = |f: &Option<(f64, f64, f64)>| match (f, top) {
        (Some(own), Some(top)) => own.0 == top.0 || own.2 >= top.1,
        _ => false,
    };
    // With a single figure there is nothing to be better than.
    let several = figures.iter().flatten().count() > 1;
    figures.iter().map(|f| several && reaches(f)).collect()
}

/// A host's winner in a cell, and whether it is the best of its row.
pub(in crate::report) struct Place<'a> {
    pub(in crate::report) timed: &'a Timed,
    /// In time.
    pub(in crate::report) best_time: bool,
    /// In bytes a cycle.
    pub(in crate::report) best_cycles: bool,
}

/// Every cell of an op, with a place for each host.
pub(in crate::report) fn places(
    hosts: &[HostResults],
    op: Op,
) -> Vec<(Cell, Vec<Option<Place<'_>>>)> {
    let mut cells: Vec<Cell> = hosts
        .iter()
        .flat_map(|h| sizes_of(h, op))
        .flat_map(|s| s.cells.iter().map(|c| c.cell))
        .collect();
    cells.sort();
    cells.dedup();
    let of_cell = |cell: Cell| {
        let found: Vec<Option<&Timed>> = hosts.iter().map(|h| winner_in(h, &cell)).collect();
        let speed = |t: &Timed| (1.0 / t.ns, 1.0 / t.ci.1, 1.0 / t.ci.0);
        let times: Vec<_> = found.iter().map(|f| f.map(speed)).collect();
        let scaled = |t: &Timed| {
            let (figure, low, high) = speed(t);
            let cycles = t.bytes_per_cycle * t.ns;
            (figure * cycles, low * cycles, high * cycles)
        };
        let cycles: Vec<_> = found.iter().map(|f| f.map(scaled)).collect();
        let (best_times, best_cycles) = (best(&times), best(&cycles));
        let places = found.into_iter().enumerate().map(|(i, f)| {
            f.map(|timed| Place { timed, best_time: best_times[i], best_cycles: best_cycles[i] })
        });
        (cell, places.collect())
    };
    cells.into_iter().map(of_cell).collect()
}

fn winners(hosts: &[HostResults], op: Op) -> Option<Block> {
    let caption = format!(
        "{op}: the fastest loop of each host, its time with the 95 % interval, and bytes a cycle. \
         {STAR} marks the best of a row and what its interval does not tell apart from it, in \
         time and in bytes a cycle"
    );
    let mut table = Table { narrow: true, ..Table::new(caption, &["#size", "state"]) };
    for host in hosts {
        let id = format!("~{}", host.key);
        table.columns.extend([id.as_str(), "#time", "#B/cycle"].map(Column::new));
    }
    for (cell, places) in places(hosts, op) {
        let mut row = vec![Entry::text(cell.extent().to_string()), Entry::text(state(&cell))];
        for place in &places {
            match place {
                None => row.extend([NONE, NONE, NONE].map(Entry::text)),
                Some(Place { timed: t, best_time, best_cycles }) => row.extend([
                    Entry::code(t.variant),
                    time(t, *best_time),
                    starred(rate(t.bytes_per_cycle), *best_cycles),
                ]),
            }
        }
        table.rows.push(row);
    }
    table.block()
}

/// A time with its interval, to be broken between the two only.
fn time(timed: &Timed, best: bool) -> Entry {
    let whole = |text: String| text.replace(' ', "\u{a0}");
    let entry = starred(human_ns(timed.ns), best);
    let text = format!("{} {}", whole(entry.text), whole(ns_ci(timed.ci)));
    Entry { text, ..entry }
}

fn starred(text: String, best: bool) -> Entry {
    let text = if best { format!("{STAR} {text}") } else { text };
    Entry { strong: best, ..Entry::text(text) }
}

/// A host's loop for all states of a size, and whether its worst regret is the least.
type Choice<'a> = Option<(&'a Robust, bool)>;

/// Every size of an op, with the loop for all states of each host.
pub(in crate::report) fn choices(hosts: &[HostResults], op: Op) -> Vec<(Extent, Vec<Choice<'_>>)> {
    let mut sizes: Vec<Extent> =
        hosts.iter().flat_map(|h| sizes_of(h, op)).map(|s| s.extent).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let of_size = |size: Extent| {
        let of = |host| sizes_of(host, op).iter().find(|s| s.extent == size)?.robust.as_ref();
        let found: Vec<Option<&Robust>> = hosts.iter().map(of).collect();
        let least = |r: &Robust| (-r.max_regret, -r.max_regret, -r.max_regret);
        let best = best(&found.iter().map(|f| f.map(least)).collect::<Vec<_>>());
        (size, found.into_iter().zip(best).map(|(f, best)| Some((f?, best))).collect())
    };
    sizes.into_iter().map(of_size).collect()
}

fn robust(hosts: &[HostResults], op: Op) -> Option<Block> {
    let caption = format!(
        "{op}: one loop for all states on each host, with its worst regret there. {STAR} marks \
         the least regret of a row"
    );
    let mut table = Table { narrow: true, ..Table::new(caption, &["#size"]) };
    for host in hosts {
        let id = format!("~{}", host.key);
        table.columns.extend([id.as_str(), "#worst regret"].map(Column::new));
    }
    for (size, choices) in choices(hosts, op) {
        let mut row = vec![Entry::text(size.to_string())];
        for choice in choices {
            match choice {
                None => row.extend([NONE, NONE].map(Entry::text)),
                Some((r, best)) => {
                    row.extend([Entry::code(r.variant), starred(percent(r.max_regret), best)]);
                }
            }
        }
        table.rows.push(row);
    }
    table.block()
}
