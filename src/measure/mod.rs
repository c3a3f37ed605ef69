//! How long does it take: priming, the generated pass driver, the clock, the ruler, and
//! blocks of samples. Only [`crate::verify::Verified`] code is run.
//!
//! [`state_exists`] and [`Ring`] are pure: a planner asks them which states a size can be
//! in. [`Instruments`] is made once a process, [`Rig`] (the buffers) once a cell, and
//! [`run_blocks`] answers one request with them.

#![allow(unsafe_code, reason = "timed code is called, and its buffers are touched, by address")]

mod block;
mod buffers;
mod calls;
mod draw;
mod driver;
mod edges;
mod instruments;
mod mixed;
mod noise;
mod prime;
mod ring;
mod sequence;

pub use block::{Contender, run_blocks};
pub use buffers::Rig;
pub use draw::{layout, member_order, visit_order};
pub use edges::{CacheSizes, Edge, Edges, Found, Point, Reckoned, Thoroughness, measure_edges};
pub use instruments::{Instruments, step_of};
pub use ring::{Levels, Ring, state_exists};
pub use sequence::{SEQUENCE, Sequence};

/// Why nothing could be measured.
#[derive(Debug, thiserror::Error)]
pub enum MeasureError {
    /// The state does not exist for the cell here; the text says why.
    #[error("{0}")]
    NoState(String),
    /// The generated driver could not be put into memory.
    #[error("the pass driver could not be made: {why}")]
    Driver {
        /// What happened.
        why: String,
    },
    /// Memory was refused.
    #[error(transparent)]
    Memory(#[from] crate::mem::MemError),
    /// Huge pages back the buffers although small ones were asked for.
    #[error(
        "{bytes} bytes of the buffers are backed by huge pages although small ones were asked for"
    )]
    HugePages {
        /// How many bytes.
        bytes: u64,
    },
}
