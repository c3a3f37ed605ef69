//! Instructions, and the lowering of a variant to them.
//!
//! A [`Function`] is a list of [`Item`]s. The one list has two faces: `encode` makes bytes
//! of it and `print` makes text; features, boundaries and counts are derived from it.

mod features;
mod insn;
mod lower;

pub use features::{features, leaves_cache};
pub use insn::{
    Cond, Function, Gp, Insn, Item, Label, Mem, Part, RepOp, Vec, VecEncoding, VecMove, Width, X87,
};
pub use lower::lower;
