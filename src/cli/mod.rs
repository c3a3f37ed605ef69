//! (being written)
pub mod host;
