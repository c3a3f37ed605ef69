//! What is to be said of a search when it is over.

use super::super::bench::clock::clocks;
use super::super::session::Session;
use crate::search::{Candidate, SearchOutcome, candidate_entrant, read_ceiling};
use crate::subject::Variant;
use crate::trial::{EvaluateError, Without};

/// Winners that are faster than their source can be read. An interruption ends the looking.
pub(super) fn exceeding(
    outcome: &SearchOutcome,
    session: &mut Session,
) -> anyhow::Result<Vec<String>> {
    let clock = (session.host.tsc.calibrated_hz, outcome.seed);
    let mut warnings = Vec::new();
    for found in outcome.sizes.iter().flat_map(|s| &s.cells) {
        let Some(winner) = &found.winner else { continue };
        let usable = session.host.usable;
        match read_ceiling(&found.cell, Without::NOTHING, usable, clock, &mut session.client) {
            Ok(None) => {}
            Ok(Some(ceiling)) => {
                let name = winner.variant.to_string();
                warnings.extend(ceiling.warning(&found.cell, &name, winner.ns));
            }
            Err(EvaluateError::Interrupted) => break,
            Err(e) => return Err(e.into()),
        }
    }
    Ok(warnings)
}

/// The clock where it is lower while a winner of wide vectors runs.
pub(super) fn lower_clock(
    outcome: &SearchOutcome,
    candidates: &[Candidate],
    session: &mut Session,
) -> anyhow::Result<Vec<String>> {
    let cells = outcome.sizes.iter().flat_map(|s| &s.cells);
    let winners: Vec<Variant> = cells.filter_map(|c| Some(c.winner.as_ref()?.variant)).collect();
    let of_winner = |c: &&Candidate| winners.contains(&c.variant);
    let entrants = candidates.iter().filter(of_winner).map(|c| candidate_entrant(c, true));
    let clocks = clocks(outcome.op, &entrants.collect::<Vec<_>>(), session)?;
    let lower = clocks.iter().filter(|c| c.drop().is_some());
    Ok(lower.map(|c| format!("{}; --max-vector keeps it up", c.sentence())).collect())
}

/// Workers that were lost beside those that a candidate took with it.
pub(super) fn lost_workers(outcome: &SearchOutcome, lost: u64) -> Option<String> {
    let cells = outcome.sizes.iter().flat_map(|s| &s.cells);
    let explained: u64 = cells.map(|c| c.excluded.crashed + c.excluded.hung).sum();
    let unexplained = lost.saturating_sub(explained);
    (unexplained > 0).then(|| {
        format!(
            "workers ended {unexplained} times for no fault of a candidate's (killed from \
             outside, or out of memory); what they were measuring was measured again"
        )
    })
}
