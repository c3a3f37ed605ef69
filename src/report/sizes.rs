//! Many sizes at once: winners by size and state, and the loop to use for each size.

use super::grid::{Grid, Side, WIDTH};
use super::text::{NONE, fold, fold_id, percent, ratio};
use crate::search::{CellOutcome, Robust, SearchOutcome};
use crate::subject::{Drive, Extent, Op, State, Variant};
use crate::units::human_ns;

/// Characters that the columns of the robust choices leave to each of three ids, beside sizes.
const ROBUST_WIDTH: usize = 20;

/// Characters of a size, and those at which the name of a mix is broken.
const LABEL_WIDTHS: (usize, usize) = (4, 16);

/// The tables of many sizes.
pub(super) fn many_sizes(found: &SearchOutcome) -> String {
    format!("{}\n{}\n{}", winners(found), robust(found), absent(found))
}

/// A size, or the name of a mix in lines of bounded length.
fn label(extent: &Extent) -> String {
    let name: Vec<char> = extent.to_string().chars().collect();
    let lines = name.chunks(LABEL_WIDTHS.1).map(|line| line.iter().collect::<String>());
    lines.collect::<Vec<_>>().join("\n")
}

/// Characters of the widest of these.
fn label_width(found: &SearchOutcome) -> usize {
    let names = found.sizes.iter().map(|s| s.extent.to_string().chars().count());
    names.max().unwrap_or(0).clamp(LABEL_WIDTHS.0, LABEL_WIDTHS.1)
}

/// An id without its op, which the heading says.
fn short(op: Op, variant: &Variant) -> String {
    let id = variant.to_string();
    id.strip_prefix(&format!("{op}/")).map_or(id.clone(), ToString::to_string)
}

fn winners(found: &SearchOutcome) -> String {
    let cells = || found.sizes.iter().flat_map(|s| &s.cells);
    let mut states: Vec<State> = cells().map(|c| c.cell.state).collect();
    states.sort();
    states.dedup();
    let mut columns = vec![("size".to_string(), Side::Right)];
    columns.extend(states.iter().map(|s| (s.to_string(), Side::Left)));
    let columns: Vec<(&str, Side)> = columns.iter().map(|(n, s)| (n.as_str(), *s)).collect();
    let mut grid = Grid::new(&columns);
    let taken = label_width(found).max(10) + 2;
    let width = (usize::from(WIDTH) - taken) / states.len().max(1) - 2;
    for size in &found.sizes {
        for drive in Drive::ALL {
            if !size.cells.iter().any(|c| c.cell.drive == *drive) {
                continue;
            }
            let mut row = vec![match drive {
                Drive::Throughput => label(&size.extent),
                drive => format!("{}\n{drive}", label(&size.extent)),
            }];
            row.extend(states.iter().map(|state| {
                let fits = |c: &&CellOutcome| c.cell.state == *state && c.cell.drive == *drive;
                size.cells.iter().find(fits).map_or(NONE.into(), |c| winner(found.op, c, width))
            }));
            grid.row(row);
        }
    }
    grid.text()
}

/// A winner, its time, and how it stands to the first baseline.
fn winner(op: Op, cell: &CellOutcome, width: usize) -> String {
    let Some(winner) = &cell.winner else { return "nothing timed".into() };
    let against = cell.baselines.iter().find_map(|b| {
        let times = b.result.as_ref().ok()?;
        // No size beside a mix says how sure its ratio is.
        let interval = match cell.cell.mix {
            None => String::new(),
            Some(_) => format!("\n[{}, {}]", ratio(times.ratio_ci.0), ratio(times.ratio_ci.1)),
        };
        Some(format!(", {} {:.2}×{interval}", b.name, times.ratio))
    });
    format!(
        "{}\n{}{}",
        fold_id(&short(op, &winner.variant), width),
        human_ns(winner.ns),
        against.unwrap_or_default()
    )
}

fn robust(found: &SearchOutcome) -> String {
    let mut grid = Grid::new(&[
        ("size", Side::Right),
        ("robust", Side::Left),
        ("regret", Side::Right),
        ("best plain", Side::Left),
        ("regret", Side::Right),
        ("best nt", Side::Left),
        ("regret", Side::Right),
    ]);
    let width = ROBUST_WIDTH - (label_width(found) - LABEL_WIDTHS.0).div_ceil(3);
    for size in &found.sizes {
        let mut row = vec![label(&size.extent)];
        // A fourth id does not fit a line: the kernel's loop is told where a size has its own
        // tables.
        for (_, choice) in size.choices().into_iter().take(3) {
            row.extend(cells_of(found.op, choice, width));
        }
        grid.row(row);
    }
    grid.text()
}

fn cells_of(op: Op, choice: Option<&Robust>, width: usize) -> [String; 2] {
    choice.map_or([NONE.into(), NONE.into()], |robust| {
        [fold_id(&short(op, &robust.variant), width), percent(robust.max_regret)]
    })
}

/// States that do not exist: the sizes of each, with the reason of the first, which holds for
/// the larger ones all the more.
fn absent(found: &SearchOutcome) -> String {
    let mut told: Vec<(&str, &str, Vec<String>)> = Vec::new();
    for size in &found.sizes {
        for (state, why) in &size.absent {
            let size = size.extent.to_string();
            match told.iter_mut().find(|(s, _, _)| s == state) {
                Some((_, _, sizes)) => sizes.push(size),
                None => told.push((state, why, vec![size])),
            }
        }
    }
    let mut text = String::new();
    for (state, why, sizes) in &told {
        let first = if sizes.len() > 1 { format!(" (at {})", sizes[0]) } else { String::new() };
        let line = format!("no {state} at {}: {why}{first}", sizes.join(" "));
        text.push_str(&fold(&line, usize::from(WIDTH), 2));
        text.push('\n');
    }
    if !told.is_empty() {
        text.push('\n');
    }
    text
}
