//! Where the caches end, measured: the latency of a dependent chase through every line of a
//! footprint rises in steps as the footprint grows past each cache. What CPUID tells is a
//! claim; in a guest the last level that a core can reach may be a tenth of it.
//!
//! `survey` chooses footprints, a `Probe` gives their latencies (the real one
//! is `Chase`), `find` sees plateaus and edges in them, and
//! [`Reckoned::of`] decides which sizes states are made of. Only the probe touches memory.

mod chase;
mod find;
mod reckon;
mod survey;

use serde::{Deserialize, Serialize};

pub use chase::measure_edges;
pub use reckon::{CacheSizes, Reckoned};

/// How long the survey may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Thoroughness {
    /// A tenth of a second, a quarter on a busy machine: before a search.
    Quick,
    /// Two seconds at most: finer steps, and other pages for each round.
    Thorough,
}

/// The end of a cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Edge {
    /// The footprint at which half of the way to the next level's latency is gone, bytes.
    pub bytes: u64,
    /// The largest footprint up to which all are clearly inside, bytes.
    pub low: u64,
    /// The smallest from which on all are clearly outside, bytes; `None` where none was walked
    /// that is: the cache is at least `low`.
    pub high: Option<u64>,
}

/// What was found of one cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Found {
    /// Its end.
    Edge(Edge),
    /// Behind the level before it there is memory.
    Absent,
    /// The latencies do not tell: too much noise, or no time.
    #[default]
    Unclear,
}

/// A footprint and its latency.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// Bytes walked through, a line after another in random order.
    pub bytes: u64,
    /// Nanoseconds a hop, median.
    pub ns: f64,
    /// What translations take of it, nanoseconds: what a chase through one line a page of as
    /// many pages takes more than one through as few lines without that.
    pub translation_ns: f64,
}

impl Point {
    /// Nanoseconds a hop without what translations take.
    fn cache_ns(&self) -> f64 {
        (self.ns - self.translation_ns).max(self.ns / MOST_TRANSLATION)
    }
}

/// A chase is believed to take at most so many times what its caches take: a translation that
/// seems to be all of a latency is noise.
const MOST_TRANSLATION: f64 = 4.0;

/// The caches as far as this core reaches them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Edges {
    /// First-level data cache.
    pub l1d: Found,
    /// Second-level cache.
    pub l2: Found,
    /// Last-level cache.
    pub llc: Found,
    /// Nanoseconds of an access to a line that was flushed from all caches.
    pub memory_ns: f64,
    /// What it was found from, by footprint.
    pub curve: Vec<Point>,
}
