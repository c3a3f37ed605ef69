//! Searches killed as processes, and what the command says of them.

use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use looptune::results::{RunLog, read_commands, read_decisions, read_trials};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::Value;

use super::processes::{no_workers_of, signal};

/// How many kills are tried, where it should not be a few.
const KILLS: &str = "LOOPTUNE_KILLS";

/// Set to try it with the default search instead of a small one.
const DEFAULT_SEARCH: &str = "LOOPTUNE_KILL_DEFAULT_SEARCH";

/// A search of a second or two.
const SMALL: &str = "description = \"a small space\"\nops = [\"zero\"]\n\
    families = [\"general\", \"sse\"]\n[axes]\nunroll = [1, 4, 8]\nalign = [\"a1\"]\n\
    head = [\"head-none\"]\ntail = [\"tail-overlap\"]\nstore = [\"plain\"]\n\
    count = [\"cmp\", \"dec\"]\n";

struct Room {
    dir: tempfile::TempDir,
    results: PathBuf,
}

impl Room {
    fn new() -> Room {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("small.toml"), SMALL).unwrap();
        let results = dir.path().join("results");
        Room { dir, results }
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_looptune"));
        command.args(args).arg("--results").arg(&self.results).current_dir(self.dir.path());
        command
    }

    /// The arguments of a small search: of a budget in samples, so that a slow machine does not
    /// make it another one.
    fn search(&self, seed: &str) -> Command {
        let args = ["search", "--op", "zero", "--size", "4096", "--state", "l1"];
        let more = ["--space", "small.toml", "--budget", "4000", "--quiet", "--seed", seed];
        self.command(&[&args[..], &more].concat())
    }

    fn resume(&self, more: &[&str]) -> Output {
        self.command(&[&["search", "--resume"], more].concat()).output().unwrap()
    }

    fn folder(&self) -> PathBuf {
        let mut hosts = std::fs::read_dir(&self.results).unwrap();
        let folder = hosts.next().expect("a host").unwrap().path();
        assert!(hosts.next().is_none());
        folder
    }

    /// The log of the only unfinished run.
    fn log(&self) -> Option<PathBuf> {
        let files = std::fs::read_dir(&self.results).ok()?.next()?.ok()?.path().read_dir().ok()?;
        let mut logs = files.map(|f| f.unwrap().path()).filter(|f| {
            let name = f.file_name().unwrap().to_string_lossy().into_owned();
            name.starts_with("resume-") && name.ends_with(".log")
        });
        let log = logs.next();
        assert!(logs.next().is_none(), "one run at a time");
        log
    }

    /// Whole lines of a table, without headers.
    fn lines(&self, table: &str) -> Vec<String> {
        let text = std::fs::read_to_string(self.folder().join(table)).unwrap_or_default();
        let whole = text.split_inclusive('\n').filter(|l| l.ends_with('\n'));
        let rows = whole.filter(|l| !l.starts_with("run,") && !l.ends_with(",torn\n"));
        rows.map(String::from).collect()
    }
}

fn started(command: &mut Command) -> Child {
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

fn kill_after(mut child: Child, moment: f64) {
    std::thread::sleep(Duration::from_secs_f64(moment));
    let pid = child.id();
    signal(pid, "KILL");
    child.wait().unwrap();
    no_workers_of(pid);
}

fn said(out: &Output) -> String {
    let text = String::from_utf8_lossy(&out.stderr).into_owned();
    assert!(!text.contains("panicked"), "{text}");
    text
}

/// What a search has found in a cell.
struct Answer {
    state: String,
    winner: String,
    ties: Vec<String>,
}

fn answers(document: &[u8]) -> Vec<Answer> {
    let found: Value = serde_json::from_slice(document).unwrap();
    let text = |value: &Value| value.as_str().expect("a word").to_string();
    let cells = found["sizes"][0]["cells"].as_array().unwrap().iter();
    let answer = |cell: &Value| Answer {
        state: text(&cell["state"]),
        winner: text(&cell["winner"]["variant"]),
        ties: cell["ties"].as_array().unwrap().iter().map(text).collect(),
    };
    cells.map(answer).collect()
}

/// Asserts that two answers are the same within ties: one holds the other for a tie, or a bench
/// of the two does.
fn same_within_ties(room: &Room, a: &Answer, b: &Answer) -> String {
    assert_eq!(a.state, b.state);
    if a.winner == b.winner {
        return format!("{}: same winner", a.state);
    }
    if a.ties.contains(&b.winner) || b.ties.contains(&a.winner) {
        return format!("{}: another of the ties", a.state);
    }
    let out = Command::new(env!("CARGO_BIN_EXE_looptune"))
        .args(["bench", &a.winner, &b.winner, "--size", "4096", "--state", &a.state])
        .args(["--budget", "2s", "--json", "--quiet"])
        .current_dir(room.dir.path())
        .output()
        .unwrap();
    assert!(out.status.success(), "{}, {}: {}", a.winner, b.winner, said(&out));
    let found: Value = serde_json::from_slice(&out.stdout).unwrap();
    let row = &found["cells"][0]["rows"][1];
    let end = |i: usize| row["ratio_ci"][i].as_f64().unwrap();
    // On a loaded machine two loops that differ by a few per cent may both be chosen.
    assert!(end(0) < 1.05 && end(1) > 0.95, "{}, {}: {row:#}", a.winner, b.winner);
    format!("{}: another, {} [{:.3}, {:.3}]", a.state, row["verdict"], end(0), end(1))
}

#[test]
fn killed_at_any_moment_nothing_is_lost_and_nothing_is_twice() {
    let kills: u32 = std::env::var(KILLS).map_or(6, |n| n.parse().expect("a number of kills"));
    let search = |room: &Room| match std::env::var(DEFAULT_SEARCH) {
        Ok(_) => room.command(&["search", "--op", "zero", "--size", "4096", "--quiet"]),
        Err(_) => room.search("1"),
    };
    let room = Room::new();
    let began = Instant::now();
    let whole = search(&room).arg("--json").output().unwrap();
    assert!(whole.status.success(), "{}", said(&whole));
    let (whole, takes) = (answers(&whole.stdout), began.elapsed().as_secs_f64());
    assert!(room.log().is_none(), "a finished run leaves no log");

    let mut rng = ChaCha8Rng::seed_from_u64(17);
    for kill in 0..kills {
        let room = Room::new();
        let part = takes / f64::from(kills);
        let moment = part * (f64::from(kill) + rng.random_range(0.0..1.0));
        kill_after(started(&mut search(&room)), moment);
        let Some(log) = room.log() else {
            eprintln!("killed after {moment:.2} s: before it began, or after its end");
            continue;
        };
        // Resumption is killed as well, every other time.
        if kill % 2 == 1 {
            let again = moment * rng.random_range(0.2..1.2);
            kill_after(started(&mut room.command(&["search", "--resume", "--quiet"])), again);
        }
        let before = room.lines("trials.csv");
        let kept = room.dir.path().join("kept.log");
        let finished = std::fs::hard_link(&log, &kept).is_err();
        if !finished {
            let (log, _) = RunLog::open(&kept, |e| panic!("{e}")).unwrap();
            assert!(before.len() as u64 <= log.trials(), "a trial that is not in the log");
            drop(log);
            let out = room.resume(&["--json"]);
            assert!(out.status.success(), "{}", said(&out));
            let found = answers(&out.stdout);
            assert_eq!(found.len(), whole.len());
            let how = whole.iter().zip(&found).map(|(a, b)| same_within_ties(&room, a, b));
            let how: Vec<String> = how.collect();
            // The log grew to the end under its second name.
            let (log, warnings) = RunLog::open(&kept, |e| panic!("{e}")).unwrap();
            assert!(warnings.is_empty(), "{warnings:?}");
            let after = room.lines("trials.csv");
            assert_eq!(after.len() as u64, log.trials(), "rows of trials.csv, and answers");
            assert!(after[..before.len()] == before[..], "what was there has changed");
            eprintln!(
                "killed after {moment:.2} s with {} of {} trials in the table; {}",
                before.len(),
                after.len(),
                how.join(", ")
            );
        }
        let folder = room.folder();
        let runs = read_commands(&folder.join("command.txt")).unwrap().rows;
        assert_eq!(runs.len(), 1, "the run goes on under its own name");
        let decided = read_decisions(&folder.join("decisions.csv")).unwrap();
        assert_eq!(decided.rows.len(), 1);
        assert_eq!(decided.rows[0].run, runs[0].id);
        let trials = read_trials(&folder.join("trials.csv")).unwrap();
        assert!(trials.rows.iter().all(|t| t.run == runs[0].id));
        assert!(trials.warnings.len() <= 2, "two kills tear two lines at most");
        assert!(room.log().is_none(), "a finished run leaves no log");
        let again = room.resume(&[]);
        assert_eq!(again.status.code(), Some(1));
        assert!(said(&again).contains("no search is unfinished"), "{}", said(&again));
        assert!(said(&again).contains(&runs[0].id), "{}", said(&again));
    }
}

/// A search that is broken off by a signal once it has recorded something.
fn broken_off(room: &Room, how: &str) -> Output {
    let child = room.search("3").stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    recorded_something(room);
    signal(child.id(), how);
    child.wait_with_output().unwrap()
}

fn recorded_something(room: &Room) {
    let began = Instant::now();
    while !room.results.exists() || room.log().is_none() || room.lines("trials.csv").is_empty() {
        assert!(began.elapsed() < Duration::from_secs(60), "nothing was recorded");
        std::thread::sleep(Duration::from_millis(3));
    }
}

fn refused(out: &Output, status: i32, words: &[&str]) {
    let text = said(out);
    assert_eq!(out.status.code(), Some(status), "{text}");
    assert!(out.stdout.is_empty());
    for word in words {
        assert!(text.contains(word), "`{word}` is not in: {text}");
    }
}

#[test]
fn an_interrupted_search_says_how_to_go_on_and_is_decided_once() {
    let room = Room::new();
    let out = broken_off(&room, "INT");
    let page = String::from_utf8_lossy(&out.stdout);
    assert!(out.status.success(), "{}", said(&out));
    assert!(page.contains("looptune search --resume"), "{page}");
    let decisions = room.folder().join("decisions.csv");
    let first = read_decisions(&decisions).unwrap();
    assert_eq!(first.rows.len(), 1);
    let run = first.rows[0].run.clone();

    // The same arguments may be said again, others not.
    let same = ["--op", "zero", "--budget", "4000", "--json"];
    let out = room.resume(&[&[run.as_str()], &same[..]].concat());
    assert!(out.status.success(), "{}", said(&out));
    assert!(said(&out).contains(&format!("resuming run {run}")), "{}", said(&out));
    let found: Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!(found["seed"], 3);
    assert!(found["command"].as_str().unwrap().contains("--budget 4000"));
    assert!(!found["warnings"].to_string().contains("interrupted"), "{:#}", found["warnings"]);
    let last = read_decisions(&decisions).unwrap();
    assert!(last.warnings.is_empty(), "{:?}", last.warnings);
    assert_eq!(last.rows.len(), 1, "what was decided first no longer holds");
    assert_ne!(last.rows[0].outcome, first.rows[0].outcome);
    for command in [&["report"][..], &["export", "--op", "zero", "--size", "4096"]] {
        let out = room.command(command).output().unwrap();
        assert!(out.status.success(), "{}", said(&out));
        assert!(!said(&out).contains("provisional"), "{}", said(&out));
    }
}

#[test]
fn what_cannot_be_resumed_says_why() {
    let room = Room::new();
    refused(&room.resume(&[]), 1, &["nothing to resume", "nothing is recorded"]);
    let mut child = started(&mut room.search("3"));
    recorded_something(&room);
    signal(child.id(), "STOP");
    let running = room.resume(&[]);
    signal(child.id(), "KILL");
    child.wait().unwrap();
    refused(&running, 1, &["still going on"]);

    refused(&room.resume(&["--budget", "5000"]), 2, &["--budget", "4000", "own arguments"]);
    refused(&room.resume(&["--state", "l2"]), 2, &["--state"]);
    refused(&room.resume(&["--weights", "l1=2"]), 2, &["--weights"]);
    refused(&room.resume(&["--repeat", "3"]), 2, &["--repeat"]);
    refused(&room.resume(&["2026-nonsense"]), 1, &["2026-nonsense", "unfinished: "]);

    // Another space under the same name.
    let space = room.dir.path().join("small.toml");
    std::fs::write(&space, SMALL.replace("[1, 4, 8]", "[1, 4]")).unwrap();
    refused(&room.resume(&[]), 1, &["candidates", "search anew"]);
    std::fs::remove_file(&space).unwrap();
    refused(&room.resume(&[]), 2, &["small.toml", "cannot be resumed"]);
    std::fs::write(&space, SMALL).unwrap();

    // A folder of another host.
    let (here, there) = (room.folder(), room.results.join("other-6-85-4-000000"));
    std::fs::rename(&here, &there).unwrap();
    refused(&room.resume(&[]), 3, &["other-6-85-4-000000", "two machines"]);
    std::fs::rename(&there, &here).unwrap();

    let out = room.resume(&["--json"]);
    assert!(out.status.success(), "{}", said(&out));
}

#[test]
fn repeats_count_what_was_chosen_and_go_on_after_a_kill() {
    let room = Room::new();
    let mut child = started(room.search("3").args(["--repeat", "3", "--json"]));
    // In the second search: what the first one decided stays.
    let began = Instant::now();
    while room.log().is_none() || room.lines("decisions.csv").is_empty() {
        assert!(began.elapsed() < Duration::from_secs(90), "never came to the second search");
        std::thread::sleep(Duration::from_millis(3));
    }
    signal(child.id(), "KILL");
    child.wait().unwrap();
    let out = room.resume(&["--json"]);
    assert!(out.status.success(), "{}", said(&out));
    let found: Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!(found["seeds"], serde_json::json!([3, 4, 5]));
    let decided = read_decisions(&room.folder().join("decisions.csv")).unwrap();
    let runs: Vec<&str> = decided.rows.iter().map(|r| r.run.as_str()).collect();
    assert_eq!(found["runs"], serde_json::json!(runs));
    assert_eq!(runs.len(), 3);
    let commands = read_commands(&room.folder().join("command.txt")).unwrap().rows;
    assert!(commands.iter().all(|c| c.command.contains("--repeat 3")), "{commands:?}");
    assert_eq!(commands.iter().map(|c| c.seed).collect::<Vec<_>>(), [3, 4, 5]);
    for choice in [&found["sizes"][0]["cells"][0], &found["sizes"][0]["robust"]] {
        let chosen = choice["chosen"].as_array().unwrap();
        let times: u64 = chosen.iter().map(|c| c["times"].as_u64().unwrap()).sum();
        assert_eq!(times, 3, "{choice:#}");
        let pairs = choice["pairs"].as_array().unwrap();
        assert_eq!(pairs.len(), chosen.len() * (chosen.len() - 1) / 2, "{choice:#}");
        let apart = ["faster", "slower"];
        let apart = pairs.iter().any(|p| apart.contains(&p["verdict"].as_str().unwrap()));
        assert_eq!(choice["all_tie"], !apart, "{choice:#}");
    }
    let winners = decided.rows.iter().map(|r| r.outcome.as_ref().unwrap());
    let winners = winners.map(|o| o.sizes[0].cells[0].winner.as_ref().unwrap().variant.to_string());
    let winners: Vec<String> = winners.collect();
    for chosen in found["sizes"][0]["cells"][0]["chosen"].as_array().unwrap() {
        let times = winners.iter().filter(|w| chosen["variant"] == w.as_str()).count();
        assert_eq!(chosen["times"], times);
    }
}

#[test]
fn repeating_has_a_page() {
    let room = Room::new();
    let out = room.search("8").args(["--repeat", "2"]).output().unwrap();
    assert!(out.status.success(), "{}", said(&out));
    let page = String::from_utf8_lossy(&out.stdout);
    for words in ["2 searches", "chosen in searches", "all states", "Seeds 8 to 9"] {
        assert!(page.contains(words), "{page}");
    }
    assert!(page.lines().all(|line| line.chars().count() <= 100), "{page}");
    let verdicts = ["the same loop each time", "mutual ties", "not all are ties"];
    assert!(verdicts.iter().any(|words| page.contains(words)), "{page}");
}
