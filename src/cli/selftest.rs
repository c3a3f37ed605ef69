//! `looptune selftest`: how far times made on this host, now, can be believed.

use std::io::Write as _;

use clap::{Args, ValueHint};

use super::arguments::{self, States};
use super::exit::unsupported;
use super::progress::ProgressLine;
use super::session::Session;
use crate::measure::{Levels, Thoroughness};
use crate::report;
use crate::search::selftest::traps::{Trap, TrapHost, TrapTest, traps};
use crate::search::selftest::{Busy, Neighbour, NoiseTest, noise};
use crate::search::{Question, SizePlan, fresh_seed, plan};
use crate::subject::{Conditions, Consumer, Contract, Drive, Op};
use crate::trial::Without;
use crate::units::parse_size;

/// Contests a state: so many that five wrong ones of a hundred are told from ten.
const CONTESTS: u32 = 200;

/// The same where it must be quick: only what is grossly wrong shows.
const QUICK_CONTESTS: u32 = 24;

/// Arguments of `looptune selftest`.
#[derive(Debug, Args)]
#[command(after_help = "\
In each state a loop runs against itself, and against itself with extra work, as often as\n\
--contests says; each contest has what a search by default gives to the confirmation of a\n\
winner. The page says how often equals had a winner, how often the extra work was found, and\n\
which differences can be believed. Exit status 0 also where it is loud.\n\n\
--traps shows the traps of measuring instead: what this program measures, and what it would\n\
measure without the countermeasure. A countermeasure that does not hold is a failure (1).\n\n\
Examples:\n  \
    looptune selftest --quick\n  \
    looptune selftest --size 64k --state l2,dram --busy\n  \
    looptune selftest --traps\n  \
    looptune selftest --only missing-fence,predecessor")]
pub struct SelftestArgs {
    /// Fewer contests: only what is grossly wrong shows
    #[arg(long)]
    quick: bool,
    /// Show the traps of measuring, each with its countermeasure and without
    #[arg(long)]
    traps: bool,
    /// Only these traps, with commas or given again
    #[arg(long, value_name = "TRAP", value_parser = arguments::traps())]
    only: Option<arguments::Traps>,
    /// The op of the contests
    #[arg(long, value_parser = arguments::tuned_op(), default_value = "zero")]
    op: Op,
    /// Bytes of their calls. Of small ones a ring has so many that half a per cent of them is a
    /// whole number
    #[arg(long, value_parser = size, default_value = "1024", allow_hyphen_values = true, value_hint = ValueHint::Other)]
    size: u64,
    /// States, one or a list [default: all that exist for the size]
    #[arg(long, visible_alias = "states", value_parser = arguments::states())]
    state: Option<States>,
    /// Contests a state [default: 200; 24 where it is quick]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=100_000))]
    contests: Option<u32>,
    /// Keep another CPU busy meanwhile: spin, which takes the CPU alone, or stream, which takes
    /// memory's bandwidth too
    #[arg(long, value_name = "HOW", value_parser = arguments::neighbour(), num_args = 0..=1, default_missing_value = "spin", require_equals = true)]
    busy: Option<Neighbour>,
    /// Seed of everything drawn [default: drawn, and printed]
    #[arg(long, value_hint = ValueHint::Other)]
    seed: Option<u64>,
    /// Leave countermeasures off, to see checks fail
    #[arg(long, hide = true, value_name = "LIST", value_parser = arguments::countermeasures())]
    without: Option<arguments::Countermeasures>,
    /// One JSON document on stdout, nothing else there
    #[arg(long)]
    json: bool,
    /// No progress on stderr
    #[arg(long, short)]
    quiet: bool,
}

fn size(text: &str) -> Result<u64, String> {
    parse_size(text).map_err(|e| e.to_string())
}

pub(super) fn run(args: &SelftestArgs, runner: Option<&str>) -> anyhow::Result<()> {
    let mut session = Session::new(runner)?;
    let seed = args.seed.unwrap_or_else(fresh_seed);
    session.measure_caches(Thoroughness::Quick)?;
    let cpu = session.client.main().start()?.cpu.clone();
    let neighbour = match args.busy {
        None => None,
        Some(how) => match Busy::start(how, *cpu.as_ref().unwrap_or(&u32::MAX)) {
            Some(busy) => Some((how, busy)),
            None => return unsupported("--busy needs a second CPU that this program may use"),
        },
    };
    let setting = report::SelftestSetting {
        seed,
        busy: neighbour.as_ref().map(|(how, busy)| (*how, busy.cpu())),
        cpu: cpu.ok(),
        counter_hz: session.host.tsc.calibrated_hz,
        disturbances: [session.reckoned.warnings.clone(), session.host.disturbances()].concat(),
    };
    if args.traps || args.only.is_some() {
        return show_traps(args, &mut session, &setting);
    }
    let SizePlan { cells, absent, .. } = size_plan(args, &session)?;
    let default = if args.quick { QUICK_CONTESTS } else { CONTESTS };
    let test = NoiseTest {
        cells,
        contests: args.contests.unwrap_or(default),
        seed,
        without: without(args),
    };
    let mut line = ProgressLine::new(args.quiet);
    let found = noise(&test, &session.host.usable, &mut session.client, &mut line);
    line.finish();
    let found = found?;
    let facts = session.facts(args.op);
    let mut out = std::io::stdout().lock();
    if args.json {
        let document = report::noise_json(&found, &absent, &setting, &facts);
        writeln!(out, "{}", serde_json::to_string_pretty(&document)?)?;
    } else {
        write!(out, "{}", report::noise(&found, &absent, &setting, &facts))?;
    }
    out.flush()?;
    Ok(())
}

fn without(args: &SelftestArgs) -> Without {
    args.without.iter().flat_map(|w| w.0.iter().copied()).collect()
}

/// The cells of the size, and the states that it has none of.
fn size_plan(args: &SelftestArgs, session: &Session) -> anyhow::Result<SizePlan> {
    let question = Question {
        op: args.op,
        contract: Contract::User,
        sizes: vec![args.size],
        mixes: Vec::new(),
        states: args.state.as_ref().map(|s| s.0.clone()),
        drives: Some(vec![Drive::Throughput]),
        conditions: Conditions::DEFAULT,
        consumers: vec![Consumer::None],
        budget: None,
        seed: 0,
        baselines: Vec::new(),
        weights: Vec::new(),
    };
    let mut plans = plan(&question, &session.reckoned.levels);
    match plans.pop() {
        Some(plan) if !plan.cells.is_empty() => Ok(plan),
        empty => {
            let absent = empty.into_iter().flat_map(|plan| plan.absent);
            let reasons: Vec<String> = absent.map(|(_, why)| why).collect();
            unsupported(format!("nothing to measure: {}", reasons.join("; ")))
        }
    }
}

fn show_traps(
    args: &SelftestArgs,
    session: &mut Session,
    setting: &report::SelftestSetting,
) -> anyhow::Result<()> {
    let test = TrapTest {
        traps: args.only.as_ref().map_or_else(|| Trap::ALL.to_vec(), |only| only.0.clone()),
        seed: setting.seed,
        without: without(args),
    };
    let mut line = ProgressLine::new(args.quiet);
    let host = TrapHost {
        usable: session.host.usable,
        told: Levels::of(&session.host.caches),
        measured: session.edges.is_some().then_some(session.reckoned.levels),
    };
    let found = traps(&test, &host, &mut session.client, &mut line);
    line.finish();
    let found = found?;
    let facts = session.facts(args.op);
    let mut out = std::io::stdout().lock();
    if args.json {
        let document = report::traps_json(&found, setting, &facts);
        writeln!(out, "{}", serde_json::to_string_pretty(&document)?)?;
    } else {
        write!(out, "{}", report::traps(&found, setting, &facts))?;
    }
    out.flush()?;
    let open: Vec<&str> =
        found.shown.iter().filter(|s| s.is_open()).map(|s| s.trap.word()).collect();
    if !open.is_empty() {
        anyhow::bail!(
            "a countermeasure does not hold: {}; the figures stand above",
            open.join(", ")
        );
    }
    Ok(())
}
