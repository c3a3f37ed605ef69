//! Functions as bytes: branch forms, padding, addresses.

mod branch;
mod code;
mod encoder;
mod error;
mod insn;
mod known;
mod labels;
mod one;
mod rare;

pub use branch::nop_bytes;
pub use code::{Code, Placed};
pub use encoder::{Encoder, compile};
pub use error::{CompileError, EncodeError};
