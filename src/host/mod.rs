//! Facts about this machine.

mod feature;

pub use feature::{Feature, FeatureSet};
