//! The only call into generated or foreign code: entries and their calling conventions
//! ([`Entry`], [`Abi`]), functions of the C library and of shared objects ([`libc_entry`],
//! [`open`]), a call that watches every register ([`Trampoline`]) and a call that watches
//! nothing, for timing ([`call_pass`]).
//!
//! What a called function does cannot be proven here: finding it out is the purpose. So
//! these calls belong in a worker process, whose death is an ordinary answer.
#![allow(unsafe_code, reason = "calling bytes that were made at run time cannot be checked")]

mod emit;
mod entry;
mod image;
mod library;
mod resolved;
mod trampoline;

pub use entry::{Abi, Entry, call_pass};
pub use image::RegisterImage;
pub use library::{Library, libc_entry, libc_name, open};
pub use resolved::{Resolved, libc_resolved};
pub use trampoline::Trampoline;

use crate::mem::MemError;

/// Why a function cannot be called.
#[derive(Debug, thiserror::Error)]
pub enum JitError {
    /// No memory for a trampoline.
    #[error(transparent)]
    Mem(#[from] MemError),
    /// The C library does not give out the function.
    #[error("the running C library does not export `{symbol}`")]
    Libc {
        /// The function.
        symbol: &'static str,
    },
    /// The C library has no function that does the op.
    #[error("the C library has no function that does a {op} and nothing else")]
    NoLibc {
        /// The op.
        op: crate::subject::Op,
    },
    /// There is no such file.
    #[error("there is no file `{path}`; give the path of a shared object, as in ./mine.so:name")]
    NoFile {
        /// The path given.
        path: String,
    },
    /// The file cannot be loaded.
    #[error(
        "`{path}` cannot be loaded as an x86-64 shared object ({why}); \
             build one with `cc -shared -fPIC -o mine.so mine.c`"
    )]
    NotShared {
        /// The path given.
        path: String,
        /// The loader's reason.
        why: String,
    },
    /// The file has no such function.
    #[error("`{path}` exports no `{symbol}`; `nm -D {path}` lists what it does export")]
    NoSymbol {
        /// The path given.
        path: String,
        /// The name given.
        symbol: String,
    },
    /// An instruction of a trampoline has no encoding.
    #[error("a trampoline cannot be encoded: {0}")]
    Encode(String),
    /// The bytes of a call are not all inside its buffers.
    #[error("{n} bytes from {at} do not fit a buffer of {len} bytes")]
    OutsideBuffer {
        /// Offset of the first byte.
        at: usize,
        /// Number of bytes.
        n: usize,
        /// Bytes of the buffer.
        len: usize,
    },
}
