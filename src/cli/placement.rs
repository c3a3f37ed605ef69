//! `--placement`: loops with their buffers at other addresses, after what was asked first.

use super::bench::course::PartOf;
use super::progress::ProgressLine;
use super::session::Session;
use crate::search::{
    Budget, Candidate, CellOutcome, Entrant, Placed, SearchOutcome, SizeOutcome, Sweep, SweepJob,
    baseline_entrant, candidate_entrant, sweep,
};
use crate::subject::{Baseline, Cell, Variant};
use crate::trial::EvaluateError;

/// Seconds that a cell gets for a placement where nothing is asked.
const PLACEMENT_SECONDS: f64 = 0.08;

/// Finalists of a cell that are placed, the winner first.
const FINALISTS: usize = 4;

/// Cells with those who are placed in them.
pub(super) type Fields = Vec<(Cell, Vec<Entrant>)>;

/// What a sweep over some cells takes.
pub(super) struct Sweeping<'a> {
    pub(super) sweep: &'a Sweep,
    /// What all of it may spend; `None`: a default a placement.
    pub(super) budget: Option<Budget>,
    pub(super) seed: u64,
}

/// The finalists of each cell: its winner, the robust choice, ties; beside them the C
/// library's function.
pub(super) fn finalists(outcome: &SearchOutcome, candidates: &[Candidate]) -> Fields {
    let mut fields = Vec::new();
    for size in &outcome.sizes {
        for cell in size.cells.iter().filter(|c| c.winner.is_some()) {
            let of_cell = field(size, cell);
            let known = |v: &Variant| candidates.iter().find(|c| c.variant == *v);
            let loops = of_cell.iter().filter_map(known).map(|c| candidate_entrant(c, true));
            let libc = baseline_entrant(Baseline::Libc, outcome.op);
            fields.push((cell.cell, loops.chain(libc).collect()));
        }
    }
    fields
}

fn field(size: &SizeOutcome, cell: &CellOutcome) -> Vec<Variant> {
    let winner = cell.winner.iter().map(|w| w.variant);
    let robust = size.robust.iter().map(|r| r.variant);
    let mut field: Vec<Variant> = Vec::new();
    for variant in winner.chain(robust).chain(cell.ties.iter().copied()) {
        if field.len() < FINALISTS && !field.contains(&variant) {
            field.push(variant);
        }
    }
    field
}

/// Places them, and what must be said besides. After an interruption what is whole is given.
///
/// # Errors
/// As the evaluator.
pub(super) fn place_all(
    fields: Fields,
    sweeping: &Sweeping<'_>,
    session: &mut Session,
    quiet: bool,
) -> anyhow::Result<(Vec<Placed>, Vec<String>)> {
    let mut notes = Vec::new();
    // Calls of a mix have offsets of their own, drawn for each.
    let (mixed, fixed): (Fields, Fields) =
        fields.into_iter().partition(|(cell, _)| cell.mix.is_some());
    if !mixed.is_empty() {
        notes.push(
            "placements are not swept for mixes of sizes: each of their calls has offsets of its own"
                .to_string(),
        );
    }
    let all = fixed.len();
    let mut line = PartOf { line: ProgressLine::new(quiet), begun: 0, all: all as f64 };
    let mut found = Vec::new();
    for (cell, entrants) in fixed {
        let placements = sweeping.sweep.placements(cell.op);
        let budget = match sweeping.budget {
            None => Budget::Seconds(PLACEMENT_SECONDS * placements.len() as f64),
            Some(whole) => whole.part(1.0 / all as f64),
        };
        let job = SweepJob {
            cell,
            entrants,
            placements,
            budget,
            seed: sweeping.seed.wrapping_add(u64::from(line.begun)),
            tick_hz: session.host.tsc.calibrated_hz,
        };
        match sweep(&job, &mut session.client, &mut line) {
            Err(EvaluateError::Interrupted) => {
                notes.push(format!("interrupted: {} of {all} sweeps are here", found.len()));
                break;
            }
            placed => found.push(placed?),
        }
        line.begun += 1;
    }
    line.line.finish();
    Ok((found, notes))
}
