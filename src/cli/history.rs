//! `looptune history`: the tables of 1996 to 2016, on this machine.

mod breed;
mod bzero;
mod contests;
mod pagezero;
mod size;

use std::io::Write as _;
use std::path::PathBuf;

use clap::{Args, ValueHint};

use self::contests::Contests;
use super::arguments;
use super::host::wrap;
use super::session::Session;
use crate::measure::Thoroughness;
use crate::report::history::{HistoryRecord, history_csv, history_heading};
use crate::search::{Budget, fresh_seed};
use crate::subject::Op;
use crate::units::words;

words! {
    /// A table.
    HistoryTable {
        /// Copies by size, hot and streaming.
        Size = "size",
        /// The bzeros by state, and read before write.
        Bzero = "bzero",
        /// Pages zeroed past the caches, over unroll and alignment.
        Pagezero = "pagezero",
        /// Streaming rates, loops and hosts side by side.
        Breed = "breed",
    }
}

/// Arguments of `looptune history`.
#[derive(Debug, Args)]
#[command(after_help = "Tables:\n  \
    size       copies from 32 bytes to 4 MiB, hot and streaming; about two minutes\n  \
    bzero      the bzeros of 1996 by state, and read before write net of its placebo\n  \
    pagezero   movnti over a page: unroll and alignment, bytes/cycle measured and predicted\n  \
    breed      streaming copies, reads, writes and zeroing, as lmbench prints them\n\n\
    Below each table stands what this run answers to the question it was made for. All four \
    take less than five minutes.\n\n\
    Examples:\n  \
    looptune history bzero\n  \
    looptune history --csv > history.csv")]
pub struct HistoryArgs {
    /// The table [default: all, one after another]
    #[arg(value_parser = arguments::one::<HistoryTable>("table"))]
    table: Option<HistoryTable>,
    /// For the whole command: a time, or a number of samples [default: what each table needs]
    #[arg(long, value_parser = Budget::parse, allow_hyphen_values = true, value_hint = ValueHint::Other)]
    budget: Option<Budget>,
    /// Seed of everything drawn
    #[arg(long, value_hint = ValueHint::Other)]
    seed: Option<u64>,
    /// Where the results of other hosts are kept, for breed
    #[arg(long, value_name = "DIR", default_value = "results", value_hint = ValueHint::DirPath)]
    results: PathBuf,
    /// Rows as CSV on stdout, nothing else there
    #[arg(long)]
    csv: bool,
    /// No progress on stderr
    #[arg(long, short)]
    quiet: bool,
}

/// Columns of a warning.
const WIDTH: usize = 100;

/// A table that was measured.
struct Made {
    page: String,
    records: Vec<HistoryRecord>,
}

pub(super) fn run(args: &HistoryArgs, runner: Option<&str>) -> anyhow::Result<()> {
    let mut session = Session::new(runner)?;
    session.measure_caches(Thoroughness::Quick)?;
    let asked = args.table.map_or(HistoryTable::ALL.to_vec(), |table| vec![table]);
    let seed = args.seed.unwrap_or_else(fresh_seed);
    let budget = args.budget.map(|budget| match budget {
        Budget::Seconds(s) => Budget::Seconds(s / asked.len() as f64),
        Budget::Samples(n) => Budget::Samples(n.div_ceil(asked.len() as u64)),
    });
    let facts = session.facts(Op::Copy);
    let warnings = session.reckoned.warnings.clone();
    let mut contests =
        Contests { session: &mut session, budget, seed, quiet: args.quiet, cut: false };
    let mut records = Vec::new();
    let mut out = std::io::stdout();
    if !args.csv {
        write!(out, "{}", history_heading(&facts))?;
        for warning in warnings.iter().flat_map(|w| wrap(w, WIDTH)) {
            writeln!(out, "{warning}")?;
        }
    }
    for table in asked {
        let made = match table {
            HistoryTable::Size => size::make(&mut contests)?,
            HistoryTable::Bzero => bzero::make(&mut contests)?,
            HistoryTable::Pagezero => pagezero::make(&mut contests)?,
            HistoryTable::Breed => breed::make(&mut contests, &args.results)?,
        };
        match args.csv {
            true => records.extend(made.records),
            false => write!(out, "{}", made.page)?,
        }
        out.flush()?;
        if contests.cut {
            break;
        }
    }
    if args.csv {
        write!(out, "{}", history_csv(&records)?)?;
    } else {
        writeln!(out, "\nseed {seed}: {}", facts.command)?;
    }
    Ok(out.flush()?)
}
