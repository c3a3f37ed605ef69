//! Parses, dispatches, prints the error chain.

use clap::{Parser, Subcommand};
use looptune::cli;

#[derive(Parser)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    #[command(hide = true)]
    Worker(cli::worker::WorkerArgs),
}

fn main() -> anyhow::Result<()> {
    match Arguments::parse().command {
        Command::Worker(arguments) => arguments.run(),
    }
}
