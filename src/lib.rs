//! looptune writes copy and zero loops in x86-64 machine code at run time, times every
//! variant on the host it stands on, and emits the best one as assembly source that
//! reproduces the tuned bytes.
//!
//! The modules below stand in layer order. A module imports only from modules of a lower
//! layer; modules of one layer never see each other. `tests/layers.rs` enforces it.
//!
//! Generated code is called in a child process only ([`worker`]); the parent plans,
//! encodes, judges and reports.

// L0: vocabulary without opinions
pub mod stats;
pub mod units;
// L1: what is measured, and where
pub mod host;
pub mod subject;
// L2: what a measurement is; loop families
pub mod template;
pub mod trial;
// L3: which combinations exist
pub mod space;
// L4: a variant as instructions
pub mod ir;
// L5: instructions as bytes
pub mod encode;
// L6: bytes as text; memory to run them in
pub mod mem;
pub mod print;
// L7: the only call into generated code
pub mod jit;
// L8: is it right
pub mod verify;
// L9: how long does it take
pub mod measure;
// L10: the child process and its client
pub mod worker;
// L11: which one is best
pub mod search;
// L12: what is kept
pub mod results;
// L13: what is handed out
pub mod export;
pub mod report;
// L14: what is looked at
pub mod explore;
// L15: the command line
pub mod cli;
