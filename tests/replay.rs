//! Recorded spaces and what is replayed on them.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use assert_cmd::Command;
use looptune::results::{Folder, Journal, RecordedSpace, Replay, ResultsError, spaces};
use looptune::search::{
    Attempt, Candidate, Incumbents, Job, Question, Strategy, StrategyName, attempt, compile_all,
    plan, search,
};
use looptune::subject::{
    Baseline, Cell, Class, Conditions, Consumer, Contract, Drive, Level, Op, State, UNROLLS,
    Variant,
};
use looptune::trial::{
    BlockRequest, BlockResult, Body, Check, Clock, Disturbance, EvaluateError, Evaluator, Failure,
    Member, MemberOrder, Sample, Without,
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const CELL: Cell = Cell::new(Op::Zero, 4096, State::both(Level::L1), Drive::Throughput);

fn candidates() -> Vec<Candidate> {
    let all = [Class::R64, Class::Xmm, Class::Ymm].into_iter().flat_map(|class| {
        UNROLLS.iter().map(move |u| Variant { unroll: *u, ..Variant::new(Op::Zero, class) })
    });
    compile_all(all).unwrap()
}

/// Log time of a loop over the baseline's, without noise.
fn log_time(v: &Variant) -> f64 {
    0.3 / f64::from(v.class.width()) + f64::from(v.unroll.abs_diff(8)) * 0.02 - 0.2
}

/// A machine at an uneven speed: what it does in a block, it does to all members.
struct Uneven(HashMap<Body, Variant>);

impl Evaluator for Uneven {
    fn evaluate(&mut self, request: &BlockRequest) -> Result<BlockResult, EvaluateError> {
        let mut rng = ChaCha8Rng::seed_from_u64(request.seed);
        let mut samples = Vec::new();
        for layout in 0..request.layouts {
            for block in 0..request.blocks {
                // Every fourth block is disturbed, and says nothing of the loops.
                let disturbed = rng.random_range(0..4) == 0;
                let speed = rng.random_range(-0.03..0.03);
                for (member, m) in request.members.iter().enumerate() {
                    let own = self.0.get(&m.body).map_or(0.0, log_time);
                    let lost = if disturbed { rng.random_range(0.3..0.9) } else { 0.0 };
                    let log = own + speed + lost + rng.random_range(-0.002..0.002);
                    samples.push(Sample {
                        member: member as u32,
                        layout,
                        block,
                        ticks: (log.exp() * 1e7) as u64,
                        calls: 100,
                        thread: 0,
                        disturbance: Disturbance::default(),
                    });
                }
            }
        }
        let clock = Clock { cycles_per_tick: 1.0, ..Clock::default() };
        Ok(BlockResult { samples, failures: Vec::new(), clock, disturbed: 0 })
    }

    fn verify(
        &mut self,
        _: Op,
        bodies: &[Body],
        _: Check,
    ) -> Result<Vec<Result<(), Failure>>, EvaluateError> {
        Ok(bodies.iter().map(|_| Ok(())).collect())
    }
}

/// Records the space of the scripted machine; its folder.
fn record(dir: &Path, epochs: u32) -> PathBuf {
    let question = Question {
        op: Op::Zero,
        contract: Contract::User,
        sizes: vec![CELL.size],
        mixes: Vec::new(),
        states: Some(vec![CELL.state]),
        drives: None,
        conditions: Conditions::DEFAULT,
        consumers: vec![Consumer::None],
        budget: None,
        seed: 5,
        baselines: Baseline::PRESENT.to_vec(),
        weights: Vec::new(),
    };
    let caches = looptune::measure::Levels::of(&looptune::host::Host::detect().caches);
    let plans = plan(&question, &caches);
    let list = candidates();
    let name = StrategyName::Exhaustive;
    let strategy = Strategy { name, epochs, screen_rounds: 4, ..Strategy::default() };
    let job = Job {
        question: &question,
        plans: &plans,
        candidates: &list,
        incumbents: &Incumbents::default(),
        strategy,
        tick_hz: 1e9,
        spent: Duration::ZERO,
    };
    let facts: toml::Table = "key = \"test\"".parse().unwrap();
    let tell = |e: &ResultsError| panic!("{e}");
    let mut journal =
        Journal::open(dir, "test", &facts, 5, "looptune search", tell).unwrap().recording(true);
    let mut machine = Uneven(list.iter().map(|c| (c.body.clone(), c.variant)).collect());
    let outcome = search(&job, &mut machine, &mut journal).unwrap();
    journal.finish_search(&outcome).unwrap();
    dir.join("test")
}

fn recorded(dir: &Path) -> RecordedSpace {
    let (mut list, warnings) = spaces(&Folder::at(&record(dir, 12))).unwrap();
    assert!(warnings.is_empty(), "{warnings:?}");
    assert_eq!(list.len(), 1);
    list.remove(0)
}

fn request(members: Vec<Body>, layouts: u32) -> BlockRequest {
    BlockRequest {
        cell: CELL,
        weights: Vec::new(),
        members: members.into_iter().map(Member::new).collect(),
        seed: 1,
        layouts,
        blocks: 1,
        order: MemberOrder::Shuffled,
        check: Check::Quick { size: CELL.size },
        pass_ns: 2000,
        limit_ns: 0,
        without: Without::NOTHING,
    }
}

#[test]
fn a_recorded_space_comes_back_without_the_disturbed() {
    let dir = tempfile::tempdir().unwrap();
    let space = recorded(dir.path());
    assert_eq!((space.cell, space.epochs), (CELL, 12));
    assert_eq!(space.candidates.len(), candidates().len());
    let (blocks, disturbed) = space.blocks;
    assert_eq!(blocks, 48);
    assert!((4..24).contains(&disturbed), "{disturbed} of {blocks}");
    assert_eq!(space.samples_each() as u64, blocks - disturbed);

    // The difference of the loops comes back.
    let bodies = vec![Body::Libc, space.candidates[0].body.clone()];
    let mut replay = Replay::new(&space, 1, false, None);
    let result = replay.evaluate(&request(bodies, 50)).unwrap();
    assert_eq!(result.samples.len(), 100);
    for pair in result.samples.chunks(2) {
        let log = (pair[1].ticks as f64 / pair[0].ticks as f64).ln();
        assert!((log - log_time(&space.candidates[0].variant)).abs() < 0.01, "{log}");
    }
}

#[test]
fn halves_are_apart_and_drift_hits_all_of_a_block_alike() {
    let dir = tempfile::tempdir().unwrap();
    let space = recorded(dir.path());
    let of = |seed, drift| -> Vec<(u64, u64)> {
        let bodies = vec![Body::Libc, space.candidates[3].body.clone()];
        let mut replay = Replay::new(&space, seed, drift, None);
        let samples = replay.evaluate(&request(bodies, 300)).unwrap().samples;
        samples.chunks(2).map(|p| (p[0].ticks, p[1].ticks)).collect()
    };
    let (one, other) = (of(2, false), of(3, false));
    assert!(one.iter().all(|(_, t)| !other.iter().any(|(_, u)| t == u)), "one half is the other");
    // The same deal with drift: the baseline moves, the ratio stays.
    let moved = of(2, true);
    let spread = |pairs: &[(u64, u64)]| {
        let (low, high) = pairs.iter().fold((u64::MAX, 0), |(l, h), p| (l.min(p.0), h.max(p.0)));
        high as f64 / low as f64
    };
    assert!(spread(&one) > 1.02, "the moments of blocks are as recorded: {}", spread(&one));
    assert_ne!(one, moved);
    for (still, moved) in one.iter().zip(&moved) {
        let ratio = |pair: &(u64, u64)| pair.1 as f64 / pair.0 as f64;
        assert!((ratio(still) / ratio(moved) - 1.0).abs() < 1e-5);
    }
}

#[test]
fn what_was_not_recorded_is_refused_by_name() {
    let dir = tempfile::tempdir().unwrap();
    let space = recorded(dir.path());
    let mut replay = Replay::new(&space, 1, false, None);
    let mut refused = |request: BlockRequest| match replay.evaluate(&request) {
        Err(EvaluateError::NotRecorded(why)) => why,
        other => panic!("{other:?}"),
    };
    let libc = || request(vec![Body::Libc], 1);
    let other_size = Cell { size: 64, ..CELL };
    assert!(refused(BlockRequest { cell: other_size, ..libc() }).contains("64"));
    let other_op = Cell { op: Op::Copy, ..CELL };
    assert!(refused(BlockRequest { cell: other_op, ..libc() }).contains("copy"));
    let foreign = Body::Foreign { path: "./libx.so".into(), symbol: "memset".into() };
    assert!(refused(request(vec![foreign], 1)).contains("./libx.so:memset"));
    let stranger = Candidate::new("zero/mmx".parse().unwrap()).unwrap();
    assert!(refused(request(vec![stranger.body], 1)).contains("no recorded id"));
}

#[test]
fn the_same_seed_and_record_leave_the_same_trace() {
    let dir = tempfile::tempdir().unwrap();
    let space = recorded(dir.path());
    for name in StrategyName::ALL {
        let trace = |seed| {
            let mut trace: Vec<u8> = Vec::new();
            let mut replay = Replay::new(&space, seed, true, Some(&mut trace));
            let strategy = Strategy { name: *name, ..Strategy::default() };
            let candidates = &space.candidates;
            let asked = Attempt { cell: CELL, candidates, strategy, samples: 300, seed };
            attempt(&asked, &mut replay).unwrap();
            drop(replay);
            trace
        };
        assert!(!trace(7).is_empty(), "{name}");
        assert_eq!(trace(7), trace(7), "{name}");
        assert_ne!(trace(7), trace(8), "{name}");
    }
}

#[test]
fn older_files_without_the_columns_of_a_replay_hold_no_space() {
    let dir = tempfile::tempdir().unwrap();
    let folder = record(dir.path(), 4);
    let path = folder.join("samples.csv");
    let text = fs::read_to_string(&path).unwrap();
    let cut = |line: &str| line.rsplitn(3, ',').last().unwrap().to_string();
    let old: Vec<String> = text.lines().map(cut).collect();
    fs::write(&path, old.join("\n") + "\n").unwrap();
    let (list, warnings) = spaces(&Folder::at(&folder)).unwrap();
    assert!(list.is_empty() && warnings.is_empty(), "{warnings:?}");
}

fn looptune(dir: &Path, words: &str) -> Command {
    let mut command = Command::cargo_bin("looptune").unwrap();
    command.current_dir(dir).args(words.split_whitespace());
    command
}

const TINY: &str = r#"
description = "A handful."
ops = ["zero"]
families = ["general", "sse"]
[axes]
class = ["r64", "xmm"]
unroll = [1, 2, 4]
order = ["pair"]
align = ["a64"]
store = ["plain"]
hint = ["none"]
count = ["cmp"]
head = ["none"]
tail = ["overlap"]
"#;

#[test]
fn a_space_is_recorded_and_replayed_from_the_command_line() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    fs::write(dir.join("tiny.toml"), TINY).unwrap();
    // What a neighbour disturbed is left out, so a loud moment may leave too little.
    let recorded = (0..5).find_map(|attempt| {
        looptune(
            dir,
            &format!(
                "search --op zero --size 4096 --state l1 --space tiny.toml --strategy exhaustive \
                 --epochs 20 --rounds 10 --record --quiet --seed 1 --results results{attempt}"
            ),
        )
        .assert()
        .success();
        let results = dir.join(format!("results{attempt}"));
        let key = fs::read_dir(results).unwrap().next().unwrap().unwrap().file_name();
        let folder = format!("results{attempt}/{}", key.to_string_lossy());
        let words = format!("replay {folder} --samples 200 --seeds 1 --quiet");
        let done = looptune(dir, &words).assert();
        let said = String::from_utf8_lossy(&done.get_output().stderr).into_owned();
        let ran = done.get_output().status.success();
        assert!(ran || said.contains("too few undisturbed samples"), "{said}");
        ran.then_some(folder)
    });
    let Some(folder) = recorded else {
        eprintln!("skipped: five recordings in a row were disturbed");
        return;
    };
    let replay = |more: &str| {
        let words = format!("replay {folder} --samples 200 --seeds 4 --quiet {more}");
        looptune(dir, &words).assert().success().get_output().stdout.clone()
    };
    let page = String::from_utf8(replay("--strategy default,random,exhaustive")).unwrap();
    for word in ["6 candidates", "default", "random", "exhaustive", "of 4", "against"] {
        assert!(page.contains(word), "{word} in {page}");
    }
    replay("--strategy default,classic --drift --trace one.txt");
    replay("--strategy default,classic --drift --trace two.txt");
    let trace = fs::read(dir.join("one.txt")).unwrap();
    assert!(!trace.is_empty());
    assert_eq!(trace, fs::read(dir.join("two.txt")).unwrap());
    let document: serde_json::Value =
        serde_json::from_slice(&replay("--strategy default,local --json")).unwrap();
    assert_eq!(document["spaces"][0]["candidates"], 6);
    assert_eq!(document["spaces"][0]["strategies"][1]["strategy"], "local");
    assert_eq!(document["first_against"][0]["strategy"], "local");
}

#[test]
fn wrong_words_are_told_with_the_right_ones() {
    let dir = tempfile::tempdir().unwrap();
    let refused = |words: &str, status: i32, told: &str| {
        let done = looptune(dir.path(), words).assert().code(status);
        let said = String::from_utf8_lossy(&done.get_output().stderr).into_owned();
        assert!(said.contains(told), "{words}: {said}");
    };
    refused("replay nowhere", 2, "nowhere is no folder of results");
    refused("replay . --strategy defualt", 2, "did you mean default");
    refused("replay . --share 3", 2, "write a percentage such as 3%");
    refused("replay .", 1, "no whole space is recorded there");
    refused("search --op zero --size 64 --strategy local --epochs 3", 2, "--strategy exhaustive");
    fs::write(dir.path().join("odd.toml"), TINY.to_string() + "[strategy]\nname = \"best\"\n")
        .unwrap();
    refused("search --op zero --size 64 --space odd.toml", 1, "`best` is no strategy");
}
