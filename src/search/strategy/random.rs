//! Candidates drawn evenly.

use rand::seq::SliceRandom;

use super::super::field::{Field, Looks};
use super::LOOKS;
use crate::trial::EvaluateError;

/// Looks at candidates in a random order until the share is used.
pub(super) fn run(field: &mut Field<'_, '_, '_>) -> Result<(), EvaluateError> {
    let mut everyone: Vec<usize> = (0..field.len()).collect();
    everyone.shuffle(field.rng());
    field.measure(&everyone, Looks::of(LOOKS))
}
