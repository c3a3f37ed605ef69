//! The tables of a recorded folder.

use super::facts::Facts;
use super::page::tables;
use super::text::{count, fold};
use crate::results::{Folder, RecordedRun, ResultsError};
use crate::search::{SearchOutcome, SizeOutcome};
use crate::subject::Op;

/// The newest finished result of every op and size of a folder, as tables, and what could
/// not be read.
///
/// # Errors
/// Where a file exists and cannot be read at all; damaged lines are told, not errors.
pub fn plain(folder: &Folder) -> Result<String, ResultsError> {
    let runs = folder.runs()?;
    let decisions = folder.decisions()?;
    let finished = decisions.rows.len();
    let mut text = format!("{}\n", folder.path().display());
    let unfinished = runs.rows.iter().filter(|r| !decisions.rows.iter().any(|d| d.run == r.id));
    let unfinished: Vec<&str> = unfinished.map(|r| r.id.as_str()).collect();
    let all = runs.rows.len().max(finished);
    text.push_str(&format!(
        "{} {}, {finished} finished{}\n\n",
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
        let (merged, sources) = newest(&decisions.rows, *op);
        if merged.sizes.is_empty() {
            continue;
        }
        found_any = true;
        text.push_str(&format!("{op}, from {}\n\n", sources.join(", ")));
        text.push_str(&tables(&merged, &Facts::default()));
    }
    if !found_any {
        text.push_str(&nothing_finished(folder)?);
    }
    for warning in runs.warnings.iter().chain(&decisions.warnings) {
        text.push_str(&fold(&format!("! {warning}"), usize::from(super::grid::WIDTH), 2));
        text.push('\n');
    }
    Ok(text)
}

/// For each size of an op the newest outcome of those with the most cells, ascending, and the
/// runs they are of.
fn newest(runs: &[RecordedRun], op: Op) -> (SearchOutcome, Vec<String>) {
    let mut sizes: Vec<(&str, &SizeOutcome)> = Vec::new();
    for run in runs.iter().rev() {
        let Some(outcome) = run.outcome.as_ref().filter(|o| o.op == op) else { continue };
        for size in &outcome.sizes {
            match sizes.iter_mut().find(|(_, s)| s.size == size.size) {
                Some(best) if size.cells.len() > best.1.cells.len() => *best = (&run.run, size),
                Some(_) => {}
                None => sizes.push((&run.run, size)),
            }
        }
    }
    sizes.sort_by_key(|(_, size)| size.size);
    let mut sources: Vec<String> = sizes.iter().map(|(run, _)| (*run).to_string()).collect();
    sources.sort();
    sources.dedup();
    let sizes = sizes.into_iter().map(|(_, size)| size.clone()).collect();
    (SearchOutcome { op, seed: 0, seconds: 0.0, sizes, warnings: Vec::new() }, sources)
}

/// What there is where no search came to its end.
fn nothing_finished(folder: &Folder) -> Result<String, ResultsError> {
    let trials = folder.trials()?;
    let timed = trials.rows.iter().filter(|t| t.outcome.is_ok()).count();
    let mut text = format!(
        "no search came to its end here; {} trials are recorded, {} of them with times\n",
        count(trials.rows.len() as u64),
        count(timed as u64),
    );
    for warning in &trials.warnings {
        text.push_str(&fold(&format!("! {warning}"), usize::from(super::grid::WIDTH), 2));
        text.push('\n');
    }
    Ok(text)
}
