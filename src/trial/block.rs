//! Blocks of samples.

use serde::{Deserialize, Serialize};

use super::body::Body;
use super::countermeasure::Without;
use super::failure::Failure;
use crate::subject::Cell;

/// How thoroughly a body is verified before it is timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Check {
    /// The given size at its placements, and every boundary of the code.
    Quick {
        /// The size that will be timed, in bytes.
        size: u64,
    },
    /// Every n beyond two blocks, all offsets of both pointers modulo 64, sizes over a page.
    Full,
}

/// One subject in a block.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Member {
    /// What runs.
    pub body: Body,
    /// Whether it is timed even though it changes bits (quietens signalling NaNs), and nothing
    /// else.
    pub inexact: bool,
    /// Extra calls per pass, as a fraction of the calls: 0.02 makes the driver do two
    /// per cent more work than it reports. For tests of the statistics.
    pub plant: f64,
}

impl Member {
    /// A member without a plant.
    pub fn new(body: Body) -> Member {
        Member { body, inexact: false, plant: 0.0 }
    }
}

/// The order of members within a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum MemberOrder {
    /// Drawn anew for every block.
    Shuffled,
    /// As given. For tests of independence.
    AsGiven,
}

/// Asks for `layouts` × `blocks` samples of each member.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BlockRequest {
    /// The question.
    pub cell: Cell,
    /// Sizes of the cell's mix, bytes, ascending, each with its probability: what the calls are
    /// drawn from. Empty for a fixed size.
    pub weights: Vec<(u32, f64)>,
    /// Who is measured.
    pub members: Vec<Member>,
    /// Seed of everything the worker draws: orders, slots, distances, ring order.
    pub seed: u64,
    /// How often all members are emitted again at other places, and the buffers placed anew.
    pub layouts: u32,
    /// Blocks (one sample of every member) a layout.
    pub blocks: u32,
    /// Order of members.
    pub order: MemberOrder,
    /// Verification required before the first timing of a body.
    pub check: Check,
    /// How long a pass should take at least, nanoseconds; more calls are made of short ones.
    pub pass_ns: u32,
    /// Stop after this many nanoseconds even if blocks are missing (at least one block is
    /// made of each layout begun); 0: no limit.
    pub limit_ns: u64,
    /// Countermeasures that are left off, to show their traps.
    pub without: Without,
}

/// What disturbed a sample, as far as the system tells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Disturbance {
    /// Involuntary context switches during the block.
    pub switches: u32,
    /// Times the block was repeated before this sample was kept.
    pub repeats: u32,
}

/// One timed pass, of one thread.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// Index into [`BlockRequest::members`].
    pub member: u32,
    /// Which layout of this request, from 0.
    pub layout: u32,
    /// Which block of the layout, from 0.
    pub block: u32,
    /// Which of the threads that ran at once, from 0. Samples of one pass follow each other.
    pub thread: u16,
    /// Time-stamp ticks of the whole pass, driver included.
    pub ticks: u64,
    /// Calls that the pass claims to have made (a plant's extra calls are not among them).
    pub calls: u32,
    /// What disturbed it.
    pub disturbance: Disturbance,
}

/// The clock during a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Clock {
    /// Core cycles per time-stamp tick, median over the request's blocks (from dependent
    /// multiplications).
    pub cycles_per_tick: f64,
    /// Smallest and largest of the same.
    pub range: (f64, f64),
    /// The same from dependent additions, for cross-checking.
    pub add_cycles_per_tick: f64,
    /// Independent additions a core cycle, median over the request's blocks.
    pub additions_per_cycle: f64,
    /// Part of the blocks in which another thread had much of the core, 0 to 1.
    pub shared: f64,
    /// Ticks of a pass without a call, and ticks of the driver a call: what is subtracted
    /// from printed (never from compared) times.
    pub pass_ticks: f64,
    /// See `pass_ticks`.
    pub call_ticks: f64,
}

/// The answer to a [`BlockRequest`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BlockResult {
    /// Samples, in the order they were made.
    pub samples: Vec<Sample>,
    /// Why a member has no samples; one entry a failed member.
    pub failures: Vec<(u32, Failure)>,
    /// The clock.
    pub clock: Clock,
    /// Blocks that stayed disturbed however often they were repeated.
    pub disturbed: u32,
}
