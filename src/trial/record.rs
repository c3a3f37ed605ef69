//! What is told of each measured subject.

use serde::{Deserialize, Serialize};

use super::block::{Clock, Sample};
use super::failure::Failure;
use crate::subject::{Cell, Subject};
use crate::units::{Picos, words};

words! {
    /// Which part of a run a trial belongs to.
    Phase {
        /// First look at many candidates.
        Screen = "screen",
        /// Leaders of every cell, in every cell: picks the finalists.
        Heat = "heat",
        /// Finalists on fresh data, across cells.
        Race = "race",
        /// The winner against the baselines.
        Confirm = "confirm",
        /// Subjects that a person named.
        Bench = "bench",
    }
}

words! {
    /// What a subject is in a trial.
    Role {
        /// A candidate of the search, or a subject named for a bench.
        Candidate = "candidate",
        /// What candidates are compared with.
        Baseline = "baseline",
    }
}

/// Times of one subject in one trial, without what fences and clock take of a pass.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Samples behind it.
    pub samples: u32,
    /// Median time of a call.
    pub median: Picos,
    /// 95 % interval of the same; where there are too few samples for one, the extremes.
    pub ci: (Picos, Picos),
    /// Median ratio baseline time / subject time (gross, paired by block) against the first
    /// baseline of the trial; above 1 the subject is faster. `None` without one.
    pub ratio: Option<f64>,
    /// Bytes of the op a core cycle.
    pub bytes_per_cycle: f64,
}

/// One subject measured once: a row of the results.
#[derive(Clone, Debug)]
pub struct Trial<'a> {
    /// Which part of the run.
    pub phase: Phase,
    /// What the subject is here.
    pub role: Role,
    /// Where it was measured.
    pub cell: Cell,
    /// What was measured.
    pub subject: &'a Subject,
    /// Length of its code in bytes, where it is ours.
    pub code_bytes: Option<u32>,
    /// Whether the full verification had passed; quick always has where there are times.
    pub fully_verified: bool,
    /// Times, or why there are none.
    pub outcome: Result<Summary, Failure>,
    /// The raw samples (all of this subject).
    pub samples: &'a [Sample],
    /// The clock while they were made.
    pub clock: Clock,
}

/// Where a run stands, for people.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// The cell in work.
    pub cell: Cell,
    /// Its phase.
    pub phase: Phase,
    /// Part of the whole command's budget that is used, 0 to 1.
    pub fraction: f64,
    /// Candidates timed so far in the cell and phase, and how many there are.
    pub done: (u64, u64),
    /// The subject in the lead and its ratio to the first baseline, once there is one.
    pub leader: Option<(String, f64)>,
}
