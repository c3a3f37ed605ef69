//! Functions as bytes: branch forms, padding, addresses.

mod code;

pub use code::{Code, Placed};
