//! Where and how a subject is measured.

use serde::{Deserialize, Serialize};

use super::axes::Op;
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
/// pointer; written `l1` where both are the same, else `src:dst`, as in `dram:l1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct State {
    /// Where the source is. Equal to `dst` for operations without a source.
    pub src: Level,
    /// Where the destination is.
    pub dst: Level,
}

impl State {
    /// Both pointers at one level.
    pub const fn both(level: Level) -> State {
        State { src: level, dst: level }
    }

    /// The level, where both pointers have the same.
    pub fn level(self) -> Option<Level> {
        (self.src == self.dst).then_some(self.src)
    }

    /// The state of a word such as `l2` or `dram:l1`.
    pub fn from_word(word: &str) -> Option<State> {
        match word.split_once(':') {
            None => Level::from_word(word).map(State::both),
            Some((src, dst)) => {
                Some(State { src: Level::from_word(src)?, dst: Level::from_word(dst)? })
            }
        }
    }
}

impl std::fmt::Display for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.level() {
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

words! {
    /// Page backing of the buffers.
    Pages {
        /// 4 KiB pages (`MADV_NOHUGEPAGE`).
        Small = "4k",
    }
}

words! {
    /// Who reads the destination inside the timed region.
    Consumer {
        /// Nobody.
        None = "none",
    }
}

/// Addresses of the buffers, as far as loops can feel them. Bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Placement {
    /// Destination modulo 64.
    pub dst: u8,
    /// Source modulo 64.
    pub src: u8,
    /// (dst − src) modulo 4096 where fixed (a multiple of 64, before the offsets above are
    /// added); `None`: redrawn from the multiples of 64 at each layout.
    pub delta: Option<u16>,
}

impl Placement {
    /// Both pointers at multiples of 64, their distance redrawn.
    pub const ALIGNED: Placement = Placement { dst: 0, src: 0, delta: None };
}

/// One question: op × size (or mix of sizes) × state × drive × placement × pages × consumer.
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
    /// Where the buffers lie.
    pub placement: Placement,
    /// What backs them.
    pub pages: Pages,
    /// Who reads the result.
    pub consumer: Consumer,
}

impl Cell {
    /// A cell with the defaults: multiples of 64, 4 KiB pages, no consumer.
    pub const fn new(op: Op, size: u64, state: State, drive: Drive) -> Cell {
        Cell {
            op,
            mix: None,
            size,
            state,
            drive,
            placement: Placement::ALIGNED,
            pages: Pages::Small,
            consumer: Consumer::None,
        }
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
        Ok(())
    }
}
