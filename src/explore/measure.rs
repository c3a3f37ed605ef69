//! The thread that has the worker: measures batches, verifies and writes exports, writes
//! results. One job at a time, in the order they come.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::Instant;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::event::{Batch, ExportJob, Exported, Heard, Record, Report};
use super::schedule::Order;
use crate::encode;
use crate::export::{Export, Header, check, default_symbol};
use crate::host::Host;
use crate::results::Journal;
use crate::search::{
    Candidate, Effort, Entrant, Panel, baseline_entrant, candidate_entrant, fresh_seed,
};
use crate::subject::{Op, Subject, Variant};
use crate::trial::{
    Body, Check, EvaluateError, Evaluator, Failure, FailureKind, Observer, Phase, Role, Trial,
};

/// What the thread must know beside its evaluator.
#[derive(Clone, Debug)]
pub struct Surroundings {
    /// The host.
    pub host: Host,
    /// Where results are kept.
    pub results: PathBuf,
    /// The command line, for the head of an export and the record of a run.
    pub command: String,
}

/// A job.
#[derive(Clone, Debug)]
pub enum Job {
    /// Measure a batch.
    Measure(Order),
    /// Write a loop as assembly source.
    Export(ExportJob),
    /// Write results.
    Write(Vec<Record>),
}

/// A handle on the thread.
#[derive(Debug)]
pub struct Measurer {
    jobs: Option<Sender<Job>>,
    thread: Option<JoinHandle<()>>,
    interrupted: Arc<AtomicBool>,
}

impl Measurer {
    /// Starts the thread. `evaluator` is called on it, since a worker process ends with the
    /// thread that started it; it should end its work soon once `interrupted` is set. `tell`
    /// takes the answers.
    pub fn spawn<E: Evaluator>(
        evaluator: impl FnOnce() -> E + Send + 'static,
        interrupted: Arc<AtomicBool>,
        around: Surroundings,
        tell: impl Fn(Report) + Send + 'static,
    ) -> std::io::Result<Measurer> {
        let (jobs, queue) = channel();
        let work = move || {
            let run = AssertUnwindSafe(|| serve(&mut evaluator(), &around, &queue, &tell));
            if let Err(panic) = catch_unwind(run) {
                tell(Report::Gone(format!("a bug in this program: {}", text_of(&*panic))));
            }
        };
        let thread = std::thread::Builder::new().name("measure".into()).spawn(work)?;
        Ok(Measurer { jobs: Some(jobs), thread: Some(thread), interrupted })
    }

    /// Hands over a job; whether there is somebody to do it.
    pub fn send(&self, job: Job) -> bool {
        self.jobs.as_ref().is_some_and(|jobs| jobs.send(job).is_ok())
    }

    /// Ends the thread: at once, or when the jobs given so far are done.
    pub fn finish(&mut self, at_once: bool) {
        if at_once {
            self.interrupted.store(true, Ordering::Relaxed);
        }
        self.jobs = None;
        if let Some(thread) = self.thread.take() {
            // What a panic said was told already.
            let _ = thread.join();
        }
    }
}

impl Drop for Measurer {
    fn drop(&mut self) {
        self.finish(true);
    }
}

fn text_of(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or(panic.downcast_ref::<&str>().copied()).unwrap_or("it does not say which").to_string()
}

fn serve(
    evaluator: &mut dyn Evaluator,
    around: &Surroundings,
    queue: &Receiver<Job>,
    tell: &dyn Fn(Report),
) {
    let mut rng = ChaCha8Rng::seed_from_u64(fresh_seed());
    let tick_hz = around.host.tsc.calibrated_hz;
    for job in queue {
        tell(match job {
            Job::Measure(order) => match measure(evaluator, &order, tick_hz, rng.random()) {
                Ok(batch) => Report::Measured(batch),
                Err(why) => Report::Trouble(why.to_string()),
            },
            Job::Export(job) => Report::Exported(export(evaluator, around, &job)),
            Job::Write(records) => Report::Written(write(evaluator, around, records)),
        });
    }
}

/// Collects what a panel tells.
#[derive(Default)]
struct Ears(Vec<Heard>);

impl Observer for Ears {
    fn trial(&mut self, trial: &Trial<'_>) {
        self.0.push(Heard {
            subject: trial.subject.clone(),
            role: trial.role,
            code_bytes: trial.code_bytes,
            outcome: trial.outcome.as_ref().map(|_| trial.samples.to_vec()).map_err(Clone::clone),
        });
    }
}

/// Measures one batch. `tick_hz`: time-stamp ticks a second; `seed`: of everything drawn.
///
/// # Errors
/// As the evaluator.
pub fn measure(
    evaluator: &mut dyn Evaluator,
    order: &Order,
    tick_hz: f64,
    seed: u64,
) -> Result<Batch, EvaluateError> {
    let begun = Instant::now();
    let cell = order.cell;
    let mut ears = Ears::default();
    let baselines = order.baselines.iter().filter_map(|b| baseline_entrant(*b, cell.op));
    let mut entrants: Vec<Entrant> = baselines.collect();
    for variant in &order.members {
        match Candidate::new(*variant) {
            Ok(candidate) => {
                // Of several ids with one code this one was asked for.
                entrants.push(candidate_entrant(&candidate, false));
            }
            Err(why) => ears.0.push(Heard {
                subject: Subject::Variant(*variant),
                role: Role::Candidate,
                code_bytes: None,
                outcome: Err(Failure {
                    kind: FailureKind::Unsupported(why.to_string()),
                    case: String::new(),
                }),
            }),
        }
    }
    let effort = Effort {
        layouts: order.layouts,
        blocks: order.blocks,
        pass_ns: order.pass_ns,
        limit_ns: order.limit_ns,
    };
    let mut panel = Panel::new(cell, entrants, tick_hz);
    panel.measure(evaluator, &mut ears, Phase::Bench, effort, seed)?;
    let mut heard = ears.0;
    for entrant in &panel.entrants {
        if heard.iter().all(|h| h.subject != entrant.subject) {
            heard.push(Heard {
                subject: entrant.subject.clone(),
                role: entrant.role,
                code_bytes: entrant.code_bytes,
                outcome: Ok(Vec::new()),
            });
        }
    }
    let wall_ns = begun.elapsed().as_secs_f64() * 1e9;
    Ok(Batch { cell, heard, clock: panel.clock, wall_ns })
}

fn body(variant: &Variant) -> Result<Body, String> {
    let code = encode::compile(variant).map_err(|why| format!("{variant}: {why}"))?;
    Ok(Body::Machine(code.machine()))
}

fn export(evaluator: &mut dyn Evaluator, around: &Surroundings, job: &ExportJob) -> Exported {
    if job.path.is_dir() {
        let why = format!("{} is a folder; name a file", job.path.display());
        return Exported::Refused(why);
    }
    if !job.overwrite && job.path.exists() {
        return Exported::Exists(job.path.clone());
    }
    match exported(evaluator, around, job) {
        Ok(text) => Exported::Written(text),
        Err(why) => Exported::Refused(format!("{} is not exported: {why}", job.variant)),
    }
}

/// Verifies fully, writes, and has assemblers compare what was written with what was tuned.
fn exported(
    evaluator: &mut dyn Evaluator,
    around: &Surroundings,
    job: &ExportJob,
) -> Result<String, String> {
    let variant = &job.variant;
    let code = encode::compile(variant).map_err(|why| why.to_string())?;
    let bodies = [Body::Machine(code.machine())];
    let outcome = evaluator.verify(variant.op, &bodies, Check::Full);
    match outcome.map_err(|why| why.to_string())?.first() {
        Some(Ok(())) => {}
        Some(Err(failure)) => return Err(format!("it failed verification: {failure}")),
        None => return Err("the worker did not answer".into()),
    }
    let symbol = default_symbol(variant.op);
    let place = job.path.display();
    let header = Header {
        host: format!("{}, {}", around.host.key, around.host.cpu.brand),
        command: format!("looptune export {variant} --symbol {symbol} -o {place}"),
        found_by: Some(around.command.clone()),
        measured: job.measured.clone(),
        provisional: false,
        inexact: None,
    };
    let export = Export { code: &code, variant, symbol: &symbol, header: &header };
    let text = export.asm().map_err(|why| why.to_string())?;
    let failed = |why: std::io::Error| format!("{place} cannot be written: {why}");
    std::fs::write(&job.path, text).map_err(failed)?;
    // What is checked is what others will read.
    let written = std::fs::read_to_string(&job.path).map_err(failed)?;
    let checked = check(&written, &symbol, &code)
        .map_err(|why| format!("do not use what was written to {place}: {why}"))?;
    Ok(format!("{variant} as `{symbol}`: {place}; fully verified here; {checked}"))
}

/// Verifies what is worth exporting, and writes a run of everything.
fn write(
    evaluator: &mut dyn Evaluator,
    around: &Surroundings,
    records: Vec<Record>,
) -> Result<String, String> {
    let verified = verified(evaluator, &records);
    let host = &around.host;
    let seed = 0; // Batches draw their own.
    let open = Journal::open(&around.results, &host.key, host, seed, &around.command, |_| {});
    let mut journal = open.map_err(|why| why.to_string())?;
    let (run, folder) = (journal.run().to_string(), journal.folder().to_path_buf());
    for record in &records {
        journal.trial(&Trial {
            phase: Phase::Bench,
            role: record.role,
            cell: record.cell,
            subject: &record.subject,
            code_bytes: record.code_bytes,
            fully_verified: verified.contains(&record.subject),
            outcome: record.outcome.clone(),
            samples: &record.samples,
            clock: record.clock,
        });
    }
    journal.finish().map_err(|why| why.to_string())?;
    Ok(told(&folder, &run, records.len(), verified.len()))
}

fn told(folder: &Path, run: &str, rows: usize, verified: usize) -> String {
    let folder = folder.display();
    format!("{rows} rows written to {folder} (run {run}), {verified} of them fully verified")
}

/// The subjects that passed the full verification. One that did not is written as it was
/// measured: quick verification had passed.
fn verified(evaluator: &mut dyn Evaluator, records: &[Record]) -> Vec<Subject> {
    let mut passed = Vec::new();
    for op in Op::ALL {
        let mut asked: Vec<(&Subject, Body)> = Vec::new();
        for record in records.iter().filter(|r| r.verify && r.cell.op == *op) {
            let Subject::Variant(variant) = &record.subject else { continue };
            if asked.iter().any(|(subject, _)| *subject == &record.subject) {
                continue;
            }
            if let Ok(body) = body(variant) {
                asked.push((&record.subject, body));
            }
        }
        let bodies: Vec<Body> = asked.iter().map(|(_, body)| body.clone()).collect();
        if bodies.is_empty() {
            continue;
        }
        // Without a worker nothing is verified, and rows say so.
        let Ok(outcomes) = evaluator.verify(*op, &bodies, Check::Full) else { continue };
        let right = asked.iter().zip(&outcomes).filter(|(_, outcome)| outcome.is_ok());
        passed.extend(right.map(|((subject, _), _)| (*subject).clone()));
    }
    passed
}
