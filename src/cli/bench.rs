//! `looptune bench A B …`: these against each other; alone, every named loop.

mod alone;
pub(super) mod clock;
pub(super) mod course;

use std::io::Write;
use std::path::PathBuf;

use clap::{Args, ValueHint};

use self::course::{Course, Slot, run_courses};
use super::arguments::{self, Drives, Sizes, States};
use super::conditions::ConditionsArgs;
use super::crossover;
use super::exit::{unsupported, usage};
use super::measured::{cache_sizes, tuned_note};
use super::session::Session;
use crate::measure::{CacheSizes, Thoroughness};
use crate::report::{self, Note};
use crate::search::{
    Budget, Candidate, Entrant, Question, Rival, baseline_entrant, candidate_entrant, fresh_seed,
    plan,
};
use crate::space;
use crate::subject::{Baseline, Cell, Contract, Level, Op, Placement, State, Subject, Variant};
use crate::trial::{Body, EvaluateError, Member, Role};

/// Seconds a cell gets where nothing is asked: a few cells are over in a moment.
const CELL_SECONDS: f64 = 0.7;

/// The size of calls where nothing is asked, bytes.
const SIZE: u64 = 4096;

/// Arguments of `looptune bench`.
#[derive(Debug, Args)]
#[command(after_help = format!("Examples:\n  \
    looptune bench zero/ymm/u4/a64 zero/rep8 libc --size 4096\n  \
    looptune bench libc hasty_asami_bcopy evans_fp_bcopy --state l1,l2\n  \
    looptune bench                              every named loop, a table an op\n  \
    looptune bench copy/ymm/u4 libc ./libfast.so:my_memcpy --size 64,4k --state l1\n\n\
    The first subject is the reference. The same id twice is emitted at two places.\n\n{}",
    arguments::about_ids()))]
pub struct BenchArgs {
    /// Variants, named loops, baselines and functions as path.so:symbol; the first is
    /// the reference [default: every named loop, beside the baselines]
    #[arg(value_parser = arguments::subject(), hide_possible_values = true)]
    subjects: Vec<Subject>,
    /// The op, where no variant says it
    #[arg(long, value_parser = arguments::op())]
    op: Option<Op>,
    /// Bytes, as for search [default: 4096]
    #[arg(long, visible_alias = "sizes", value_parser = arguments::sizes, allow_hyphen_values = true, value_hint = ValueHint::Other)]
    size: Option<Sizes>,
    /// Mixes of sizes, as for search; beside --size, or alone
    #[arg(long, value_name = "FILE", value_delimiter = ',', value_hint = ValueHint::FilePath)]
    mix: Vec<PathBuf>,
    /// States, one or a list [default: all that exist]
    #[arg(long, visible_alias = "states", value_parser = arguments::states())]
    state: Option<States>,
    /// Drives, one or a list [default: throughput; both below 256 bytes a call]
    #[arg(long, visible_alias = "drives", value_parser = arguments::drives())]
    drive: Option<Drives>,
    /// Sizes of the caches that states are made of: measured first, or as the processor tells
    #[arg(long, value_parser = cache_sizes(), default_value = "measured")]
    caches: CacheSizes,
    /// For the whole command: a time, or a number of samples [default: 0.7s a cell; alone 0.25s a loop and cell]
    #[arg(long, value_parser = Budget::parse, allow_hyphen_values = true, value_hint = ValueHint::Other)]
    budget: Option<Budget>,
    /// Seed of everything drawn
    #[arg(long, value_hint = ValueHint::Other)]
    seed: Option<u64>,
    /// Make the driver do so much more work for the second subject
    #[arg(long, hide = true, value_parser = arguments::fraction)]
    plant: Option<f64>,
    /// Leave countermeasures off, to see the traps that they are for
    #[arg(long, hide = true, value_name = "LIST", value_parser = arguments::countermeasures())]
    without: Option<arguments::Countermeasures>,
    #[command(flatten)]
    conditions: ConditionsArgs,
    /// One JSON document on stdout, nothing else there
    #[arg(long)]
    json: bool,
    /// No progress on stderr
    #[arg(long, short)]
    quiet: bool,
}

pub(super) fn run(args: &BenchArgs, runner: Option<&str>) -> anyhow::Result<()> {
    args.conditions.refuse()?;
    if args.subjects.is_empty() {
        return alone::run(args, runner);
    }
    let op = common_op(args)?;
    let mut session = Session::new(runner)?;
    args.look_at_caches(&mut session)?;
    if args.subjects.contains(&Subject::Baseline(Baseline::LibcTuned)) {
        tune_by_crossover(op, args.seed(), &mut session)?;
    }
    let mut slots = Vec::new();
    for subject in &args.subjects {
        slots.push(Slot::Runs(entrant(subject, op, &session)?));
    }
    if let Some(plant) = args.plant {
        let Some(Slot::Runs(second)) = slots.get_mut(1) else {
            return usage("--plant needs a second subject");
        };
        second.member.plant = plant;
    }
    let cells = args.cells(op, &session)?;
    let budget = share(args.budget, cells.len());
    let cells = cells.iter().map(|c| (*c, budget)).collect();
    let without = args.without.iter().flat_map(|w| w.0.iter().copied()).collect();
    let course = Course { op, slots, cells, mixes: arguments::mixes(&args.mix)?, without };
    let entrants = course.entrants();
    let mut ran = run_courses(&[course], args.seed(), &mut session, args.quiet)?;
    let clocks = clock::clocks(op, &entrants, &mut session)?;
    let of_clocks = clocks.iter().map(|c| Note { op: None, text: c.sentence() });
    ran.notes.extend(of_clocks);
    if args.subjects.contains(&Subject::Baseline(Baseline::LibcTuned)) {
        ran.notes.push(Note { op: None, text: tuned_note(&session, op) });
    }
    let facts = session.facts(op);
    let mut out = std::io::stdout().lock();
    if args.json {
        let mut document = report::bench_json(&ran.cells, &facts, &ran.notes);
        document["clock"] = clocks.iter().map(clock::Clocked::json).collect();
        writeln!(out, "{}", serde_json::to_string_pretty(&document)?)?;
    } else {
        write!(out, "{}", report::bench(&ran.cells, &facts, &ran.notes))?;
    }
    out.flush()?;
    let failed = ran.cells.iter().flat_map(|c| &c.rows).filter(|r| r.result.is_err()).count();
    if failed > 0 {
        let rows: usize = ran.cells.iter().map(|c| c.rows.len()).sum();
        anyhow::bail!("{failed} of {rows} rows have no time; the reasons stand above");
    }
    Ok(())
}

impl BenchArgs {
    fn seed(&self) -> u64 {
        self.seed.unwrap_or_else(fresh_seed)
    }

    /// Measures the caches that states are made of, unless they are to be as told.
    fn look_at_caches(&self, session: &mut Session) -> anyhow::Result<()> {
        if self.caches == CacheSizes::Measured {
            session.measure_caches(Thoroughness::Quick)?;
        }
        Ok(())
    }

    /// What is asked of an op.
    fn question(&self, op: Op) -> anyhow::Result<Question> {
        let mixes = arguments::mixes(&self.mix)?;
        Ok(Question {
            contract: Contract::User,
            op,
            sizes: match &self.size {
                Some(sizes) => sizes.0.clone(),
                None if mixes.is_empty() => vec![SIZE],
                None => Vec::new(),
            },
            mixes,
            states: self.state.as_ref().map(|s| s.0.clone()),
            drives: self.drive.as_ref().map(|d| d.0.clone()),
            conditions: self.conditions.conditions(Placement::ALIGNED),
            consumers: self.conditions.consumers(),
            budget: self.budget,
            seed: 0,
            baselines: Vec::new(),
            weights: Vec::new(),
        })
    }

    /// The cells of an op.
    ///
    /// # Errors
    /// Where none exists here, with the reasons.
    fn cells(&self, op: Op, session: &Session) -> anyhow::Result<Vec<Cell>> {
        let plans = plan(&self.question(op)?, &session.reckoned.levels);
        let cells: Vec<Cell> = plans.iter().flat_map(|p| p.cells.clone()).collect();
        if cells.is_empty() {
            let reasons = plans.iter().flat_map(|p| p.absent.iter().map(|(_, why)| why.clone()));
            let reasons = reasons.collect::<Vec<_>>().join("; ");
            return unsupported(format!("nothing to measure: {reasons}"));
        }
        Ok(cells)
    }
}

/// Sizes between which the crossover for `libc-tuned` is looked for, bytes: it lies near the end
/// of the last level.
const CROSSOVER: (u64, u64) = (64 << 10, 8 << 20);

/// Sets the C library of `libc-tuned` by the measured crossover, where it has a setting for that.
fn tune_by_crossover(op: Op, seed: u64, session: &mut Session) -> anyhow::Result<()> {
    if op == Op::Zero && session.host.conditions.clib.memset_nt_threshold.is_none() {
        return Ok(());
    }
    let loops = crossover::loops(op, Rival::Nt, session)?;
    let dram = State::both(Level::Dram);
    match crossover::crossing_of(session, loops, op, dram, CROSSOVER, seed) {
        Ok(Ok(crossing)) => session.tune(crossing.at.size()),
        Ok(Err(_)) | Err(EvaluateError::Interrupted) => {}
        Err(e) => return Err(e.into()),
    }
    Ok(())
}

/// An equal part of the command's budget for each cell.
fn share(budget: Option<Budget>, cells: usize) -> Budget {
    match budget {
        None => Budget::Seconds(CELL_SECONDS),
        Some(Budget::Seconds(s)) => Budget::Seconds(s / cells as f64),
        Some(Budget::Samples(n)) => Budget::Samples(n.div_ceil(cells as u64)),
    }
}

/// The op all subjects serve.
fn common_op(args: &BenchArgs) -> anyhow::Result<Op> {
    let mut op = args.op;
    for subject in &args.subjects {
        match (op, subject.op()) {
            (_, None) => {}
            (None, own) => op = own,
            (Some(a), Some(b)) if a != b => {
                return usage(format!(
                    "`{subject}` is for {b}, but the others (or --op) are for {a}; compare within one op"
                ));
            }
            _ => {}
        }
    }
    match op {
        Some(op) => Ok(op),
        None => usage("which op? No subject says it; add --op copy or --op zero"),
    }
}

/// A subject ready to be measured.
///
/// # Errors
/// Wrong arguments where the subject is illegal or has no form for the op; a refusal of this
/// host where it cannot run it.
pub(super) fn entrant(subject: &Subject, op: Op, session: &Session) -> anyhow::Result<Entrant> {
    match ready(subject, op, session)? {
        Ok(entrant) => Ok(entrant),
        Err(why) => unsupported(format!("this host cannot run {subject}: {why}")),
    }
}

/// A subject ready to be measured, or why this host has none.
///
/// # Errors
/// Where no host could have it.
pub(super) fn ready(
    subject: &Subject,
    op: Op,
    session: &Session,
) -> anyhow::Result<Result<Entrant, String>> {
    let generated = |variant: &Variant| {
        arguments::legal(variant)?;
        if let Err(why) = space::supported(variant, &session.host.usable) {
            return Ok(Err(why.to_string()));
        }
        let mut entrant = candidate_entrant(&Candidate::new(*variant)?, false);
        entrant.subject = subject.clone();
        // Whoever names a loop that changes bits wants to know its time all the same.
        entrant.member.inexact = !variant.is_exact();
        Ok(Ok(entrant))
    };
    match subject {
        Subject::Variant(variant) => generated(variant),
        Subject::Named(named) => generated(&named.variant()),
        Subject::Baseline(baseline) if baseline.optimisation().is_some() => {
            Ok(match session.compiled() {
                Ok(compiled) => {
                    compiled.entrant(*baseline, op).ok_or_else(|| "nothing builds it".into())
                }
                Err(why) => Err(why.to_string()),
            })
        }
        Subject::Baseline(Baseline::LibcTuned) if session.client.tuning().is_err() => {
            Ok(Err(session.client.tuning().err().unwrap_or_default().into()))
        }
        Subject::Baseline(baseline) => match baseline_entrant(*baseline, op) {
            Some(entrant) => Ok(Ok(entrant)),
            None => {
                let all: Vec<_> = Baseline::ALL.iter().map(|b| b.word()).collect();
                usage(format!("`{baseline}` has no form for {op}; baselines are {}", all.join(" ")))
            }
        },
        Subject::Foreign { path, symbol } => Ok(Ok(Entrant {
            subject: subject.clone(),
            member: Member::new(Body::Foreign { path: path.clone(), symbol: symbol.clone() }),
            role: Role::Candidate,
            code_bytes: None,
            fully_verified: false,
        })),
    }
}
