//! Strategies: which candidates of a cell to time next, one a file.
//!
//! A strategy sees a [`Field`]: candidates and what is known of each. It asks for samples, which
//! always come relative to the baseline beside them (but see [`classic`]), and it is a function
//! of the seed and the answers alone.

mod classic;
mod exhaustive;
mod genetic;
mod halving;
mod local;
mod model;
mod random;
mod settings;

pub use settings::{Strategy, StrategyName};

pub(super) use settings::Wording;

use super::field::Field;
use crate::trial::EvaluateError;

/// Samples by which the simple strategies judge a candidate: so many that one disturbed sample
/// is outvoted.
const LOOKS: u32 = 3;

/// Runs the strategy that the settings name, until it is done or its share is used.
///
/// # Errors
/// As the evaluator; what was measured before stays in the field.
pub(super) fn run(field: &mut Field<'_, '_, '_>, settings: &Strategy) -> Result<(), EvaluateError> {
    match settings.name {
        StrategyName::Default => halving::run(field, settings),
        StrategyName::Exhaustive => exhaustive::run(field, settings),
        StrategyName::Random => random::run(field),
        StrategyName::Local => local::run(field),
        StrategyName::Genetic => genetic::run(field),
        StrategyName::Classic => classic::run(field),
    }
}
