//! How long does it take: priming, the generated pass driver, the clock, the ruler, and
//! blocks of samples. Only [`crate::verify::Verified`] code is run.
//!
//! [`state_exists`] and [`Ring`] are pure: a planner asks them which states a size can be
//! in. [`Instruments`] is made once a process, [`Rig`] (the buffers) once a cell, and
//! [`run_blocks`] answers one request with them.

#![allow(unsafe_code, reason = "timed code is called, and its buffers are touched, by address")]

mod apart;
mod backing;
mod block;
mod buffers;
mod calls;
mod crew;
mod draw;
mod driver;
mod edges;
mod gate;
mod instruments;
mod mixed;
mod noise;
mod pass;
mod prime;
mod ring;
mod sequence;
mod without;

pub use apart::{Apart, Side};
pub use block::{Contender, run_blocks};
pub use buffers::Rig;
pub use crew::rigs;
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
    /// Small pages back the buffers although huge ones were asked for.
    #[error(
        "only {huge} of {bytes} bytes of the buffers are backed by pages of 2 MiB; \
         /sys/kernel/mm/transparent_hugepage/enabled says `{mode}`: it must be madvise or always, \
         and enough memory must be free in one piece (as root: echo 1 > /proc/sys/vm/compact_memory)"
    )]
    SmallPages {
        /// Bytes asked for.
        bytes: usize,
        /// Bytes that huge pages back.
        huge: u64,
        /// What the system file says.
        mode: String,
    },
    /// A thread could not be had.
    #[error("a thread that should make the same calls could not be had: {why}")]
    Thread {
        /// What happened.
        why: String,
    },
    /// Calls found pages that were there already although fresh ones were asked for.
    #[error(
        "a pass that should fault in {pages} fresh pages made {faults} page faults: the system \
         brings in more than a page at once, or keeps pages that were given back"
    )]
    NotFresh {
        /// Pages that the calls of the pass write first.
        pages: u64,
        /// Faults that were counted.
        faults: u64,
    },
}
