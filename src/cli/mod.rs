//! The command line: one file a subcommand.

pub mod export;
pub mod report;
