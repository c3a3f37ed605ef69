//! The tables of a recorded folder.

use super::attribution::attribution;
use super::document::{Place, STAR, choices, places};
use super::facts::Facts;
use super::gather::{Decided, Depth, HostResults, decided, gather, others};
use super::grid::{Grid, Side, WIDTH};
use super::page::tables;
use super::placement::placements;
use super::text::{NONE, count, fold, fold_id, mix_notes, percent, rate, state};
use crate::results::{Folder, RecordedRun, RecordedTrial, ResultsError};
use crate::search::{Placed, Stop};
use crate::subject::{Op, Variant};
use crate::trial::Phase;
use crate::units::human_ns;

/// The newest finished result of every op and size of a folder, as tables, and what could
/// not be read.
///
/// # Errors
/// Where a file exists and cannot be read at all; damaged lines are told, not errors.
pub fn plain(folder: &Folder) -> Result<String, ResultsError> {
    let runs = folder.runs()?;
    let decisions = folder.decisions()?;
    let broken_off = decisions.rows.iter().filter(|run| was_interrupted(run)).count();
    let finished = decisions.rows.len() - broken_off;
    let mut text = format!("{}\n", folder.path().display());
    let unfinished = runs.rows.iter().filter(|r| !decisions.rows.iter().any(|d| d.run == r.id));
    let unfinished: Vec<&str> = unfinished.map(|r| r.id.as_str()).collect();
    let all = runs.rows.len().max(decisions.rows.len());
    let interrupted = match broken_off {
        0 => String::new(),
        n => format!(", {n} interrupted"),
    };
    text.push_str(&format!(
        "{} {}, {finished} finished{interrupted}{}\n\n",
        count(all as u64),
        if all == 1 { "run" } else { "runs" },
        match unfinished.as_slice() {
            [] => String::new(),
            [one] => format!("; cut off: {one}"),
            [.., last] => format!("; {} cut off, the last {last}", unfinished.len()),
        }
    ));
    let mut found_any = false;
    for op in Op::ALL {
        let merged = std::iter::once(decided(&decisions.rows, *op));
        for merged in merged.chain(others(&decisions.rows, *op)) {
            if merged.outcome.sizes.is_empty() {
                continue;
            }
            found_any = true;
            text.push_str(&heading(&merged));
            text.push_str(&tables(&merged.outcome, &Facts::default()));
            for note in mix_notes(merged.outcome.sizes.iter().map(|s| s.extent)) {
                text.push_str(&format!("{}\n\n", fold(&note, usize::from(WIDTH), 2)));
            }
        }
    }
    text.push_str(&explained(folder)?);
    if !found_any {
        text.push_str(&nothing_finished(folder)?);
    }
    for warning in runs.warnings.iter().chain(&decisions.warnings) {
        text.push_str(&fold(&format!("! {warning}"), usize::from(WIDTH), 2));
        text.push('\n');
    }
    Ok(text)
}

/// The op, under which conditions, from which runs.
fn heading(found: &Decided) -> String {
    let under = match found.words() {
        words if words.is_empty() => String::new(),
        words => format!(" under other conditions ({words})"),
    };
    format!("{}{under}, from {}\n\n", found.outcome.op, found.sources().join(", "))
}

/// Why winners win and what placements do to loops, the newest of each cell.
fn explained(folder: &Folder) -> Result<String, ResultsError> {
    let found = gather(folder, Depth::Decisions)?;
    let mut text = String::new();
    for op in &found.ops {
        let placed: Vec<Placed> = op.placed.iter().map(|(_, p)| p.clone()).collect();
        if !placed.is_empty() {
            text.push_str(&format!("{} at other placements\n\n{}", op.op, placements(&placed)));
        }
        if !op.attributions.is_empty() {
            text.push_str(&format!("{}: why winners win\n\n", op.op));
        }
        for (run, found) in &op.attributions {
            text.push_str(&format!("{}  run {run}\n\n", attribution(found)));
        }
    }
    Ok(text)
}

/// What there is where no search came to its end.
fn was_interrupted(run: &RecordedRun) -> bool {
    let sizes = run.outcome.iter().flat_map(|outcome| &outcome.sizes);
    sizes.flat_map(|size| &size.cells).any(|cell| cell.stop == Stop::Interrupted)
}

fn nothing_finished(folder: &Folder) -> Result<String, ResultsError> {
    let trials = folder.trials()?;
    let bench = |t: &RecordedTrial| t.phase == Phase::Bench;
    let benched = !trials.rows.is_empty() && trials.rows.iter().all(bench);
    let what =
        if benched { "figures of benches, no search" } else { "no search came to its end here" };
    let timed = trials.rows.iter().filter(|t| t.outcome.is_ok()).count();
    let mut text = format!(
        "{what}; {} trials are recorded, {} of them with times\n",
        count(trials.rows.len() as u64),
        count(timed as u64),
    );
    for warning in &trials.warnings {
        text.push_str(&fold(&format!("! {warning}"), usize::from(WIDTH), 2));
        text.push('\n');
    }
    Ok(text)
}

/// Several hosts side by side: winners of each size and state, and the loops for all states.
pub(super) fn side_by_side(hosts: &[HostResults]) -> String {
    let width = (usize::from(WIDTH) - 24) / hosts.len().max(1) - 2;
    let short = |variant: &Variant| {
        let id = variant.to_string();
        let op = format!("{}/", variant.op);
        fold_id(id.strip_prefix(&op).unwrap_or(&id), width)
    };
    let star = |best: bool| if best { format!("{STAR} ") } else { String::new() };
    let mut text = String::new();
    for op in Op::ALL {
        let (places, choices) = (places(hosts, *op), choices(hosts, *op));
        if places.is_empty() {
            continue;
        }
        text.push_str(&format!("{op}: best of the breed\n\n"));
        let mut columns = vec![("size", Side::Right), ("state", Side::Left)];
        columns.extend(hosts.iter().map(|h| (h.key.as_str(), Side::Left)));
        let mut grid = Grid::new(&columns);
        for (cell, places) in places {
            let mut row = vec![cell.extent().to_string(), state(&cell)];
            row.extend(places.iter().map(|place| match place {
                None => NONE.into(),
                Some(Place { timed, best_time, best_cycles }) => format!(
                    "{}\n{}{}, {}{} B/cycle",
                    short(&timed.variant),
                    star(*best_time),
                    human_ns(timed.ns),
                    star(*best_cycles),
                    rate(timed.bytes_per_cycle)
                ),
            }));
            grid.row(row);
        }
        text.push_str(&grid.text());
        columns[1] = ("worst regret of", Side::Left);
        let mut grid = Grid::new(&columns);
        for (size, choices) in choices {
            let mut row = vec![size.to_string(), "robust".into()];
            row.extend(choices.iter().map(|choice| match choice {
                None => NONE.into(),
                Some((robust, best)) => format!(
                    "{}\n{}{}",
                    short(&robust.variant),
                    star(*best),
                    percent(robust.max_regret)
                ),
            }));
            grid.row(row);
        }
        text.push('\n');
        text.push_str(&grid.text());
        let note =
            format!("{STAR} the best of a row, and what its interval does not tell apart from it.");
        text.push_str(&format!("\n{note}\n\n"));
    }
    text
}
