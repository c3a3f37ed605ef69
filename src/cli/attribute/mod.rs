//! `looptune attribute`: why a loop wins.

mod found;
pub(super) mod study;

use std::io::Write;
use std::path::PathBuf;

use clap::{Args, ValueHint};

use self::found::{Asked, asked};
use self::study::{Studies, study_all};
use super::arguments::{self, Drives, Sizes, States};
use super::conditions::ConditionsArgs;
use super::exit::{unsupported, usage};
use super::measured::{Recorded, cache_sizes};
use super::progress::ProgressLine;
use super::session::{Session, command_line};
use crate::measure::{CacheSizes, Thoroughness};
use crate::report;
use crate::results::{Journal, ResultsError};
use crate::search::{Budget, fresh_seed};
use crate::subject::{Op, Variant};

/// Arguments of `looptune attribute`.
#[derive(Debug, Args)]
#[command(after_help = format!("Examples:\n  \
    looptune attribute --op zero --size 4096     the recorded winners of all states\n  \
    looptune attribute --op copy --size 64k --state dram\n  \
    looptune attribute copy/ymm/u4/pf-t0@512 --size 64k --state l2,dram\n\n\
    For each winner: the same loop at all 64 addresses modulo 64; its prefetch and touches \
    against\nnops of the same length; each axis at its default and next to its value; whether it \
    sits on the\nedge of what was swept; and the exported source, assembled and measured.\n\n{}",
    arguments::about_ids()))]
pub struct AttributeArgs {
    /// The loop, as in zero/ymm/u4/a64; without it, the recorded winners of --op and --size
    #[arg(value_parser = arguments::variant(), hide_possible_values = true, conflicts_with_all = ["op", "run"])]
    variant: Option<Variant>,
    /// What the recorded winners do
    #[arg(long, value_parser = arguments::tuned_op(), required_unless_present = "variant")]
    op: Option<Op>,
    /// Bytes, as for search [default with a variant: 4096]
    #[arg(long, visible_alias = "sizes", value_parser = arguments::sizes, allow_hyphen_values = true, value_hint = ValueHint::Other)]
    size: Option<Sizes>,
    /// Mixes of sizes, as for search; beside --size, or alone
    #[arg(long, value_name = "FILE", value_delimiter = ',', value_hint = ValueHint::FilePath)]
    mix: Vec<PathBuf>,
    /// States, one or a list [default: all that exist or are recorded]
    #[arg(long, visible_alias = "states", value_parser = arguments::states())]
    state: Option<States>,
    /// Drives, one or a list [default: throughput; both below 256 bytes a call]
    #[arg(long, visible_alias = "drives", value_parser = arguments::drives())]
    drive: Option<Drives>,
    /// For the whole command: a time, or a number of samples [default: 6s a winner and cell]
    #[arg(long, value_parser = Budget::parse, allow_hyphen_values = true, value_hint = ValueHint::Other)]
    budget: Option<Budget>,
    /// Seed of everything drawn
    #[arg(long, value_hint = ValueHint::Other)]
    seed: Option<u64>,
    /// The run to take the winners from, by its id; the newest finished one by default
    #[arg(long, value_name = "ID", value_hint = ValueHint::Other)]
    run: Option<String>,
    /// Folder of the results
    #[arg(long, value_name = "DIR", default_value = "results", value_hint = ValueHint::DirPath)]
    results: PathBuf,
    #[command(flatten)]
    conditions: ConditionsArgs,
    /// Sizes of the caches that states are made of: measured first, or as the processor tells
    #[arg(long, value_parser = cache_sizes(), default_value = "measured")]
    caches: CacheSizes,
    /// One JSON document on stdout, nothing else there
    #[arg(long)]
    json: bool,
    /// No progress on stderr
    #[arg(long, short)]
    quiet: bool,
}

pub(super) fn run(args: &AttributeArgs, runner: Option<&str>) -> anyhow::Result<()> {
    if let Some(variant) = &args.variant {
        arguments::legal(variant)?;
        if !variant.is_exact() {
            return usage(format!("{variant} changes bits and is no winner of anything"));
        }
    }
    if args.conditions.sweep().is_some() {
        return usage("one placement at a time is explained here; search and bench sweep them");
    }
    args.conditions.refuse()?;
    let mut session = Session::new(runner)?;
    if args.caches == CacheSizes::Measured {
        session.measure_caches(Thoroughness::Quick)?;
    }
    let Asked { op, winners, swept, mixes } = asked(args, &session)?;
    if winners.is_empty() {
        return unsupported("nothing to explain: no cell of these exists here");
    }
    let seed = args.seed.unwrap_or_else(fresh_seed);
    let tell = |trouble: &ResultsError| eprintln!("looptune: {trouble}");
    let (key, facts) = (&session.host.key, Recorded::of(&session));
    let mut journal = Journal::open(&args.results, key, &facts, seed, &command_line(), tell)?;
    let studies = Studies { winners, swept: &swept, mixes: &mixes, budget: args.budget, seed };
    let line = ProgressLine::new(args.quiet);
    let found = study_all(&studies, &mut session, line)?;
    found.iter().for_each(|one| journal.attribution(one));
    let kept = journal.finish();

    let facts = session.facts(op);
    let mut out = std::io::stdout().lock();
    if args.json {
        let document = report::attributions_json(&found, &facts, seed);
        writeln!(out, "{}", serde_json::to_string_pretty(&document)?)?;
    } else {
        write!(out, "{}", report::attributions(&found, &facts))?;
    }
    out.flush()?;
    // Told after the page, so that a full disk does not cost the answer.
    Ok(kept?)
}
