//! Recorded figures as a ledger.

use std::collections::HashMap;

use super::ledger::{Known, Ledger, Trouble};
use crate::results::{Folder, RecordedTrial, ResultsError};
use crate::subject::{Cell, Subject};
use crate::trial::{Phase, Role, Summary};

/// What a folder holds, ready to be explored.
#[derive(Debug)]
pub struct Recorded {
    /// The figures.
    pub ledger: Ledger,
    /// Cells with figures of loops, in order.
    pub cells: Vec<Cell>,
    /// The cell that was measured last.
    pub newest: Option<Cell>,
    /// What could not be read.
    pub warnings: Vec<String>,
}

/// A subject's rows of the phase and run that count, and the place of that run.
struct Rows {
    phase: usize,
    run: usize,
    outcome: Result<Vec<Summary>, Trouble>,
    role: Role,
    code_bytes: Option<u32>,
}

/// Reads the trials of a folder. Of a subject in a cell, the rows of the finest phase count,
/// and of the newest run among those that have it.
///
/// # Errors
/// Where the file exists and cannot be read at all; damaged lines are told, not errors.
pub fn read(folder: &Folder) -> Result<Recorded, ResultsError> {
    let mut runs: Vec<String> = Vec::new();
    let mut best: HashMap<(Cell, Subject), Rows> = HashMap::new();
    let mut newest = None;
    let mut mixes: Vec<String> = Vec::new();
    let mut warnings = folder.each_trial(|trial| {
        // The explorer walks along sizes, and a mix is none.
        if let Some(mix) = trial.cell.mix {
            if mixes.iter().all(|m| m != mix.name()) {
                mixes.push(mix.name().into());
            }
            return;
        }
        let run = match runs.iter().rposition(|run| *run == trial.run) {
            Some(run) => run,
            None => {
                runs.push(trial.run.clone());
                runs.len() - 1
            }
        };
        if matches!(trial.subject, Subject::Variant(_)) {
            newest = Some(trial.cell);
        }
        let rank = (phase_rank(trial.phase), run);
        let key = (trial.cell, trial.subject.clone());
        match best.get_mut(&key) {
            Some(rows) if (rows.phase, rows.run) > rank => {}
            Some(rows) if (rows.phase, rows.run) == rank => add(rows, &trial),
            _ => {
                let mut rows = Rows {
                    phase: rank.0,
                    run: rank.1,
                    outcome: Ok(Vec::new()),
                    role: trial.role,
                    code_bytes: trial.code_bytes,
                };
                add(&mut rows, &trial);
                best.insert(key, rows);
            }
        }
    })?;
    if !mixes.is_empty() {
        let names = mixes.join(", ");
        warnings.push(format!("mixes of sizes are not explored, `report` shows them: {names}"));
    }
    let times = times(folder, &best, &runs, &mut warnings)?;
    // No raw samples come in, so ticks are never made into times.
    let mut ledger = Ledger::new(1e9);
    let mut cells = Vec::new();
    for ((cell, subject), rows) in best {
        if matches!(subject, Subject::Variant(_)) {
            cells.push(cell);
        }
        let outcome = rows.outcome.map(|rows| together(&rows));
        ledger.put(&cell, subject, (rows.role, rows.code_bytes), outcome);
    }
    for ((cell, subject), times) in times {
        ledger.put_times(&cell, &subject, times);
    }
    cells.sort();
    cells.dedup();
    Ok(Recorded { ledger, cells, newest, warnings })
}

/// Nanoseconds a call of the raw samples that were kept of the rows that count, by cell and
/// subject: gross, so a little above the figures, which are without fences and clock.
fn times(
    folder: &Folder,
    best: &HashMap<(Cell, Subject), Rows>,
    runs: &[String],
    warnings: &mut Vec<String>,
) -> Result<HashMap<(Cell, Subject), Vec<f64>>, ResultsError> {
    let mut times: HashMap<(Cell, Subject), Vec<f64>> = HashMap::new();
    let host = folder.host().unwrap_or_else(|why| {
        warnings.push(why);
        None
    });
    // Without the host there is nobody to say how long a tick takes.
    let Some(tick_hz) = host.map(|host| host.tsc.calibrated_hz).filter(|hz| *hz > 0.0) else {
        return Ok(times);
    };
    let more = folder.each_sample(|sample| {
        let key = (sample.cell, sample.subject);
        let Some(rows) = best.get(&key) else { return };
        if rows.phase == phase_rank(sample.phase) && runs[rows.run] == sample.run {
            let ns = sample.ticks as f64 / f64::from(sample.calls) * 1e9 / tick_hz;
            times.entry(key).or_default().push(ns);
        }
    })?;
    warnings.extend(more);
    Ok(times)
}

/// Later phases measure fewer loops, and those better.
fn phase_rank(phase: Phase) -> usize {
    Phase::ALL.iter().position(|p| *p == phase).unwrap_or(0)
}

fn add(rows: &mut Rows, trial: &RecordedTrial) {
    match (&trial.outcome, &mut rows.outcome) {
        (Ok(summary), Ok(list)) => list.push(*summary),
        (Err(failure), outcome) => {
            *outcome = Err(Trouble {
                unsupported: failure.word == "unsupported",
                text: failure.text.clone(),
                failure: None,
            });
        }
        (Ok(_), Err(_)) => {}
    }
}

/// The rows of one phase as one figure: their logs, weighted by samples. The interval is the
/// mean of the rows' own, which is wider than all samples together would give.
fn together(rows: &[Summary]) -> Known {
    let weight: f64 = rows.iter().map(|r| f64::from(r.samples)).sum();
    let mean = |of: &dyn Fn(&Summary) -> f64| {
        rows.iter().map(|r| of(r) * f64::from(r.samples)).sum::<f64>() / weight.max(1.0)
    };
    let ln = |ns: f64| ns.max(1e-3).ln();
    let ns = (
        mean(&|r| ln(r.median.ns())).exp(),
        mean(&|r| ln(r.ci.0.ns())).exp(),
        mean(&|r| ln(r.ci.1.ns())).exp(),
    );
    let all = rows.iter().all(|r| r.ratio.is_some_and(|ratio| ratio > 0.0));
    let relative = (all && !rows.is_empty()).then(|| {
        let estimate = mean(&|r| -r.ratio.unwrap_or(1.0).ln());
        (estimate, estimate + (ns.1 / ns.0).ln(), estimate + (ns.2 / ns.0).ln())
    });
    Known {
        samples: rows.iter().map(|r| r.samples as usize).sum(),
        ns,
        relative,
        bytes_per_cycle: mean(&|r| r.bytes_per_cycle),
    }
}
