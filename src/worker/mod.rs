//! The child process that runs generated code, and the parent's handle on it.
//!
//! [`run_child`] is the child: it reads requests from its standard input, and answers on its
//! standard output. [`Client`] is the parent's side, and an
//! [`Evaluator`](crate::trial::Evaluator): code that crashes or hangs takes the child with
//! it, never the parent; the page that both share says whose code it was, a fresh child
//! goes on with the others.

mod child;
mod client;
mod crew;
mod link;
mod memory;
mod protocol;
mod tuning;

pub use child::{ChildError, run_child};
pub use client::{Client, ClientOptions, WorkerFacts};
pub use crew::Crew;
pub use tuning::{TUNABLES, Thresholds, Tuning};
