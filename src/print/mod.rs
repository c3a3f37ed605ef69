//! Instructions and functions as text. Written from the instruction, never by disassembling
//! its bytes, so that text and bytes can judge each other.

mod att;
mod gas;
mod listing;
mod register;

pub use att::{att, nop_mnemonic};
pub use gas::{Line, gas_body};
pub use listing::listing;
