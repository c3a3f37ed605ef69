//! The child process that runs generated code, and the parent's handle on it.
//!
//! [`run_child`] is the child: it reads requests from its standard input, and answers on its
//! standard output. [`Client`] is the parent's side, and an
//! [`Evaluator`](crate::trial::Evaluator): code that crashes or hangs takes the child with
//! it, never the parent; the page that both share says whose code it was, a fresh child
//! goes on with the others.

mod child;
mod client;
mod link;
mod memory;
mod protocol;
mod tuning;
mod workers;

pub use child::{ChildError, run_child};
pub use client::{Client, ClientOptions, WorkerFacts};
pub use tuning::{TUNABLES, Thresholds, Tuning};
pub use workers::Workers;
