//! Pure statistics of paired samples.

mod verdict;

pub use verdict::Verdict;
