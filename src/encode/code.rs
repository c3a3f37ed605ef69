//! An encoded function.

use std::ops::Range;

use crate::host::FeatureSet;
use crate::ir::Item;
use crate::trial::{Contract, Machine};

/// An item and where it landed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placed {
    /// The item; padding appears as the nops it became, right before its `LoopTop`.
    pub item: Item,
    /// Offset of its first byte from the entry.
    pub offset: u32,
    /// Its bytes; 0 for labels and parts.
    pub len: u8,
}

/// An encoded function with everything that is known of it. The entry stands at a multiple
/// of 64.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Code {
    /// Machine code.
    pub bytes: Vec<u8>,
    /// Items in order, with their places.
    pub placed: Vec<Placed>,
    /// Bytes of the main loop, top to past the backward jump; `None` without a loop.
    pub loop_range: Option<Range<u32>>,
    /// Every n at which another path is taken than for n − 1, ascending.
    pub boundaries: Vec<u64>,
    /// What the processor must have, derived from the instructions.
    pub features: FeatureSet,
    /// What the function promises.
    pub contract: Contract,
    /// The one size that it is for, bytes; `None`: any.
    pub fixed: Option<u64>,
    /// Whether it has non-temporal stores.
    pub leaves_cache: bool,
}

impl Code {
    /// What a worker needs of it.
    pub fn machine(&self) -> Machine {
        Machine {
            bytes: self.bytes.clone(),
            loop_top: self.loop_range.as_ref().map(|r| r.start),
            boundaries: self.boundaries.clone(),
            contract: self.contract,
            fixed: self.fixed,
            leaves_cache: self.leaves_cache,
        }
    }
}
