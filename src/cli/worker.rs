//! `looptune worker`: the child process. Hidden; the parent starts it.

use clap::Args;

use crate::worker;

/// Arguments of the worker.
#[derive(Args, Clone, Debug)]
pub struct WorkerArgs {
    /// Path of the page shared with the parent.
    #[arg(long, value_name = "PATH")]
    pub shared: String,
}

impl WorkerArgs {
    /// Answers requests until the parent has no more.
    ///
    /// # Errors
    /// Where the line to the parent breaks or the system refuses what a worker needs.
    pub fn run(&self) -> anyhow::Result<()> {
        Ok(worker::run_child(&self.shared)?)
    }
}
