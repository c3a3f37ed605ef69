//! The command line: one file a subcommand, with its arguments and what it prints. Nothing
//! here measures or computes statistics.

mod arguments;
pub mod attribute;
pub mod bench;
pub mod completions;
mod conditions;
pub mod crossover;
mod exit;
pub mod explore;
pub mod export;
pub mod history;
pub mod host;
pub mod list;
pub mod man;
mod measured;
mod placement;
mod progress;
pub mod replay;
pub mod report;
pub mod search;
pub mod selftest;
mod session;
pub mod show;
pub mod verify;
mod version;
pub mod worker;

use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

pub use exit::exit_code;

/// The command line.
#[derive(Debug, Parser)]
#[command(
    name = "looptune",
    version,
    about = "Writes copy and zero loops in x86-64 machine code, times every variant on this \
             machine, and exports the best one as assembly that reproduces the tuned bytes.",
    after_help = "Start with:  looptune search --op zero --size 4096\n\
                  Then:        looptune export --op zero --size 4096 -o zero.S\n\n\
                  Exit status: 0 done, 1 failed, 2 wrong arguments, 3 this host cannot.",
    max_term_width = 100
)]
pub struct Cli {
    /// Start the worker process through this command (an emulator, say).
    #[arg(long, global = true, hide = true, value_name = "COMMAND")]
    worker_runner: Option<String>,

    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Find the best loop for each size and cache state on this machine
    Search(search::SearchArgs),
    /// Write a winner or a variant as assembly source with the tuned bytes
    Export(export::ExportArgs),
    /// Measure loops, baselines and foreign functions against each other
    Bench(bench::BenchArgs),
    /// Tell why a loop wins: its address, its prefetches, each axis, the assembled export
    Attribute(attribute::AttributeArgs),
    /// Check loops for correctness, without timing
    Verify(verify::VerifyArgs),
    /// Print the listing of a loop: addresses, bytes, 64-byte lines
    Show(show::ShowArgs),
    /// List families, axes, baselines and search files
    List(list::ListArgs),
    /// Explore the space in the terminal, measuring as you look
    Explore(explore::ExploreArgs),
    /// Find the size from which stores past the caches win, in each state
    Crossover(crossover::CrossoverArgs),
    /// Print recorded results as tables
    Report(report::ReportArgs),
    /// Compare search strategies on recorded samples
    Replay(replay::ReplayArgs),
    /// Print the tables of 1996 to 2016, measured on this machine
    History(history::HistoryArgs),
    /// Tell what this machine is: features, caches, clock, what will disturb
    Host(host::HostArgs),
    /// Tell whether this machine, now, is quiet enough to be believed
    Selftest(selftest::SelftestArgs),
    /// Write completions for a shell to the standard output
    Completions(completions::CompletionsArgs),
    /// Write manual pages: all into a folder, or the first to the standard output
    Man(man::ManArgs),
    /// The child process that runs generated code
    #[command(hide = true)]
    Worker(worker::WorkerArgs),
}

/// Reads the command line; help, versions and wrong arguments end the process, as they do
/// for every command.
pub fn parse() -> Cli {
    let mut command = Cli::command();
    // Asking the processor takes longer than all else here: only for who wants to know.
    if std::env::args_os().skip(1).any(|word| word == "--version") {
        command = command.long_version(version::long());
    }
    let matches = command.get_matches();
    Cli::from_arg_matches(&matches).unwrap_or_else(|e| e.exit())
}

/// Runs a parsed command line.
///
/// # Errors
/// What the user should read; [`exit_code`] gives its exit status.
pub fn run(cli: &Cli) -> anyhow::Result<()> {
    let runner = cli.worker_runner.as_deref();
    match &cli.command {
        Command::Search(args) => search::run(args, runner),
        Command::Export(args) => export::run(args, runner),
        Command::Bench(args) => bench::run(args, runner),
        Command::Attribute(args) => attribute::run(args, runner),
        Command::Verify(args) => verify::run(args, runner),
        Command::Show(args) => show::run(args),
        Command::List(args) => list::run(args),
        Command::Explore(args) => explore::run(args, runner),
        Command::Crossover(args) => crossover::run(args, runner),
        Command::Report(args) => args.run(&mut std::io::stdout().lock()),
        Command::Replay(args) => replay::run(args),
        Command::History(args) => history::run(args, runner),
        Command::Selftest(args) => selftest::run(args, runner),
        Command::Host(args) => host::run(args, runner),
        Command::Completions(args) => completions::run(args),
        Command::Man(args) => man::run(args),
        Command::Worker(args) => args.run(),
    }
}
