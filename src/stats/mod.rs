//! Pure statistics of paired samples: no clock, no host, randomness only as handed in.

mod holm;
mod paired;
mod robust;
mod share;
mod verdict;

pub use holm::holm_rejects;
pub use paired::{Interval, Paired, RESAMPLES, median, trimmed_mean};
pub use robust::{Regret, is_as_good, least_regrets, undominated};
pub use share::Share;
pub use verdict::{Verdict, surer};
