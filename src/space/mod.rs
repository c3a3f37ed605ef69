//! Which combinations of axis values exist: rules of the loop with their reasons, what a
//! host must have, and the enumeration of a space with the count of what each rule takes.

mod constraints;
mod enumerate;
mod explain;
mod random;
mod strata;
mod support;

pub use constraints::{Broken, RULES, Rule, check, check_all};
pub use enumerate::{Census, Points, Space};
pub use explain::{Explanation, explain};
pub use random::random;
pub use strata::{Stratum, Unrolled, strata, stratified};
pub use support::{Unsupported, features_of, supported};
