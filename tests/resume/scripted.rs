//! The search on a scripted machine whose clock moves with its answers only.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use looptune::host::Host;
use looptune::measure::{Levels, Reckoned};
use looptune::results::{Continued, Journal, Origin, RunLog, read_decisions, unfinished};
use looptune::search::{
    Budget, Candidate, Incumbents, Job, Question, SearchOutcome, SizePlan, Stop, Strategy,
    compile_all, search,
};
use looptune::subject::{
    Baseline, Cell, Class, Conditions, Consumer, Contract, Drive, Extent, Level, Op, State, Variant,
};
use looptune::trial::{
    BlockRequest, BlockResult, Body, Check, Clock, Disturbance, EvaluateError, Evaluator, Failure,
    FailureKind, Sample,
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const KEY: &str = "scripted";

/// A machine whose times are a formula, and which breaks off when it is told to.
struct Machine {
    unrolls: HashMap<Body, u8>,
    /// Every question that was answered.
    asked: Vec<String>,
    clock: Duration,
    /// It breaks off instead of answering so many.
    breaks_off: Option<usize>,
}

impl Machine {
    fn new(candidates: &[Candidate]) -> Machine {
        let unrolls = candidates.iter().map(|c| (c.body.clone(), c.variant.unroll)).collect();
        Machine { unrolls, asked: Vec::new(), clock: Duration::from_secs(7), breaks_off: None }
    }

    /// Answers after a while, which is another one for each question.
    fn answers(&mut self, question: String) -> Result<(), EvaluateError> {
        if self.breaks_off == Some(self.asked.len()) {
            return Err(EvaluateError::Interrupted);
        }
        self.clock += Duration::from_micros(7_000 + 911 * (self.asked.len() as u64 % 13));
        self.asked.push(question);
        Ok(())
    }
}

impl Evaluator for Machine {
    fn evaluate(&mut self, request: &BlockRequest) -> Result<BlockResult, EvaluateError> {
        self.answers(format!("{request:?}"))?;
        let mut rng = ChaCha8Rng::seed_from_u64(request.seed);
        let (mut samples, mut failures) = (Vec::new(), Vec::new());
        for (i, member) in request.members.iter().enumerate() {
            if self.unrolls.get(&member.body) == Some(&3) {
                let kind = FailureKind::Crashed { signal: 11 };
                failures.push((i as u32, Failure { kind, case: "timing".into() }));
            }
        }
        for layout in 0..request.layouts {
            for block in 0..request.blocks {
                for (i, member) in request.members.iter().enumerate() {
                    let unroll = self.unrolls.get(&member.body).copied();
                    if unroll == Some(3) {
                        continue;
                    }
                    // Near ties, so that it hangs on the samples who wins.
                    let ns = unroll.map_or(100.0, |u| 90.0 + f64::from(u) * 0.05);
                    samples.push(Sample {
                        member: i as u32,
                        layout,
                        block,
                        thread: 0,
                        ticks: (ns * 1000.0 * rng.random_range(0.97..1.03)) as u64,
                        calls: 1000,
                        disturbance: Disturbance::default(),
                    });
                }
            }
        }
        let clock = Clock { cycles_per_tick: 2.0, ..Clock::default() };
        Ok(BlockResult { samples, failures, clock, disturbed: 0 })
    }

    fn verify(
        &mut self,
        op: Op,
        bodies: &[Body],
        check: Check,
    ) -> Result<Vec<Result<(), Failure>>, EvaluateError> {
        self.answers(format!("{op:?} {bodies:?} {check:?}"))?;
        Ok(vec![Ok(()); bodies.len()])
    }

    fn clock(&mut self) -> Duration {
        self.clock
    }
}

fn candidates() -> Vec<Candidate> {
    let unrolls = [1, 2, 3, 4, 6, 8];
    let of = |class| unrolls.map(|unroll| Variant { unroll, ..Variant::new(Op::Zero, class) });
    compile_all([Class::R64, Class::Xmm, Class::Ymm].into_iter().flat_map(of)).unwrap()
}

fn question(seed: u64) -> Question {
    Question {
        op: Op::Zero,
        contract: Contract::User,
        sizes: vec![4096],
        mixes: Vec::new(),
        states: None,
        drives: None,
        conditions: Conditions::DEFAULT,
        consumers: vec![Consumer::None],
        budget: Some(Budget::Seconds(0.4)),
        seed,
        baselines: Baseline::PRESENT.to_vec(),
        weights: Vec::new(),
    }
}

/// Two cells: a cheap one and a dear one.
fn plans() -> Vec<SizePlan> {
    let extent = Extent::fixed(4096);
    let cell = |level| Cell::of(Op::Zero, extent, State::both(level), Drive::Throughput);
    vec![SizePlan { extent, cells: vec![cell(Level::L1), cell(Level::Dram)], absent: Vec::new() }]
}

fn origin(run: &str, seed: u64) -> Origin {
    Origin {
        run: run.into(),
        version: "0".into(),
        host: KEY.into(),
        arguments: Vec::new(),
        directory: String::new(),
        seed,
        spent_ns: 0,
        tick_hz: 1e9,
        edges: None,
        reckoned: Reckoned::told(Levels::of(&Host::detect().caches)),
        plans: plans(),
        incumbents: Incumbents::default(),
        candidates: (0, 0),
        series: None,
    }
}

/// Searches in a folder of results: anew, or on with the run that is unfinished there.
fn go(results: &Path, machine: &mut Machine, seed: u64) -> Result<SearchOutcome, EvaluateError> {
    let (candidates, folder) = (candidates(), results.join(KEY));
    let begun = unfinished(&folder).unwrap().rows.pop();
    let (mut journal, mut log) = match begun {
        Some(begun) => {
            let (log, _) = RunLog::open(&begun.path, |e| panic!("{e}")).unwrap();
            let run = &begun.origin.run;
            let journal = Journal::reopen(&folder, run, seed, |e| panic!("{e}")).unwrap();
            assert!(journal.trials_kept() <= log.trials(), "a trial that no answer explains");
            (journal, log)
        }
        None => {
            let facts = HashMap::from([("cpu", "scripted")]);
            let journal =
                Journal::open(results, KEY, &facts, seed, "looptune", |e| panic!("{e}")).unwrap();
            let origin = origin(journal.run(), seed);
            let log = RunLog::create(journal.folder(), origin, |e| panic!("{e}")).unwrap();
            (journal, log)
        }
    };
    let question = question(seed);
    let plans = log.origin().plans.clone();
    let job = Job {
        question: &question,
        plans: &plans,
        candidates: &candidates,
        incumbents: &log.origin().incumbents.clone(),
        strategy: Strategy::default(),
        tick_hz: log.origin().tick_hz,
        spent: Duration::from_nanos(log.origin().spent_ns),
    };
    let outcome = search(&job, &mut Continued::new(&mut log, machine), &mut journal)?;
    let cells = outcome.sizes.iter().flat_map(|s| &s.cells);
    let interrupted = cells.clone().any(|c| c.stop == Stop::Interrupted);
    journal.finish_search(&outcome).unwrap();
    if !interrupted {
        log.remove().unwrap();
    }
    Ok(outcome)
}

/// The rows of a table without the run's id, the header among them.
fn rows(results: &Path, table: &str) -> Vec<String> {
    let text = std::fs::read_to_string(results.join(KEY).join(table)).unwrap();
    text.lines().map(|line| line.split_once(',').unwrap().1.to_string()).collect()
}

fn log_path(results: &Path) -> PathBuf {
    unfinished(&results.join(KEY)).unwrap().rows.pop().expect("an unfinished run").path
}

/// A search that nobody broke off.
struct Whole {
    room: tempfile::TempDir,
    asked: Vec<String>,
    outcome: SearchOutcome,
}

fn whole() -> Whole {
    let room = tempfile::tempdir().unwrap();
    let mut machine = Machine::new(&candidates());
    let outcome = go(room.path(), &mut machine, 5).unwrap();
    assert!(unfinished(&room.path().join(KEY)).unwrap().rows.is_empty());
    Whole { room, asked: machine.asked, outcome }
}

impl Whole {
    /// What is in a folder is what is in the folder of the whole search.
    fn is_like(&self, results: &Path) {
        for table in ["trials.csv", "samples.csv"] {
            assert!(rows(results, table) == rows(self.room.path(), table), "{table}");
        }
        let decided = read_decisions(&results.join(KEY).join("decisions.csv")).unwrap();
        assert!(decided.warnings.is_empty(), "{:?}", decided.warnings);
        let [run] = decided.rows.as_slice() else { panic!("{} decisions", decided.rows.len()) };
        let whole = read_decisions(&self.room.path().join(KEY).join("decisions.csv")).unwrap();
        assert_eq!(run.outcome, whole.rows[0].outcome);
    }
}

#[test]
fn broken_off_at_every_question_it_asks_the_same_and_finds_the_same() {
    let whole = whole();
    assert!(whole.asked.len() > 20, "{}", whole.asked.len());
    let room = tempfile::tempdir().unwrap();
    let mut machine = Machine::new(&candidates());
    for question in 0..whole.asked.len() {
        machine.breaks_off = Some(question);
        let outcome = go(room.path(), &mut machine, 5).unwrap();
        let said = outcome.warnings.iter().any(|w| w.contains("interrupted"));
        assert!(said, "{question}: {:?}", outcome.warnings);
    }
    machine.breaks_off = None;
    let outcome = go(room.path(), &mut machine, 5).unwrap();
    assert!(machine.asked == whole.asked, "other questions were asked");
    assert_eq!(outcome, whole.outcome);
    whole.is_like(room.path());
    assert!(unfinished(&room.path().join(KEY)).unwrap().rows.is_empty(), "it is over");
}

#[test]
fn what_a_crash_tore_is_asked_again() {
    let whole = whole();
    for (lost, spoiled) in [(1, false), (700, false), (9, true), (15_000, true)] {
        let room = tempfile::tempdir().unwrap();
        let mut machine = Machine::new(&candidates());
        machine.breaks_off = Some(whole.asked.len() - 3);
        go(room.path(), &mut machine, 5).unwrap();
        // A crash before the run could decide anything, and with it the end of each file.
        let folder = room.path().join(KEY);
        std::fs::remove_file(folder.join("decisions.csv")).unwrap();
        let path = log_path(room.path());
        let mut log = std::fs::read(&path).unwrap();
        assert!(log.len() > 20_000, "{}", log.len());
        let at = log.len() - lost;
        if spoiled {
            log[at] ^= 0x55;
        } else {
            log.truncate(at);
        }
        std::fs::write(&path, log).unwrap();
        // The tables are behind the log at any crash: what they had of the lost answers, and a
        // torn line, too.
        let (left, warnings) = RunLog::open(&path, |e| panic!("{e}")).unwrap();
        assert!(warnings.len() == 1 && warnings[0].contains("cut off"), "{warnings:?}");
        let keep = left.trials() as usize;
        drop(left);
        for table in ["trials.csv", "samples.csv"] {
            let text = std::fs::read_to_string(folder.join(table)).unwrap();
            let lines: Vec<&str> = text.split_inclusive('\n').collect();
            let whole_lines = match table {
                "trials.csv" => keep,
                _ => 1.min(lines.len() - 1),
            };
            let mut cut = lines[..whole_lines].concat();
            cut += &lines[whole_lines][..lines[whole_lines].len() / 2];
            std::fs::write(folder.join(table), cut).unwrap();
        }
        // The machine goes on from where the log ends.
        let mut machine = Machine::new(&candidates());
        let outcome = go(room.path(), &mut machine, 5).unwrap();
        assert!(outcome.warnings.iter().all(|w| !w.contains("interrupted")));
        assert!(machine.asked.len() >= 3, "only what was lost is asked");
        assert!(machine.asked.len() < whole.asked.len());
        let untorn = |table| {
            let mut rows = rows(room.path(), table);
            let before = rows.len();
            rows.retain(|row| !row.ends_with(",torn"));
            assert_eq!(rows.len(), before - 1, "one torn line in {table}");
            rows.len()
        };
        assert!(untorn("trials.csv") > keep);
        untorn("samples.csv");
    }
}

#[test]
fn another_search_than_was_recorded_is_refused() {
    let room = tempfile::tempdir().unwrap();
    let mut machine = Machine::new(&candidates());
    machine.breaks_off = Some(10);
    go(room.path(), &mut machine, 5).unwrap();
    machine.breaks_off = None;
    let other = go(room.path(), &mut machine, 6).unwrap_err().to_string();
    assert!(other.contains("question 1 of run") && other.contains("search anew"), "{other}");
    // Nothing of it is spoiled.
    go(room.path(), &mut machine, 5).unwrap();
}

#[test]
fn a_run_is_resumed_by_one_only() {
    let room = tempfile::tempdir().unwrap();
    let mut machine = Machine::new(&candidates());
    machine.breaks_off = Some(4);
    go(room.path(), &mut machine, 5).unwrap();
    let path = log_path(room.path());
    let (first, _) = RunLog::open(&path, |e| panic!("{e}")).unwrap();
    let second = RunLog::open(&path, |e| panic!("{e}")).unwrap_err().to_string();
    assert!(second.contains("still going on"), "{second}");
    assert!(unfinished(&room.path().join(KEY)).unwrap().rows[0].running);
    drop(first);
    assert!(!unfinished(&room.path().join(KEY)).unwrap().rows[0].running);
    // What is no log is told of, and is in nobody's way.
    std::fs::write(room.path().join(KEY).join("resume-x.log"), "something").unwrap();
    let read = unfinished(&room.path().join(KEY)).unwrap();
    assert_eq!(read.rows.len(), 1);
    assert!(read.warnings[0].contains("another version"), "{:?}", read.warnings);
}

#[test]
fn interrupted_searches_do_not_pile_up() {
    let room = tempfile::tempdir().unwrap();
    let folder = room.path().join(KEY);
    std::fs::create_dir(&folder).unwrap();
    let oldest = RunLog::create(&folder, origin("run-10", 1), |e| panic!("{e}")).unwrap();
    for run in 11..30 {
        RunLog::create(&folder, origin(&format!("run-{run}"), 1), |e| panic!("{e}")).unwrap();
    }
    let left = unfinished(&folder).unwrap().rows;
    let runs: Vec<&str> = left.iter().map(|u| u.origin.run.as_str()).collect();
    assert_eq!(runs.len(), 11, "ten, and the one that a process is at: {runs:?}");
    assert_eq!((runs[0], runs[10]), ("run-10", "run-29"));
    drop(oldest);
}
