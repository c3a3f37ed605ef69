//! Memory to run generated code on and in: anonymous maps whose page backing can be asked
//! for and checked ([`Map`]), buffers between guard pages ([`Guarded`]), an arena for code
//! that is never writable and executable at once ([`Arena`]), and the page through which a
//! worker tells its parent what is in flight ([`SharedPage`]).
#![allow(unsafe_code, reason = "maps, protections and atomics in shared memory are raw addresses")]

mod arena;
mod guarded;
mod map;
mod shared;

pub use arena::{Arena, Slot};
pub use guarded::Guarded;
pub use map::{Map, PAGE, Protection};
pub use shared::{Activity, SharedPage};

/// Why there is no memory.
#[derive(Debug, thiserror::Error)]
pub enum MemError {
    /// The system refused to map so much.
    #[error("the system refused to map {bytes} bytes of memory")]
    Map {
        /// Bytes asked for.
        bytes: usize,
        /// The system's reason.
        source: std::io::Error,
    },
    /// A map of nothing, or of more than there are addresses.
    #[error("a map of {bytes} bytes cannot be; give from 1 byte to what the machine has")]
    Length {
        /// Bytes asked for.
        bytes: usize,
    },
    /// The system refused another protection.
    #[error("the system refused to make {bytes} bytes {what}")]
    Protect {
        /// Bytes concerned.
        bytes: usize,
        /// The protection: `writable`, `executable`, `inaccessible`.
        what: &'static str,
        /// The system's reason.
        source: std::io::Error,
    },
    /// The system refused a page backing.
    #[error("the system refused small pages for a map of {bytes} bytes")]
    Advise {
        /// Bytes concerned.
        bytes: usize,
        /// The system's reason.
        source: std::io::Error,
    },
    /// The system refused huge pages.
    #[error(
        "the system refused huge pages for a map of {bytes} bytes; transparent huge pages must be \
         built into the kernel (/sys/kernel/mm/transparent_hugepage)"
    )]
    NoHuge {
        /// Bytes concerned.
        bytes: usize,
        /// The system's reason.
        source: std::io::Error,
    },
    /// The system would not take pages back.
    #[error("the system refused to take back the pages of a map of {bytes} bytes")]
    Discard {
        /// Bytes concerned.
        bytes: usize,
        /// The system's reason.
        source: std::io::Error,
    },
    /// A batch of code is larger than the arena.
    #[error(
        "a batch of {codes} functions needs {needed} bytes, the arena has {capacity}; \
             emit fewer at once"
    )]
    BatchTooLarge {
        /// Functions in the batch.
        codes: usize,
        /// Bytes they need, each rounded up to whole lines.
        needed: usize,
        /// Bytes of the arena.
        capacity: usize,
    },
    /// The shared page could not be made.
    #[error("the page shared with the worker could not be made")]
    SharedCreate {
        /// The system's reason.
        source: std::io::Error,
    },
    /// The shared page could not be opened.
    #[error("`{path}` is no page shared by a parent: {source}")]
    SharedOpen {
        /// The path tried.
        path: String,
        /// The system's reason.
        source: std::io::Error,
    },
}
