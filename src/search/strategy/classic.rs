//! Every candidate, its samples in a row.
//!
//! This is how loops are often compared: each is timed so many times in a row, the medians are
//! compared, and no baseline stands beside them. What the machine's clock does between two
//! candidates is then taken for a difference of the candidates. It is here to be compared with.

use rand::seq::SliceRandom;

use super::super::field::Field;
use crate::trial::EvaluateError;

/// Samples of each in a row.
pub(super) const IN_A_ROW: u32 = 7;

/// Visits all candidates once.
pub(super) fn run(field: &mut Field<'_, '_, '_>) -> Result<(), EvaluateError> {
    let mut everyone: Vec<usize> = (0..field.len()).collect();
    everyone.shuffle(field.rng());
    for index in everyone {
        if field.is_used_up() {
            break;
        }
        field.measure_alone(index, IN_A_ROW)?;
    }
    Ok(())
}
