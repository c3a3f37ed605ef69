//! The bzeros by state.

use super::Made;
use super::contests::{Contests, Planned, cells, subjects};
use crate::report::history::{BZERO_RBW, BzeroTable};
use crate::subject::Op;

/// The first is what the others are measured by; the loops of the read follow each other.
const BZEROS: &[&str] = &[
    "generic_bzero",
    "i486_bzero",
    BZERO_RBW[0],
    BZERO_RBW[1],
    BZERO_RBW[2],
    "i586_bzero_fp",
    "libc",
];

/// A page: all states exist for it.
const SIZE: u64 = 4096;

/// Seconds of a state.
const SECONDS: f64 = 4.0;

pub(super) fn make(contests: &mut Contests<'_>) -> anyhow::Result<Made> {
    let plans = cells(Op::Zero, vec![SIZE], contests.session);
    let mut planned = Vec::new();
    for cell in plans.iter().flat_map(|plan| &plan.cells) {
        planned.push(Planned { cell: *cell, subjects: subjects(BZEROS)?, seconds: SECONDS });
    }
    let done = contests.run(planned)?;
    let cells = done.into_iter().map(|done| done.with_pairs(BzeroTable::pairs)).collect();
    let table = BzeroTable { cells };
    Ok(Made { page: table.page(), records: table.records() })
}
