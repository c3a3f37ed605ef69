//! (being written)
pub mod host;
pub mod list;
