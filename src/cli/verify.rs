//! `looptune verify`

use std::io::Write;
use std::time::Instant;

use clap::{Args, ValueHint};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::arguments;
use super::bench::entrant;
use super::exit::usage;
use super::progress::Steps;
use super::session::Session;
use crate::search::{compile_all, fresh_seed};
use crate::space;
use crate::subject::{Op, Subject};
use crate::trial::{Body, Check, Evaluator, Failure, FailureKind, Misbehaviour};

/// Random variants where nothing is asked.
const RANDOM: usize = 1000;

/// Bodies in one request.
const BATCH: usize = 256;

/// Size that the quick verification tries beside the boundaries, bytes.
const QUICK_SIZE: u64 = 4096;

/// Arguments of `looptune verify`.
#[derive(Debug, Args)]
#[command(after_help = format!("Examples:\n  \
    looptune verify zero/ymm/u4/nt copy/rep8     these, thoroughly\n  \
    looptune verify --random 20000               random legal variants, quickly\n  \
    looptune verify --random 2000 --full         random legal variants, thoroughly\n\n{}",
    arguments::about_ids()))]
pub struct VerifyArgs {
    /// Variants, baselines and functions as path.so:symbol
    #[arg(value_parser = arguments::subject(), hide_possible_values = true)]
    subjects: Vec<Subject>,
    /// Random legal variants of all axes, both ops [default without subjects: 1000]
    #[arg(long, value_name = "N", value_hint = ValueHint::Other)]
    random: Option<usize>,
    /// The full verification for random variants too
    #[arg(long)]
    full: bool,
    /// The op, for baselines and foreign functions
    #[arg(long, value_parser = arguments::op())]
    op: Option<Op>,
    /// Seed of the random variants
    #[arg(long, value_hint = ValueHint::Other)]
    seed: Option<u64>,
    /// No progress on stderr
    #[arg(long, short)]
    quiet: bool,
}

pub(super) fn run(args: &VerifyArgs, runner: Option<&str>) -> anyhow::Result<()> {
    let mut session = Session::new(runner)?;
    let mut wrong = 0;
    let mut out = std::io::stdout().lock();
    if !args.subjects.is_empty() {
        let steps = Steps::of(args.quiet, args.subjects.len(), "verifying");
        for subject in &args.subjects {
            steps.tell(subject.to_string());
            let Some(op) = subject.op().or(args.op) else {
                return usage(format!("`{subject}` serves several ops; say which with --op"));
            };
            let body = entrant(subject, op, &session)?.member.body;
            let outcome = session.client.verify(op, &[body], Check::Full)?.remove(0);
            steps.done(1);
            match outcome {
                Ok(()) => {
                    steps.aside(|| writeln!(out, "{subject}: exact ({op}, full set)"))?;
                }
                Err(failure) => {
                    wrong += 1;
                    let grade = if quietens(&failure) { "bits-unsafe, " } else { "" };
                    steps.aside(|| writeln!(out, "{subject}: {grade}{failure}"))?;
                }
            }
        }
    }
    let random = args.random.or(args.subjects.is_empty().then_some(RANDOM));
    if let Some(count) = random {
        wrong += run_random(args, count, &mut session, &mut out)?;
    }
    if wrong > 0 {
        anyhow::bail!("{wrong} failed");
    }
    Ok(())
}

/// Whether all that is wrong is that signalling NaNs came out quiet.
fn quietens(failure: &Failure) -> bool {
    matches!(failure.kind, FailureKind::Incorrect(Misbehaviour::BitsChanged { .. }))
}

/// Verifies random variants; gives the number that failed.
fn run_random(
    args: &VerifyArgs,
    count: usize,
    session: &mut Session,
    out: &mut impl Write,
) -> anyhow::Result<u64> {
    let seed = args.seed.unwrap_or_else(fresh_seed);
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let features = session.host.usable;
    let check = if args.full { Check::Full } else { Check::Quick { size: QUICK_SIZE } };
    let ops: Vec<Op> = args.op.map_or_else(|| Op::ALL.to_vec(), |op| vec![op]);
    let (mut verified, mut wrong, mut inexact, mut seconds) = (0, 0, 0, 0.0);
    let steps = Steps::of(args.quiet, count, "verifying");
    for (i, op) in ops.iter().enumerate() {
        let share = count / ops.len() + usize::from(i < count % ops.len());
        // A few ids share their code; what is asked for are distinct loops.
        let variants = space::random(*op, &features, share + share / 10, &mut rng);
        let mut candidates = compile_all(variants)?;
        candidates.truncate(share);
        let started = Instant::now();
        for batch in candidates.chunks(BATCH) {
            let bodies: Vec<Body> = batch.iter().map(|c| c.body.clone()).collect();
            let outcomes = session.client.verify(*op, &bodies, check)?;
            steps.done(batch.len());
            for (candidate, outcome) in batch.iter().zip(outcomes) {
                verified += 1;
                if let Err(failure) = outcome {
                    if !candidate.variant.is_exact() && quietens(&failure) {
                        inexact += 1;
                        continue;
                    }
                    wrong += 1;
                    steps.aside(|| writeln!(out, "{}: {failure}", candidate.variant))?;
                }
            }
        }
        seconds += started.elapsed().as_secs_f64();
    }
    drop(steps);
    let set = if args.full { "full" } else { "quick" };
    writeln!(
        out,
        "{verified} random variants ({set} set, seed {seed}): {wrong} wrong, {inexact} bits-unsafe \
         as x87 numbers are, {:.0} a second",
        f64::from(verified) / seconds.max(1e-9)
    )?;
    Ok(wrong)
}
