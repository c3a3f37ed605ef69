//! A tuned loop as something that others can build: assembly source that reproduces its
//! bytes, and the proof that it does.

mod asm;
mod check;
mod error;
mod library;
mod symbol;

pub use asm::{Export, Header};
pub use check::{Checked, check};
pub use error::{CheckError, ExportError};
pub use library::{Library, NoLibrary};
pub use symbol::{check_symbol, default_symbol};
