//! A search killed at any moment: what it left can be read, nothing runs on, and the next
//! search in the same folder is as good as any.

#[path = "common/processes.rs"]
mod processes;

use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// How many kills are tried, where it should not be a few.
const KILLS: &str = "LOOPTUNE_KILLS";

fn looptune(args: &[&str], results: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_looptune"));
    command.args(args).arg("--results").arg(results);
    command
}

fn output(args: &[&str], results: &Path) -> Output {
    looptune(args, results).output().unwrap()
}

/// What a command said to whoever reads it.
fn stderr(out: &Output) -> String {
    let text = String::from_utf8_lossy(&out.stderr).into_owned();
    assert!(!text.contains("panicked"), "{text}");
    text
}

/// The report is there, or says why not.
fn report(results: &Path) {
    let out = output(&["report"], results);
    let (text, why) = (String::from_utf8_lossy(&out.stdout), stderr(&out));
    match out.status.code() {
        Some(0) => assert!(!text.trim().is_empty(), "{why}"),
        Some(1) => assert!(why.contains("no results") || why.contains("there is no "), "{why}"),
        other => panic!("{other:?}: {why}"),
    }
}

/// The export is there, or says what is missing. Tells whether it is.
fn export(results: &Path) -> bool {
    let out = output(&["export", "--op", "zero", "--size", "4096"], results);
    let (text, why) = (String::from_utf8_lossy(&out.stdout), stderr(&out));
    match out.status.code() {
        Some(0) => {
            assert!(text.contains("looptune_zero:"), "{text}");
            true
        }
        Some(1) => {
            let explained = ["has nothing for", "nothing is recorded", "looptune search"];
            assert!(explained.iter().any(|words| why.contains(words)), "{why}");
            assert!(text.is_empty(), "half an export: {text}");
            false
        }
        other => panic!("{other:?}: {why}"),
    }
}

/// Kills a search as soon as it has recorded a finalist: then there is something to export,
/// and it says that nothing was decided.
fn killed_in_the_final_race(results: &Path) {
    let args = ["search", "--op", "zero", "--size", "4k", "--state", "l1", "--budget", "12s"];
    let before = raced(results);
    let mut parent =
        looptune(&args, results).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let began = Instant::now();
    while raced(results) == before {
        assert!(began.elapsed() < Duration::from_secs(90), "never came to the final race");
        assert!(parent.try_wait().unwrap().is_none(), "ended without a final race");
        std::thread::sleep(Duration::from_millis(5));
    }
    let pid = parent.id();
    processes::signal(pid, "KILL");
    parent.wait().unwrap();
    processes::no_workers_of(pid);
    report(results);
    let out = output(&["export", "--op", "zero", "--size", "4096", "--state", "l1"], results);
    let said = stderr(&out);
    assert!(out.status.success() && said.contains("provisional"), "{said}");
    eprintln!("killed in the final race after {:.1} s", began.elapsed().as_secs_f64());
}

/// Rows of final races that are recorded.
fn raced(results: &Path) -> usize {
    let folders = std::fs::read_dir(results).into_iter().flatten().filter_map(Result::ok);
    let files = folders.map(|f| std::fs::read(f.path().join("trials.csv")).unwrap_or_default());
    let rows = |file: Vec<u8>| file.windows(6).filter(|w| *w == b",race,").count();
    files.map(rows).sum()
}

#[test]
fn whatever_the_moment() {
    let kills = std::env::var(KILLS).map_or(6, |n| n.parse().expect("a number of kills"));
    let room = tempfile::tempdir().unwrap();
    let results = room.path().join("results");
    let mut rng = ChaCha8Rng::seed_from_u64(9);
    for kill in 0..kills {
        // One in each part of the run, so that even a few meet every phase.
        let part = 5.9 / f64::from(kills);
        let moment = 0.1 + part * (f64::from(kill) + rng.random_range(0.0..1.0));
        let mut parent = looptune(
            &["search", "--op", "zero", "--size", "64,4k", "--budget", "6s", "--quiet"],
            &results,
        )
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
        std::thread::sleep(Duration::from_secs_f64(moment));
        let pid = parent.id();
        processes::signal(pid, "KILL");
        parent.wait().unwrap();
        processes::no_workers_of(pid);
        report(&results);
        let exported = export(&results);
        eprintln!("killed after {moment:.2} s, export: {exported}");
    }
    killed_in_the_final_race(&results);
    let began = Instant::now();
    let args = ["search", "--op", "zero", "--size", "4k", "--state", "l1", "--budget", "1s"];
    let out = output(&[&args[..], &["--json"]].concat(), &results);
    assert!(out.status.success(), "{}", stderr(&out));
    let found: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
    let winner = found["sizes"][0]["robust"]["variant"].as_str().expect("a winner");
    assert!(export(&results), "of a finished run");
    let out = output(&["export", "--op", "zero", "--size", "4096"], &results);
    let said = stderr(&out);
    assert!(said.contains(winner) && !said.contains("provisional"), "{winner}: {said}");
    report(&results);
    eprintln!("the search after them took {:.1} s", began.elapsed().as_secs_f64());
}
