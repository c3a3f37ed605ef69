//! `looptune crossover`: from which size on stores past the caches win.

use std::io::Write as _;

use clap::{Args, ValueHint};

use super::arguments::{self, Sizes, States};
use super::exit::unsupported;
use super::measured::{cache_sizes, size_or_none};
use super::progress::Steps;
use super::session::Session;
use crate::host::Feature;
use crate::measure::{CacheSizes, Thoroughness, state_exists};
use crate::report::{self, CrossoverPage, CrossoverRow};
use crate::search::{Budget, Crossing, Rival, Rivals, crossing, fresh_seed, steps};
use crate::space;
use crate::subject::{Cell, Class, Drive, Level, Op, State, Variant};
use crate::trial::EvaluateError;

/// Sizes between which it is looked for where nothing is asked, bytes.
const LEAST: u64 = 4 << 10;
const MOST: u64 = 64 << 20;

/// Seconds a size gets where nothing is asked; where calls take long it is what ten layouts take.
const SIZE_SECONDS: f64 = 0.12;

/// Arguments of `looptune crossover`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    looptune crossover --op copy\n  \
    looptune crossover --op zero --state dram --rival rep --json")]
pub struct CrossoverArgs {
    /// What the loops do
    #[arg(long, value_parser = arguments::tuned_op())]
    op: Op,
    /// What is compared with a loop of plain stores: nt, the same loop with stores past the
    /// caches; rep, the string instruction
    #[arg(long, value_parser = arguments::one::<Rival>("rival"), default_value = "nt")]
    rival: Rival,
    /// Between which sizes, as in 4k..64M; half octaves of them are measured
    #[arg(long, visible_alias = "sizes", value_parser = arguments::sizes, allow_hyphen_values = true, value_hint = ValueHint::Other)]
    size: Option<Sizes>,
    /// States, one or a list [default: all]
    #[arg(long, visible_alias = "states", value_parser = arguments::states())]
    state: Option<States>,
    /// Sizes of the caches that states are made of: measured first, or as the processor tells
    #[arg(long, value_parser = cache_sizes(), default_value = "measured")]
    caches: CacheSizes,
    /// Seed of everything drawn [default: drawn, and printed]
    #[arg(long, value_hint = ValueHint::Other)]
    seed: Option<u64>,
    /// One JSON document on stdout, nothing else there
    #[arg(long)]
    json: bool,
    /// No progress on stderr
    #[arg(long, short)]
    quiet: bool,
}

pub(super) fn run(args: &CrossoverArgs, runner: Option<&str>) -> anyhow::Result<()> {
    let mut session = Session::new(runner)?;
    if args.caches == CacheSizes::Measured {
        session.measure_caches(Thoroughness::Quick)?;
    }
    let bounds = args.size.as_ref().map_or(&[][..], |sizes| &sizes.0);
    let (least, most) = match (bounds.first(), bounds.last()) {
        (Some(first), Some(last)) if first < last => (*first, *last),
        (Some(only), _) => (*only, MOST.max(*only)),
        _ => (LEAST, MOST),
    };
    let seed = args.seed.unwrap_or_else(fresh_seed);
    let states = args.state.as_ref().map_or_else(
        || Level::ALL.iter().map(|l| State::both(*l)).collect::<Vec<_>>(),
        |states| states.0.clone(),
    );
    let (plain, rival) = loops(args.op, args.rival, &session)?;
    for variant in [&plain, &rival] {
        if let Err(why) = space::supported(variant, &session.host.usable) {
            return unsupported(format!("this host cannot run {variant}: {why}"));
        }
    }
    let mut page = CrossoverPage {
        op: args.op,
        plain,
        rival,
        seed,
        llc: size_or_none(session.reckoned.levels.llc),
        rows: Vec::new(),
        notes: session.reckoned.warnings.clone(),
    };
    for state in states {
        let shown = Steps::endless(args.quiet, format!("{} {state}", args.op));
        let row = crossing_of(&mut session, (plain, rival), args.op, state, (least, most), seed);
        drop(shown);
        match row {
            Ok(result) => page.rows.push(CrossoverRow { state, result }),
            Err(EvaluateError::Interrupted) => {
                page.notes.push("interrupted: these are the results so far".into());
                break;
            }
            Err(e) => return Err(e.into()),
        }
    }
    let facts = session.facts(args.op);
    let clib = &session.host.conditions.clib;
    let mut out = std::io::stdout().lock();
    if args.json {
        let document = report::crossover_json(&page, &facts, clib);
        writeln!(out, "{}", serde_json::to_string_pretty(&document)?)?;
    } else {
        write!(out, "{}", report::crossover(&page, &facts, clib))?;
    }
    out.flush()?;
    if page.rows.iter().all(|row| row.result.is_err()) {
        return unsupported("no state could be measured; the reasons stand above");
    }
    Ok(())
}

/// The loops that are compared: vectors of 32 bytes where there are such, four an iteration.
pub(super) fn loops(op: Op, rival: Rival, session: &Session) -> anyhow::Result<(Variant, Variant)> {
    let wide = session.host.usable.contains(Feature::Avx);
    let class = if wide { Class::Ymm } else { Class::Xmm };
    let plain = format!("{op}/{class}/u4");
    let rival = match rival {
        Rival::Nt => format!("{plain}/nt"),
        Rival::Rep => format!("{op}/{}", Class::Rep8),
    };
    Ok((plain.parse()?, rival.parse()?))
}

/// The crossover in one state; a reason where the state has no size.
pub(super) fn crossing_of(
    session: &mut Session,
    (plain, rival): (Variant, Variant),
    op: Op,
    state: State,
    (least, most): (u64, u64),
    seed: u64,
) -> Result<Result<Crossing, String>, EvaluateError> {
    let levels = session.reckoned.levels;
    let cell = |size| Cell::new(op, size, state, Drive::Throughput);
    let sizes: Vec<u64> = steps(least, most)
        .into_iter()
        .filter(|size| state_exists(&cell(*size), &levels).is_ok())
        .collect();
    if sizes.is_empty() {
        return Ok(Err(match state_exists(&cell(least), &levels) {
            Err(why) => why,
            Ok(()) => "there is no size between the bounds".into(),
        }));
    }
    let Some(rivals) = Rivals::new(plain, rival) else {
        return Ok(Err("the loops have no code".into()));
    };
    let tick_hz = session.host.tsc.calibrated_hz;
    let budget = Budget::Seconds(SIZE_SECONDS);
    let ask = |size| rivals.ask(cell(size), budget, seed, tick_hz, &mut session.client, &mut ());
    crossing(&sizes, ask).map(Ok)
}
