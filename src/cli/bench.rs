//! `looptune bench A B …`

use std::io::Write;
use std::path::PathBuf;

use clap::{Args, ValueHint};
use serde_json::{Value, json};

use super::arguments::{self, Drives, Sizes, States};
use super::exit::{unsupported, usage};
use super::progress::ProgressLine;
use super::session::Session;
use crate::report::{self, BenchCell};
use crate::search::{
    Budget, Candidate, Contest, Entrant, Question, baseline_entrant, candidate_entrant, compare,
    fresh_seed, plan,
};
use crate::space;
use crate::subject::{Baseline, Contract, Op, Subject};
use crate::trial::{Body, Member, Role};

/// Seconds a cell gets where nothing is asked: a whole run stays below one.
const CELL_SECONDS: f64 = 0.7;

/// The size of calls where nothing is asked, bytes.
const SIZE: u64 = 4096;

/// Arguments of `looptune bench`.
#[derive(Debug, Args)]
#[command(after_help = format!("Examples:\n  \
    looptune bench zero/ymm/u4/a64 zero/rep8 libc --size 4096\n  \
    looptune bench copy/ymm/u4 libc ./libfast.so:my_memcpy --size 64,4k --state l1\n\n\
    The first subject is the reference. The same id twice is emitted at two places.\n\n{}",
    arguments::about_ids()))]
pub struct BenchArgs {
    /// Variants, baselines and functions as path.so:symbol; the first is the
    /// reference
    #[arg(value_parser = arguments::subject(), required = true, hide_possible_values = true)]
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
    /// For the whole command: a time, or a number of samples [default: 0.7s a cell]
    #[arg(long, value_parser = Budget::parse, allow_hyphen_values = true, value_hint = ValueHint::Other)]
    budget: Option<Budget>,
    /// Seed of everything drawn
    #[arg(long, value_hint = ValueHint::Other)]
    seed: Option<u64>,
    /// Make the driver do so much more work for the second subject
    #[arg(long, hide = true, value_parser = arguments::fraction)]
    plant: Option<f64>,
    /// One JSON document on stdout, nothing else there
    #[arg(long)]
    json: bool,
    /// No progress on stderr
    #[arg(long, short)]
    quiet: bool,
}

pub(super) fn run(args: &BenchArgs, runner: Option<&str>) -> anyhow::Result<()> {
    let op = common_op(args)?;
    let mut session = Session::new(runner)?;
    let mut entrants = Vec::new();
    for subject in &args.subjects {
        entrants.push(entrant(subject, op, &session)?);
    }
    if let Some(plant) = args.plant {
        let Some(second) = entrants.get_mut(1) else {
            return usage("--plant needs a second subject");
        };
        second.member.plant = plant;
    }
    let mixes = arguments::mixes(&args.mix)?;
    let question = Question {
        contract: Contract::User,
        op,
        sizes: match &args.size {
            Some(sizes) => sizes.0.clone(),
            None if mixes.is_empty() => vec![SIZE],
            None => Vec::new(),
        },
        mixes,
        states: args.state.as_ref().map(|s| s.0.clone()),
        drives: args.drive.as_ref().map(|d| d.0.clone()),
        budget: args.budget,
        seed: args.seed.unwrap_or_else(fresh_seed),
        baselines: Vec::new(),
        weights: Vec::new(),
    };
    let plans = plan(&question, &session.host.caches);
    let cells: Vec<_> = plans.iter().flat_map(|p| p.cells.clone()).collect();
    if cells.is_empty() {
        let reasons = plans.iter().flat_map(|p| p.absent.iter().map(|(_, why)| why.clone()));
        return unsupported(format!(
            "nothing to measure: {}",
            reasons.collect::<Vec<_>>().join("; ")
        ));
    }
    let tick_hz = session.host.tsc.calibrated_hz;
    let mut line = ProgressLine::new(args.quiet);
    let mut measured: Vec<BenchCell> = Vec::new();
    for (index, cell) in cells.iter().enumerate() {
        let contest = Contest {
            cell: *cell,
            mix: question.mixes.iter().find(|m| Some(m.mix) == cell.mix).cloned(),
            entrants: entrants.clone(),
            budget: share(question.budget, cells.len()),
            seed: question.seed.wrapping_add(index as u64),
        };
        let result = compare(&contest, tick_hz, &mut session.client, &mut line);
        let rows = match result {
            // What was measured before the interruption is shown.
            Err(crate::trial::EvaluateError::Interrupted) if !measured.is_empty() => break,
            other => other?,
        };
        measured.push(BenchCell { cell: *cell, rows });
    }
    line.finish();
    let facts = session.facts(op);
    let mut out = std::io::stdout().lock();
    if args.json {
        let document: Value = report::bench_json(&measured, &facts);
        writeln!(out, "{}", serde_json::to_string_pretty(&json!(document))?)?;
    } else {
        write!(out, "{}", report::bench(&measured, &facts))?;
    }
    out.flush()?;
    let failed = measured.iter().flat_map(|c| &c.rows).filter(|r| r.result.is_err()).count();
    if failed > 0 {
        let rows: usize = measured.iter().map(|c| c.rows.len()).sum();
        anyhow::bail!("{failed} of {rows} rows have no time; the reasons stand above");
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
pub(super) fn entrant(subject: &Subject, op: Op, session: &Session) -> anyhow::Result<Entrant> {
    match subject {
        Subject::Variant(variant) => {
            arguments::legal(variant)?;
            if let Err(why) = space::supported(variant, &session.host.usable) {
                return unsupported(format!("this host cannot run {variant}: {why}"));
            }
            Ok(candidate_entrant(&Candidate::new(*variant)?, false))
        }
        Subject::Baseline(baseline) => match baseline_entrant(*baseline, op) {
            Some(entrant) => Ok(entrant),
            None => {
                let all: Vec<_> = Baseline::ALL.iter().map(|b| b.word()).collect();
                usage(format!("`{baseline}` has no form for {op}; baselines are {}", all.join(" ")))
            }
        },
        Subject::Foreign { path, symbol } => Ok(Entrant {
            subject: subject.clone(),
            member: Member::new(Body::Foreign { path: path.clone(), symbol: symbol.clone() }),
            role: Role::Candidate,
            code_bytes: None,
            fully_verified: false,
        }),
    }
}
