//! `looptune search`

use std::io::Write;
use std::path::PathBuf;
use std::time::Instant;

use anyhow::Context as _;
use clap::{Args, ValueHint};

use super::arguments::{self, Drives, Sizes, States, Weights};
use super::bench::clock::clocks;
use super::conditions::ConditionsArgs;
use super::exit::{unsupported, usage};
use super::measured::{Recorded, cache_sizes, vector_bits};
use super::progress::{Both, ProgressLine, Steps};
use super::session::{Session, command_line};
use crate::host::CpuTimes;
use crate::measure::{CacheSizes, Thoroughness};
use crate::report;
use crate::results::{Folder, Journal, ResultsError};
use crate::search::selftest::loudness;
use crate::search::{
    Budget, Candidate, Incumbents, Job, Question, SearchFile, SearchOutcome, SizePlan, Stop,
    candidate_entrant, compile_all, fresh_seed, plan, read_ceiling, search,
};
use crate::space;
use crate::subject::{Baseline, Contract, Op, Placement, Variant};
use crate::trial::{EvaluateError, Without};

/// Arguments of `looptune search`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    looptune search --op zero --size 4096\n  \
    looptune search --op copy --size 32..4M --budget 3m\n  \
    looptune search --op zero --size 4k,64k --state l1,dram --json\n  \
    looptune search --op copy --mix calls.csv")]
pub struct SearchArgs {
    /// What the loop does
    #[arg(long, value_parser = arguments::tuned_op())]
    op: Op,
    /// Bytes: 4096, 4k, a list 64,100,4k, a range 32..4M (powers of two) or 32..4M..*4
    #[arg(long, visible_alias = "sizes", value_parser = arguments::sizes, allow_hyphen_values = true, value_hint = ValueHint::Other)]
    size: Option<Sizes>,
    /// A mix of sizes: a file with one line of comma-separated probabilities (of size 0, 1, 2 …), or
    /// with lines of size,weight; several with commas or given again; beside --size, or alone
    #[arg(long, value_name = "FILE", value_delimiter = ',', value_hint = ValueHint::FilePath)]
    mix: Vec<PathBuf>,
    /// Where the lines are when a call starts, one or a list l1,dram [default: all that exist]
    #[arg(long, visible_alias = "states", value_parser = arguments::states())]
    state: Option<States>,
    /// How calls follow, one or a list [default: throughput; both below 256 bytes a call]
    #[arg(long, visible_alias = "drives", value_parser = arguments::drives())]
    drive: Option<Drives>,
    /// For the whole command: a time such as 10s, or a number of samples; a few looks at every
    /// class are taken in any case [default: 2s a cell, 3s of a mix, and every candidate in l1 and, of one size, in l2]
    #[arg(long, value_parser = Budget::parse, allow_hyphen_values = true, value_hint = ValueHint::Other)]
    budget: Option<Budget>,
    /// Seed of everything drawn [default: drawn, and printed]
    #[arg(long, value_hint = ValueHint::Other)]
    seed: Option<u64>,
    /// Importance of states for the robust choice, as in l1=3,dram=1
    #[arg(long, value_parser = arguments::weights(), hide_possible_values = true)]
    weights: Option<Weights>,
    /// What the loops must promise: user, the System V ABI; kernel, general registers, string
    /// instructions and movnti only
    #[arg(long, value_parser = arguments::contract(), default_value = "user")]
    contract: Contract,
    /// Choose as if nothing had been chosen before. By default a loop that an earlier search
    /// chose races again, and stays the choice unless something is faster
    #[arg(long)]
    no_incumbents: bool,
    /// Widest vector registers, bits: 128 or 256 leaves out what lowers the clock of some cores
    #[arg(long, value_name = "BITS", value_parser = vector_bits)]
    max_vector: Option<u32>,
    /// Search file (a path or a built-in name): narrows the axes, may set sizes and states
    #[arg(long, value_name = "FILE", value_parser = arguments::space(), hide_possible_values = true, value_hint = ValueHint::FilePath)]
    space: Option<String>,
    /// Sizes of the caches that states are made of: measured before the search, or as the processor tells
    #[arg(long, value_parser = cache_sizes(), default_value = "measured")]
    caches: CacheSizes,
    /// Folder of the results
    #[arg(long, value_name = "DIR", default_value = "results", value_hint = ValueHint::DirPath)]
    results: PathBuf,
    #[command(flatten)]
    conditions: ConditionsArgs,
    /// One JSON document on stdout, nothing else there
    #[arg(long)]
    json: bool,
    /// No progress on stderr
    #[arg(long, short)]
    quiet: bool,
}

pub(super) fn run(args: &SearchArgs, runner: Option<&str>) -> anyhow::Result<()> {
    let (started, times) = (Instant::now(), CpuTimes::read());
    let file = match &args.space {
        Some(name) => arguments::search_file(name)?,
        None => SearchFile::default_for(args.op),
    };
    if !file.ops.contains(&args.op) {
        return usage(format!("the search file `{}` is not for {}", file.name, args.op));
    }
    args.conditions.refuse()?;
    let mut file = file.under(args.contract);
    if let Some(bits) = args.max_vector {
        file = file.up_to(bits);
    }
    let mut session = Session::new(runner)?;
    let question = question(args, &file)?;
    if args.caches == CacheSizes::Measured {
        session.measure_caches(Thoroughness::Quick)?;
    }
    let plans = plan(&question, &session.reckoned.levels);
    refuse_empty(&plans)?;

    let usable = session.host.usable;
    let shown = Steps::endless(args.quiet, "generating loops");
    let mut points = file.space(args.op).legal();
    points.retain(|v| v.is_exact());
    points.retain(|v| space::supported(v, &usable).is_ok());
    refuse_other_sizes(&points, &question)?;
    let candidates = compile_all(points)?;
    drop(shown);
    if candidates.is_empty() {
        return unsupported(format!(
            "the search file `{}` has no loop that this host can run under the {} contract; \
             `looptune list --space FILE` says why",
            file.name, args.contract
        ));
    }
    let incumbents = match args.no_incumbents {
        true => Incumbents::default(),
        false => earlier(args, &session.host.key, &candidates),
    };
    let command = command_line();
    let tell = |trouble: &ResultsError| eprintln!("looptune: {trouble}");
    let host = &session.host;
    let facts = Recorded::of(&session);
    let mut journal =
        Journal::open(&args.results, &host.key, &facts, question.seed, &command, tell)?;
    let mut line = ProgressLine::new(args.quiet);
    let job = Job {
        question: &question,
        plans: &plans,
        candidates: &candidates,
        incumbents: &incumbents,
        strategy: file.strategy,
        tick_hz: host.tsc.calibrated_hz,
        started,
    };
    let outcome = search(&job, &mut session.client, &mut Both(&mut journal, &mut line));
    line.finish();
    let mut outcome = outcome?;
    outcome.warnings.splice(0..0, session.reckoned.warnings.clone());
    outcome.warnings.extend(exceeding(&outcome, &mut session)?);
    outcome.warnings.extend(lost_workers(&outcome, session.client.lost()));
    let steal = times.and_then(|before| CpuTimes::read()?.steal_since(&before));
    outcome.warnings.extend(loudness(&outcome.sizes, steal).map(|loud| loud.to_string()));
    outcome.warnings.extend(lower_clock(&outcome, &candidates, &mut session)?);
    let kept = journal.finish_search(&outcome);

    let facts = session.facts(args.op);
    let mut out = std::io::stdout().lock();
    if args.json {
        let document = report::outcome_json(&outcome, &facts);
        writeln!(out, "{}", serde_json::to_string_pretty(&document)?)?;
    } else {
        write!(out, "{}", report::outcome(&outcome, &facts))?;
    }
    out.flush().context("cannot write to stdout")?;
    // Told after the page, so that a full disk does not cost the answer.
    kept?;
    let mut cells = outcome.sizes.iter().flat_map(|s| &s.cells);
    if cells.all(|c| c.winner.is_none() && c.stop != Stop::Interrupted) {
        anyhow::bail!("no cell has a winner; the reasons stand above");
    }
    Ok(())
}

fn question(args: &SearchArgs, file: &SearchFile) -> anyhow::Result<Question> {
    let mixes = arguments::mixes(&args.mix)?;
    let of_file = if mixes.is_empty() { file.sizes.clone() } else { None };
    let sizes = args.size.as_ref().map(|s| s.0.clone()).or(of_file).unwrap_or_default();
    if sizes.is_empty() && mixes.is_empty() {
        return usage("which size? Write --size 4096, a list such as 64,100,4k or a range 32..4M");
    }
    Ok(Question {
        op: args.op,
        contract: args.contract,
        sizes,
        mixes,
        states: args.state.as_ref().map(|s| s.0.clone()).or_else(|| file.states.clone()),
        drives: args.drive.as_ref().map(|d| d.0.clone()).or_else(|| file.drives.clone()),
        conditions: args.conditions.conditions(Placement::ALIGNED),
        consumers: args.conditions.consumers(),
        budget: args.budget.or(file.budget),
        seed: args.seed.unwrap_or_else(fresh_seed),
        baselines: Baseline::PRESENT.iter().copied().chain([Baseline::LibcTuned]).collect(),
        weights: args.weights.as_ref().map(|w| w.0.clone()).unwrap_or_default(),
    })
}

/// What earlier searches in the results folder chose. A folder that cannot be read holds
/// nobody up: the journal will say what is wrong with it.
fn earlier(args: &SearchArgs, key: &str, candidates: &[Candidate]) -> Incumbents {
    let mut incumbents = Incumbents::default();
    let decisions = Folder::at(&args.results.join(key)).decisions().unwrap_or_default();
    let outcomes = decisions.rows.iter().rev().filter_map(|run| run.outcome.as_ref());
    outcomes
        .filter(|o| o.op == args.op && o.contract == args.contract)
        .for_each(|outcome| incumbents.take(outcome));
    incumbents.keep(candidates);
    incumbents
}

/// A file of loops for single sizes has nothing for others.
fn refuse_other_sizes(points: &[Variant], question: &Question) -> anyhow::Result<()> {
    let mut only: Vec<u64> = points.iter().filter_map(|v| v.fixed).map(u64::from).collect();
    only.sort_unstable();
    only.dedup();
    if only.is_empty() || points.iter().any(|v| v.fixed.is_none()) {
        return Ok(());
    }
    let served = |size: &u64| only.contains(size);
    if question.mixes.is_empty() && question.sizes.iter().all(served) {
        return Ok(());
    }
    let only: Vec<String> = only.iter().map(u64::to_string).collect();
    usage(format!(
        "the loops of this search file are for {} bytes only: write --size {}, and no mix",
        only.join(" or "),
        only.join(",")
    ))
}

/// Winners that are faster than their source can be read. An interruption ends the looking.
fn exceeding(outcome: &SearchOutcome, session: &mut Session) -> anyhow::Result<Vec<String>> {
    let clock = (session.host.tsc.calibrated_hz, outcome.seed);
    let mut warnings = Vec::new();
    for found in outcome.sizes.iter().flat_map(|s| &s.cells) {
        let Some(winner) = &found.winner else { continue };
        let usable = session.host.usable;
        match read_ceiling(&found.cell, Without::NOTHING, usable, clock, &mut session.client) {
            Ok(None) => {}
            Ok(Some(ceiling)) => {
                let name = winner.variant.to_string();
                warnings.extend(ceiling.warning(&found.cell, &name, winner.ns));
            }
            Err(EvaluateError::Interrupted) => break,
            Err(e) => return Err(e.into()),
        }
    }
    Ok(warnings)
}

/// The clock where it is lower while a winner of wide vectors runs.
fn lower_clock(
    outcome: &SearchOutcome,
    candidates: &[Candidate],
    session: &mut Session,
) -> anyhow::Result<Vec<String>> {
    let cells = outcome.sizes.iter().flat_map(|s| &s.cells);
    let winners: Vec<Variant> = cells.filter_map(|c| Some(c.winner.as_ref()?.variant)).collect();
    let of_winner = |c: &&Candidate| winners.contains(&c.variant);
    let entrants = candidates.iter().filter(of_winner).map(|c| candidate_entrant(c, true));
    let clocks = clocks(outcome.op, &entrants.collect::<Vec<_>>(), session)?;
    let lower = clocks.iter().filter(|c| c.drop().is_some());
    Ok(lower.map(|c| format!("{}; --max-vector keeps it up", c.sentence())).collect())
}

/// Workers that were lost beside those that a candidate took with it.
fn lost_workers(outcome: &SearchOutcome, lost: u64) -> Option<String> {
    let cells = outcome.sizes.iter().flat_map(|s| &s.cells);
    let explained: u64 = cells.map(|c| c.excluded.crashed + c.excluded.hung).sum();
    let unexplained = lost.saturating_sub(explained);
    (unexplained > 0).then(|| {
        format!(
            "workers ended {unexplained} times for no fault of a candidate's (killed from \
             outside, or out of memory); what they were measuring was measured again"
        )
    })
}

/// A question without a single cell is a mistake, and the reasons say which.
fn refuse_empty(plans: &[SizePlan]) -> anyhow::Result<()> {
    if plans.iter().any(|p| !p.cells.is_empty()) {
        return Ok(());
    }
    let reasons: Vec<String> = plans
        .iter()
        .flat_map(|p| p.absent.iter().map(|(state, why)| format!("{} {state}: {why}", p.extent)))
        .collect();
    unsupported(format!("nothing to measure: {}", reasons.join("; ")))
}
