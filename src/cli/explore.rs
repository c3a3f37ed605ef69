//! `looptune explore`: the space, interactively.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::channel;
use std::time::Instant;

use anyhow::{Context, anyhow, bail};
use clap::Args;

use super::arguments;
use super::exit::usage;
use super::progress::Steps;
use super::report::folders_at;
use super::session::{self, command_line};
use crate::explore::terminal::{self, Inbox, Options, Trace};
use crate::explore::view::{Depth, Look};
use crate::explore::{Ledger, Measurer, Model, Question, Surroundings, World, recorded, script};
use crate::host::Host;
use crate::measure::{Levels, state_exists};
use crate::report::Facts;
use crate::results::Folder;
use crate::subject::{Cell, Drive, Level, Op, State};
use crate::template::AXES;
use crate::units::{human_size, parse_size};
use crate::worker::Client;

/// Sizes to step through: powers of two from the smallest that a vector moves to what no cache
/// holds.
const SIZES: std::ops::RangeInclusive<u32> = 4..=26;

/// What is asked where nobody says.
const OP: Op = Op::Zero;
const SIZE: u64 = 4096;

/// Arguments of `looptune explore`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    looptune explore --op copy --size 4k --state l2\n  \
    looptune explore --from results             what was recorded, without measuring\n\n\
    In the explorer ? lists the keys, q quits.")]
pub struct ExploreArgs {
    /// What the loops do: copy or zero [default: zero]
    #[arg(long, value_parser = arguments::tuned_op())]
    op: Option<Op>,
    /// Bytes a call: 4096, 4k, 1M [default: 4096]
    #[arg(long, value_parser = parse_size)]
    size: Option<u64>,
    /// Where the lines are when a call starts: l1, l2, llc, dram [default: the first that exists
    /// for the size]
    #[arg(long, value_parser = arguments::state())]
    state: Option<State>,
    /// How calls follow: throughput or chained
    #[arg(long, value_parser = arguments::drive())]
    drive: Option<Drive>,
    /// Explore the results recorded in a folder; nothing is measured
    #[arg(long, value_name = "FOLDER")]
    from: Option<PathBuf>,
    /// Where w writes results
    #[arg(long, value_name = "DIR", default_value = "results")]
    results: PathBuf,
    /// Write how quick the screen was, as JSON
    #[arg(long, value_name = "FILE", hide = true)]
    trace: Option<PathBuf>,
    /// Panic when this key is pressed
    #[arg(long, value_name = "KEY", hide = true)]
    panic_on: Option<char>,
    /// Keys to press without a terminal; words in <> are keys or things to wait for
    #[arg(long, value_name = "SCRIPT", hide = true, requires = "snapshot")]
    keys: Option<String>,
    /// Write the screen after the keys, as .svg or as text
    #[arg(long, value_name = "FILE", hide = true)]
    snapshot: Option<PathBuf>,
    /// Columns and rows of the snapshot
    #[arg(long, value_name = "COLUMNSxROWS", hide = true, value_parser = columns_and_rows, default_value = "120x40")]
    area: (u16, u16),
}

fn columns_and_rows(text: &str) -> Result<(u16, u16), String> {
    let numbers = text.split_once('x').and_then(|(c, r)| Some((c.parse().ok()?, r.parse().ok()?)));
    numbers.ok_or_else(|| format!("`{text}` is no area; write columns x rows, as in 120x40"))
}

pub(super) fn run(args: &ExploreArgs, runner: Option<&str>) -> anyhow::Result<()> {
    let started = Instant::now();
    if args.snapshot.is_none()
        && let Some(why) = terminal::unusable()
    {
        return usage(format!(
            "{why}; what explore shows as a screen, others say in lines: `looptune search --op \
             zero --size 4096` finds the best loop, `looptune report` prints recorded results"
        ));
    }
    let host = Host::detect();
    let (world, question, warnings) = match &args.from {
        Some(path) => recorded_world(args, path, &host)?,
        None => measured_world(args, &host)?,
    };
    let mut model = Model::new(world, question);
    for warning in warnings {
        model.notice(&warning);
    }
    let interrupted = Arc::new(AtomicBool::new(false));
    let options = session::client_options(runner, &host, Arc::clone(&interrupted))?;
    let around = Surroundings { host, results: args.results.clone(), command: command_line() };
    let evaluator = move || Client::new(options);
    if let Some(path) = &args.snapshot {
        let steps = script::parse(args.keys.as_deref().unwrap_or_default());
        let steps = match steps {
            Ok(steps) => steps,
            Err(why) => return usage(why),
        };
        let (to, reports) = channel();
        // Nobody listens any more once the script has ended.
        let tell = move |report| drop(to.send(report));
        let measurer = Measurer::spawn(evaluator, interrupted, around, tell)?;
        script::run(&mut model, &measurer, &reports, &steps).map_err(|why| anyhow!(why))?;
        let look = Look { depth: Depth::True, ascii: false };
        let buffer = script::buffer(&model, args.area, &look);
        let named = || format!("{} cannot be written", path.display());
        return script::write(&buffer, path).with_context(named);
    }
    let inbox = Inbox::default();
    let mut measurer = Measurer::spawn(evaluator, interrupted, around, inbox.teller())?;
    let trace = args.trace.clone().map(|path| Trace::new(path, started));
    let options = Options { look: look(), trace, panic_on: args.panic_on };
    let words =
        terminal::run(&mut model, &mut measurer, inbox, options).context("the terminal fails")?;
    for word in words {
        match word {
            Ok(text) => eprintln!("{text}"),
            Err(why) => bail!(why),
        }
    }
    Ok(())
}

fn look() -> Look {
    let value = |name: &str| std::env::var(name).ok();
    let [no_color, colorterm, term] = ["NO_COLOR", "COLORTERM", "TERM"].map(value);
    let [all, ctype, lang] = ["LC_ALL", "LC_CTYPE", "LANG"].map(value);
    Look::from_env(no_color.as_deref(), colorterm.as_deref(), term.as_deref()).with_locale(
        all.as_deref(),
        ctype.as_deref(),
        lang.as_deref(),
    )
}

type Begun = (World, Question, Vec<String>);

fn measured_world(args: &ExploreArgs, host: &Host) -> anyhow::Result<Begun> {
    let (op, size) = (args.op.unwrap_or(OP), args.size.unwrap_or(SIZE));
    let drive = args.drive.unwrap_or(Drive::Throughput);
    let levels = Levels::of(&host.caches);
    let exists = move |cell: &Cell| state_exists(cell, &levels);
    let states: Vec<State> = Level::ALL.iter().map(|level| State::both(*level)).collect();
    let state = match args.state {
        Some(state) => match exists(&Cell::new(op, size, state, drive)) {
            Ok(()) => state,
            Err(why) => return super::exit::unsupported(format!("no {state} here: {why}")),
        },
        None => {
            let here = |state: &State| exists(&Cell::new(op, size, *state, drive)).is_ok();
            let Some(state) = states.iter().copied().find(here) else {
                return super::exit::unsupported(format!(
                    "no state exists here for calls of {}",
                    human_size(size)
                ));
            };
            state
        }
    };
    let world = World {
        axes: AXES,
        usable: Some(host.usable),
        states,
        sizes: SIZES.map(|power| 1 << power).collect(),
        exists: Box::new(exists),
        limits: limits(host),
        recorded: None,
        ledger: Ledger::new(host.tsc.calibrated_hz),
    };
    Ok((world, Question { op, size, state, drive }, Vec::new()))
}

/// Bytes a cycle that this host's ports allow, for each op.
fn limits(host: &Host) -> Vec<(Op, f64)> {
    let limit = |op| Facts::of(host, op, String::new()).limit;
    Op::ALL.iter().filter_map(|op| Some((*op, limit(*op)?.bytes_per_cycle))).collect()
}

fn recorded_world(args: &ExploreArgs, path: &Path, host: &Host) -> anyhow::Result<Begun> {
    let folders = folders_at(path)?;
    let folder: &Folder = match folders.as_slice() {
        [one] => one,
        several => {
            let keys: Vec<&str> = several.iter().map(Folder::key).collect();
            return usage(format!(
                "{} holds the results of several hosts; name one of {}",
                path.display(),
                keys.join(", ")
            ));
        }
    };
    let found = {
        let _shown = Steps::endless(false, "reading what was recorded");
        recorded::read(folder)?
    };
    let fits = |cell: &Cell| {
        args.op.is_none_or(|op| cell.op == op)
            && args.size.is_none_or(|size| cell.size == size)
            && args.state.is_none_or(|state| cell.state == state)
            && args.drive.is_none_or(|drive| cell.drive == drive)
    };
    // Where there is most to see; of cells alike the one that was measured last.
    let loops = |cell: &Cell| found.ledger.book(cell).map_or(0, |book| book.entries().count());
    let fitting = found.cells.iter().copied().filter(fits);
    let Some(first) = fitting.max_by_key(|cell| (loops(cell), found.newest == Some(*cell))) else {
        let cells: Vec<String> = found.cells.iter().map(Cell::to_string).collect();
        let recorded = match cells.as_slice() {
            [] => "no times of loops; looptune search --op zero --size 4096 records some".into(),
            cells => cells.join(", "),
        };
        let damaged = match found.warnings.first() {
            None => String::new(),
            Some(first) => format!("; what could not be read: {first}"),
        };
        bail!("{} has nothing like that; recorded: {recorded}{damaged}", folder.path().display());
    };
    let distinct = |of: &dyn Fn(&Cell) -> State| {
        let mut all: Vec<State> = found.cells.iter().map(of).collect();
        all.sort();
        all.dedup();
        all
    };
    let mut sizes: Vec<u64> = found.cells.iter().map(|c| c.size).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let cells = found.cells.clone();
    let exists = move |cell: &Cell| match cells.contains(cell) {
        true => Ok(()),
        false => Err(format!("{cell} is not recorded")),
    };
    let world = World {
        axes: AXES,
        usable: None,
        states: distinct(&|c| c.state),
        sizes,
        exists: Box::new(exists),
        limits: if folder.key() == host.key { limits(host) } else { Vec::new() },
        recorded: Some(folder.path().display().to_string()),
        ledger: found.ledger,
    };
    let Cell { op, size, state, drive, .. } = first;
    Ok((world, Question { op, size, state, drive }, found.warnings))
}
