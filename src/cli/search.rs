//! `looptune search`

mod after;
mod afterwards;
mod repeat;
mod resume;

use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use clap::{Args, ValueHint};

use self::after::After;
use super::arguments::{self, Drives, Sizes, States, Weights};
use super::conditions::ConditionsArgs;
use super::exit::{unsupported, usage};
use super::measured::{Recorded, cache_sizes, vector_bits};
use super::progress::{Both, ProgressLine, Steps};
use super::session::{Session, command_words, shown};
use crate::host::CpuTimes;
use crate::measure::{CacheSizes, Edges, Reckoned, Thoroughness};
use crate::report::{self, Facts};
use crate::results::{Continued, Folder, Journal, Origin, ResultsError, RunLog};
use crate::search::selftest::loudness;
use crate::search::{
    Budget, Candidate, Incumbents, Job, Question, SearchFile, SearchOutcome, SizePlan, Stop,
    Strategy, StrategyName, compile_all, fresh_seed, plan, search,
};
use crate::space;
use crate::subject::{Baseline, Contract, Op, Variant};
use afterwards::{exceeding, lost_workers, lower_clock};

/// Arguments of `looptune search`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    looptune search --op zero --size 4096\n  \
    looptune search --op copy --size 32..4M --budget 3m\n  \
    looptune search --op zero --size 4k,64k --state l1,dram --json\n  \
    looptune search --op copy --mix calls.csv\n  \
    looptune search --resume                     after Ctrl-C or a crash\n  \
    looptune search --op zero --size 4096 --repeat 10")]
pub struct SearchArgs {
    /// What the loop does
    #[arg(long, value_parser = arguments::tuned_op(), required_unless_present = "resume")]
    op: Option<Op>,
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
    /// class are taken in any case [default: 1.15s a cell, 3s of a mix]
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
    /// Widest vector registers, bits: 128 or 256 leaves out what lowers the clock of some cores
    #[arg(long, value_name = "BITS", value_parser = vector_bits)]
    max_vector: Option<u32>,
    /// Choose as if nothing had been chosen before. By default a loop that an earlier search
    /// chose races again, and stays the choice unless something is faster
    #[arg(long)]
    no_incumbents: bool,
    /// Search file (a path or a built-in name): narrows the axes, may set sizes and states
    #[arg(long, value_name = "FILE", value_parser = arguments::space(), hide_possible_values = true, value_hint = ValueHint::FilePath)]
    space: Option<String>,
    /// How to choose whom to time [default: default, or what the search file says]
    #[arg(long, value_parser = arguments::strategy())]
    strategy: Option<StrategyName>,
    /// Visits of all candidates, each in a new order; with --strategy exhaustive
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=100), value_hint = ValueHint::Other)]
    epochs: Option<u32>,
    /// Samples of each candidate in a visit; with --strategy exhaustive
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=100), value_hint = ValueHint::Other)]
    rounds: Option<u32>,
    /// Keep the raw samples of all candidates, for `looptune replay`, not of finalists only
    #[arg(long)]
    record: bool,
    /// Sizes of the caches that states are made of: measured before the search, or as the processor tells
    #[arg(long, value_parser = cache_sizes(), default_value = "measured")]
    caches: CacheSizes,
    /// Go on with a search that was interrupted or killed: with this run, or the newest; all other
    /// arguments are those that it was begun with
    #[arg(long, value_name = "RUN", num_args = 0..=1, default_missing_value = "", conflicts_with = "repeat", value_hint = ValueHint::Other)]
    resume: Option<String>,
    /// Search so often, with the seeds that follow, then tell how often each loop was chosen and
    /// whether all that were are ties
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=1000), allow_hyphen_values = true, value_hint = ValueHint::Other)]
    repeat: Option<u32>,
    /// Folder of the results
    #[arg(long, value_name = "DIR", default_value = "results", value_hint = ValueHint::DirPath)]
    results: PathBuf,
    #[command(flatten)]
    conditions: ConditionsArgs,
    /// Explain each winner afterwards, as `looptune attribute` does; adds 6s a winner, or half of
    /// what the search gets of a --budget
    #[arg(long)]
    attribute: bool,
    /// One JSON document on stdout, nothing else there
    #[arg(long)]
    json: bool,
    /// No progress on stderr
    #[arg(long, short)]
    quiet: bool,
}

pub(super) fn run(args: &SearchArgs, runner: Option<&str>) -> anyhow::Result<()> {
    let started = Instant::now();
    if let Some(which) = &args.resume {
        return resume::run(args, which);
    }
    let mut ready = Ready::new(args, runner, command_words(), None)?;
    if let Some(times) = args.repeat {
        return repeat::run(args, &mut ready, times, started);
    }
    let ended = ready.begin(args, started.elapsed(), None)?;
    ready.page(args, ended)
}

/// A search that can be begun.
struct Ready {
    /// The words of the command that began it.
    words: Vec<String>,
    session: Session,
    question: Question,
    plans: Vec<SizePlan>,
    candidates: Vec<Candidate>,
    strategy: Strategy,
}

/// A search that has ended, one way or another.
struct Ended {
    run: String,
    outcome: SearchOutcome,
    /// What was done with its winners.
    after: After,
    interrupted: bool,
    /// Whether it is all recorded.
    kept: Result<(), ResultsError>,
    /// What the series that it is of would go on from.
    log: Option<RunLog>,
}

impl Ready {
    /// `caches`: cache sizes that are known already, and how they were measured.
    fn new(
        args: &SearchArgs,
        runner: Option<&str>,
        words: Vec<String>,
        caches: Option<(Reckoned, Option<Edges>)>,
    ) -> anyhow::Result<Ready> {
        let Some(op) = args.op else { return usage("which op? Write --op copy or --op zero") };
        let file = match &args.space {
            Some(name) => arguments::search_file(name)?,
            None => SearchFile::default_for(op),
        };
        if !file.ops.contains(&op) {
            return usage(format!("the search file `{}` is not for {op}", file.name));
        }
        args.conditions.refuse()?;
        let mut file = file.under(args.contract);
        if let Some(bits) = args.max_vector {
            file = file.up_to(bits);
        }
        let mut session = Session::new(runner)?;
        let question = question(args, op, &file)?;
        if let Some((reckoned, edges)) = caches {
            session.reckon(reckoned, edges);
        } else if args.caches == CacheSizes::Measured {
            session.measure_caches(Thoroughness::Quick)?;
        }
        let plans = plan(&question, &session.reckoned.levels);
        refuse_empty(&plans)?;

        let usable = session.host.usable;
        let making = Steps::endless(args.quiet, "generating loops");
        let mut points = file.space(op).legal();
        points.retain(|v| v.is_exact());
        points.retain(|v| space::supported(v, &usable).is_ok());
        refuse_other_sizes(&points, &question)?;
        let candidates = compile_all(points)?;
        drop(making);
        if candidates.is_empty() {
            return unsupported(format!(
                "the search file `{}` has no loop that this host can run under the {} contract; \
                 `looptune list --space FILE` says why",
                file.name, args.contract
            ));
        }
        let strategy = strategy(args, &file)?;
        Ok(Ready { words, session, question, plans, candidates, strategy })
    }

    /// Begins a run and searches. `spent`: for how long the command has run already; `series`: as
    /// of [`Origin`].
    fn begin(
        &mut self,
        args: &SearchArgs,
        spent: Duration,
        series: Option<(Vec<String>, u32)>,
    ) -> anyhow::Result<Ended> {
        let incumbents = match args.no_incumbents {
            true => Incumbents::default(),
            false => self.earlier(args),
        };
        let (host, seed) = (&self.session.host, self.question.seed);
        let command = shown(&self.words);
        let facts = Recorded::of(&self.session);
        let journal = Journal::open(&args.results, &host.key, &facts, seed, &command, tell)?;
        let origin = Origin {
            run: journal.run().into(),
            version: env!("CARGO_PKG_VERSION").into(),
            host: host.key.clone(),
            arguments: self.words.clone(),
            directory: resume::directory(),
            seed,
            spent_ns: u64::try_from(spent.as_nanos()).unwrap_or(u64::MAX),
            tick_hz: host.tsc.calibrated_hz,
            reckoned: self.session.reckoned.clone(),
            edges: self.session.edges.clone(),
            plans: self.plans.clone(),
            incumbents,
            candidates: resume::summed_up(&self.candidates),
            series,
        };
        let log = RunLog::create(journal.folder(), origin, tell)?;
        self.go(args, journal, log)
    }

    /// Searches, as far as the log goes by what it says.
    fn go(
        &mut self,
        args: &SearchArgs,
        mut journal: Journal,
        mut log: RunLog,
    ) -> anyhow::Result<Ended> {
        let origin = log.origin().clone();
        let (lost_before, alone) = (self.session.client.lost(), self.session.client.company());
        journal = journal.recording(args.record);
        let mut line = ProgressLine::new(args.quiet);
        let times = CpuTimes::read();
        let job = Job {
            question: &self.question,
            plans: &origin.plans,
            candidates: &self.candidates,
            incumbents: &origin.incumbents,
            strategy: self.strategy,
            tick_hz: origin.tick_hz,
            spent: Duration::from_nanos(origin.spent_ns),
        };
        let mut evaluator = Continued::new(&mut log, &mut self.session.client);
        let outcome = search(&job, &mut evaluator, &mut Both(&mut journal, &mut line));
        line.finish();
        let mut outcome = match outcome {
            Ok(outcome) => outcome,
            Err(e) => {
                // What has not begun need not be resumed; the error is what matters.
                let alone = log.origin().series.is_none();
                let _ = (alone && log.answers() == (0, 0)).then(|| log.remove());
                return Err(e.into());
            }
        };
        outcome.warnings.splice(0..0, self.session.reckoned.warnings.clone());
        outcome.warnings.extend(exceeding(&outcome, &mut self.session)?);
        outcome.warnings.extend(lost_workers(&outcome, self.session.client.lost() - lost_before));
        outcome.warnings.extend(lower_clock(&outcome, &self.candidates, &mut self.session)?);
        let steal = times.and_then(|before| CpuTimes::read()?.steal_since(&before));
        let company = self.session.client.company().since(alone);
        let loud = loudness(&outcome.sizes, steal, company);
        outcome.warnings.extend(loud.map(|loud| loud.to_string()));
        let mut cells = outcome.sizes.iter().flat_map(|s| &s.cells);
        let interrupted = cells.any(|c| c.stop == Stop::Interrupted);
        let (candidates, question) = (&self.candidates, &self.question);
        let after =
            After::of(args, &outcome, candidates, question, &mut self.session, &mut journal);
        outcome.warnings.extend(after.notes.iter().cloned());
        let mut kept = journal.finish_search(&outcome);
        let mut left = None;
        if interrupted {
            outcome.warnings.push("`looptune search --resume` goes on with it".into());
        } else if origin.series.is_some() {
            left = Some(log);
        } else if kept.is_ok() {
            // What is not recorded can be recorded later, by going on with it.
            kept = log.remove();
        }
        Ok(Ended { run: origin.run, outcome, after, interrupted, kept, log: left })
    }

    /// What earlier searches of the same op chose, the newest first.
    fn earlier(&self, args: &SearchArgs) -> Incumbents {
        let mut incumbents = Incumbents::default();
        let folder = Folder::at(&args.results.join(&self.session.host.key));
        let decisions = folder.decisions().unwrap_or_default();
        let outcomes = decisions.rows.iter().rev().filter_map(|run| run.outcome.as_ref());
        outcomes
            .filter(|o| o.op == self.question.op && o.contract == args.contract)
            .for_each(|outcome| incumbents.take(outcome));
        incumbents.keep(&self.candidates);
        incumbents
    }

    fn facts(&self) -> Facts {
        self.session.facts_of(self.question.op, shown(&self.words))
    }

    /// Prints what a search has found.
    fn page(&self, args: &SearchArgs, ended: Ended) -> anyhow::Result<()> {
        let Ended { outcome, after, kept, .. } = ended;
        let facts = self.facts();
        let mut out = std::io::stdout().lock();
        if args.json {
            let mut document = report::outcome_json(&outcome, &facts);
            after.add_to(&mut document);
            writeln!(out, "{}", serde_json::to_string_pretty(&document)?)?;
        } else {
            write!(out, "{}", report::outcome_with(&outcome, &facts, &after.text()))?;
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
}

/// Trouble with what is kept of a run does not end it.
fn tell(trouble: &ResultsError) {
    eprintln!("looptune: {trouble}");
}

/// How to go about it: what the command line says, else the search file.
fn strategy(args: &SearchArgs, file: &SearchFile) -> anyhow::Result<Strategy> {
    let name = args.strategy.unwrap_or(file.strategy.name);
    if (args.epochs.is_some() || args.rounds.is_some()) && name != StrategyName::Exhaustive {
        return usage(format!(
            "--epochs and --rounds are of --strategy exhaustive; {name} decides itself how often \
             it looks at whom"
        ));
    }
    Ok(Strategy {
        name,
        epochs: args.epochs.unwrap_or(file.strategy.epochs),
        screen_rounds: args.rounds.unwrap_or(file.strategy.screen_rounds),
        ..file.strategy
    })
}

fn question(args: &SearchArgs, op: Op, file: &SearchFile) -> anyhow::Result<Question> {
    let mixes = arguments::mixes(&args.mix)?;
    let of_file = if mixes.is_empty() { file.sizes.clone() } else { None };
    let sizes = args.size.as_ref().map(|s| s.0.clone()).or(of_file).unwrap_or_default();
    if sizes.is_empty() && mixes.is_empty() {
        return usage("which size? Write --size 4096, a list such as 64,100,4k or a range 32..4M");
    }
    Ok(Question {
        op,
        contract: args.contract,
        sizes,
        mixes,
        states: args.state.as_ref().map(|s| s.0.clone()).or_else(|| file.states.clone()),
        drives: args.drive.as_ref().map(|d| d.0.clone()).or_else(|| file.drives.clone()),
        conditions: args.conditions.conditions(args.conditions.placement()),
        consumers: args.conditions.consumers(),
        budget: args.budget.or(file.budget).map(|all| all.part(args.part())),
        seed: args.seed.unwrap_or_else(fresh_seed),
        baselines: Baseline::PRESENT.to_vec(),
        weights: args.weights.as_ref().map(|w| w.0.clone()).unwrap_or_default(),
    })
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
