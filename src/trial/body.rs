//! What a worker is asked to run: bytes or the name of somebody's function, never an id.

use serde::{Deserialize, Serialize};

use crate::subject::Contract;

/// Machine code of one function.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Machine {
    /// The function, from its entry. The entry must stand at a multiple of 64.
    pub bytes: Vec<u8>,
    /// Offset of the top of the main loop; `None` where there is no loop.
    pub loop_top: Option<u32>,
    /// Every n at which the function takes another path than for n − 1, ascending.
    pub boundaries: Vec<u64>,
    /// What it promises.
    pub contract: Contract,
    /// The one size that it is for, bytes; `None`: any.
    pub fixed: Option<u64>,
    /// Whether its stores leave the cache (non-temporal), so that calling it again on the
    /// same buffer does not find the buffer where a plain store leaves it.
    pub leaves_cache: bool,
}

/// What a worker can run.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Body {
    /// Generated code.
    Machine(Machine),
    /// `memcpy` / `memset` of the worker's own C library.
    Libc,
    /// The same with other settings, which a process of their own must start with.
    LibcTuned,
    /// A function of a shared object.
    Foreign {
        /// Path of the shared object.
        path: String,
        /// Name of the function.
        symbol: String,
    },
}

impl Body {
    /// Whether repeating on one buffer would flatter it; foreign code is taken at its word
    /// as plain (its own thresholds decide, and nobody can see them from here).
    pub fn leaves_cache(&self) -> bool {
        matches!(self, Body::Machine(m) if m.leaves_cache)
    }
}
