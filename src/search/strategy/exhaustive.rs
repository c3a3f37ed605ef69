//! Every candidate, as often as is asked.

use std::collections::HashSet;

use rand::seq::SliceRandom;

use super::super::field::{Field, Looks};
use super::settings::Strategy;
use crate::trial::EvaluateError;

/// Where the budget may end before all were looked at, so many of every kind come first.
const FIRST: usize = 48;

/// Visits all candidates, once or several times, each time in a new order. With several visits
/// each sample is of a layout of its own; with one, the samples in l1 are of one layout, which is
/// what a look at thousands can afford.
pub(super) fn run(field: &mut Field<'_, '_, '_>, settings: &Strategy) -> Result<(), EvaluateError> {
    // Where the user set no budget, all are looked at, however long it takes.
    let stoppable = field.is_strict() || !field.is_cheap();
    let rounds = settings.screen_rounds;
    let looks = match (settings.epochs > 1, field.rounds_are_cheap()) {
        (true, _) => Looks { layouts: rounds, blocks: 1, stoppable: field.is_strict() },
        (false, true) => Looks { layouts: 1, blocks: rounds, stoppable },
        (false, false) => Looks { layouts: 1, blocks: 1, stoppable },
    };
    for epoch in 0..settings.epochs {
        if settings.epochs > 1 {
            field.begin_epoch(epoch);
        }
        let mut everyone = if looks.stoppable { field.subset(FIRST) } else { Vec::new() };
        let first: HashSet<usize> = everyone.iter().copied().collect();
        let mut rest = field.everyone();
        rest.retain(|i| !first.contains(i));
        if looks.stoppable {
            // Those past the caches would come last, and the budget may end before them.
            rest.shuffle(field.rng());
        }
        everyone.extend(rest);
        field.measure(&everyone, looks)?;
    }
    Ok(())
}
