//! Where and how a subject is measured.

use serde::{Deserialize, Serialize};

use super::axes::Op;
use super::conditions::Conditions;
use super::extent::{Extent, Mix};
use crate::units::words;

words! {
    /// A level of the memory hierarchy.
    Level {
        /// First-level data cache.
        L1 = "l1",
        /// Second-level cache.
        L2 = "l2",
        /// Last-level cache.
        Llc = "llc",
        /// Memory.
        Dram = "dram",
    }
}

/// Where the lines of a call's buffers are when it starts. A state is a level for each
/// pointer; written `l1` where both are the same, else `src:dst`, as in `dram:l1`; in
/// `dram-dirty` both are in memory and the caches are full of other data that must be written
/// back first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct State {
    /// Where the source is. Equal to `dst` for operations without a source.
    pub src: Level,
    /// Where the destination is.
    pub dst: Level,
    /// Whether the caches are full of lines that were written and never left.
    pub dirty: bool,
}

/// The word of [`State::DRAM_DIRTY`].
const DIRTY: &str = "dram-dirty";

impl State {
    /// Both pointers at one level.
    pub const fn both(level: Level) -> State {
        State { src: level, dst: level, dirty: false }
    }

    /// Both pointers in memory, the caches full of lines that must be written back.
    pub const DRAM_DIRTY: State = State { src: Level::Dram, dst: Level::Dram, dirty: true };

    /// The source at one level, the destination at another.
    pub const fn pair(src: Level, dst: Level) -> State {
        State { src, dst, dirty: false }
    }

    /// The level, where both pointers have the same.
    pub fn level(self) -> Option<Level> {
        (self.src == self.dst).then_some(self.src)
    }

    /// The state of a word such as `l2`, `dram:l1` or `dram-dirty`.
    pub fn from_word(word: &str) -> Option<State> {
        if word == DIRTY {
            return Some(State::DRAM_DIRTY);
        }
        match word.split_once(':') {
            None => Level::from_word(word).map(State::both),
            Some((src, dst)) => Some(State::pair(Level::from_word(src)?, Level::from_word(dst)?)),
        }
    }
}

impl std::fmt::Display for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.level() {
            Some(_) if self.dirty => f.pad(DIRTY),
            Some(level) => f.pad(level.word()),
            None => f.pad(&format!("{}:{}", self.src, self.dst)),
        }
    }
}

words! {
    /// How one call follows another.
    Drive {
        /// Back to back.
        Throughput = "throughput",
        /// The next call waits for a byte read from the last destination.
        Chained = "chained",
    }
}

/// One question: op × size (or mix of sizes) × state × drive × conditions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Cell {
    /// What is done.
    pub op: Op,
    /// The mix that the calls' sizes are drawn from, `None` where all have one size. Calls of a
    /// mix lie as real ones do: 0 to 63 bytes, drawn for each call, are added to both offsets of
    /// the placement.
    pub mix: Option<Mix>,
    /// To how many bytes; of a mix the largest, which its buffers have room for.
    pub size: u64,
    /// Where they are.
    pub state: State,
    /// How calls follow.
    pub drive: Drive,
    /// Where the buffers lie, what backs them, who reads the result and so on.
    pub conditions: Conditions,
}

impl Cell {
    /// A cell under the default conditions.
    pub const fn new(op: Op, size: u64, state: State, drive: Drive) -> Cell {
        Cell { op, mix: None, size, state, drive, conditions: Conditions::DEFAULT }
    }

    /// A cell of these calls with the defaults.
    pub const fn of(op: Op, extent: Extent, state: State, drive: Drive) -> Cell {
        Cell { mix: extent.mix, ..Cell::new(op, extent.size, state, drive) }
    }

    /// How many bytes its calls have.
    pub const fn extent(&self) -> Extent {
        Extent { mix: self.mix, size: self.size }
    }

    /// Bytes the largest call touches: the destination, and the source where there is one.
    pub const fn footprint(&self) -> u64 {
        if self.op.copies() { self.size * 2 } else { self.size }
    }
}

impl std::fmt::Display for Cell {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {} {}", self.op, self.extent(), self.state)?;
        if self.drive != Drive::Throughput {
            write!(f, " {}", self.drive)?;
        }
        for word in self.conditions.words() {
            write!(f, ", {word}")?;
        }
        Ok(())
    }
}
