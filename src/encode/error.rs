//! Why there are no bytes.

use crate::ir::{Insn, Label};
use crate::space::Broken;

/// A function that cannot be encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EncodeError {
    /// The processor has no such instruction, or looptune does not write it.
    #[error("no encoding of {insn:?}: {why}")]
    Operand {
        /// The instruction.
        insn: Insn,
        /// What is wrong with it, and what would be right.
        why: &'static str,
    },
    /// A jump to a place that is not there.
    #[error("a jump goes to label {}, which is nowhere in the function", .0.name())]
    UnknownLabel(Label),
    /// One name for two places.
    #[error("label {} stands at two places of the function", .0.name())]
    DuplicateLabel(Label),
    /// An alignment that padding cannot make.
    #[error(
        "a loop top at {skew} modulo {modulus}: the modulus is 1, 16, 32 or 64, the skew is below it"
    )]
    LoopTop {
        /// Its modulus.
        modulus: u8,
        /// Its skew.
        skew: u8,
    },
}

/// A variant that has no code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CompileError {
    /// Its axis values contradict each other.
    #[error(transparent)]
    Lower(#[from] Broken),
    /// Its function has no encoding.
    #[error(transparent)]
    Encode(#[from] EncodeError),
}
