//! Ctrl-C in the middle of a search: it ends soon and well, with what was found so far.

#[path = "common/processes.rs"]
mod processes;

use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use processes::{no_workers_of, signal, workers_of};
use serde_json::Value;

/// A clean end takes less than so long.
const SOON: Duration = Duration::from_secs(2);

/// A search that would take 30 seconds, once it measures.
fn begun(results: &Path, more: &[&str]) -> Child {
    let child = Command::new(env!("CARGO_BIN_EXE_looptune"))
        .args(["search", "--op", "zero", "--size", "64,4k", "--budget", "30s", "--quiet"])
        .args(more)
        .arg("--results")
        .arg(results)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let began = Instant::now();
    while workers_of(child.id()).is_empty() {
        assert!(began.elapsed() < Duration::from_secs(20), "no worker was started");
        std::thread::sleep(Duration::from_millis(10));
    }
    child
}

/// Sends a signal, and waits for an end that must come soon.
fn ended_by(name: &str, child: Child) -> Output {
    let pid = child.id();
    signal(pid, name);
    let sent = Instant::now();
    let out = child.wait_with_output().unwrap();
    assert!(sent.elapsed() < SOON, "{:?}", sent.elapsed());
    no_workers_of(pid);
    let stderr = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success(), "{:?}: {stderr}", out.status);
    assert!(!stderr.contains("panicked"), "{stderr}");
    out
}

/// The folder of an interrupted search is read like any other.
fn readable(results: &Path) {
    let report = Command::new(env!("CARGO_BIN_EXE_looptune"))
        .args(["report", "--results"])
        .arg(results)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&report.stderr);
    assert!(report.status.success(), "{said}");
    assert!(!report.stdout.is_empty(), "{said}");
}

fn pause(seconds: f64) {
    std::thread::sleep(Duration::from_secs_f64(seconds));
}

#[test]
fn an_interrupt_gives_the_page_so_far() {
    let room = tempfile::tempdir().unwrap();
    let search = begun(room.path(), &[]);
    pause(1.5);
    let out = ended_by("INT", search);
    let page = String::from_utf8_lossy(&out.stdout);
    assert!(page.contains("interrupted"), "{page}");
    readable(room.path());
}

#[test]
fn an_interrupt_or_a_termination_gives_the_document_so_far() {
    for (name, moment) in [("INT", 1.5), ("TERM", 1.0), ("TERM", 0.0)] {
        let room = tempfile::tempdir().unwrap();
        let search = begun(room.path(), &["--json"]);
        pause(moment);
        let out = ended_by(name, search);
        let found: Value = serde_json::from_slice(&out.stdout).unwrap();
        assert_eq!(found["schema"], 1);
        let stops: Vec<&Value> = cells(&found).map(|cell| &cell["stop"]).collect();
        assert!(stops.iter().any(|s| *s == "interrupted"), "{name} {moment}: {stops:?}");
        let warnings = found["warnings"].as_array().unwrap();
        assert!(warnings.iter().any(|w| w.as_str().unwrap().contains("interrupted")));
        readable(room.path());
    }
}

fn cells(found: &Value) -> impl Iterator<Item = &Value> {
    found["sizes"].as_array().unwrap().iter().flat_map(|s| s["cells"].as_array().unwrap())
}

#[test]
fn whatever_the_moment_each_cell_says_how_far_it_came() {
    for moment in [0.4, 0.8, 1.2, 1.6, 1.9] {
        let room = tempfile::tempdir().unwrap();
        let short = ["--json", "--size", "4k", "--state", "l1,l2", "--budget", "2s"];
        let search = Command::new(env!("CARGO_BIN_EXE_looptune"))
            .args(["search", "--op", "zero", "--quiet"])
            .args(short)
            .arg("--results")
            .arg(room.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        pause(moment);
        let out = ended_by("INT", search);
        let found: Value = serde_json::from_slice(&out.stdout).unwrap();
        let warnings = found["warnings"].to_string();
        let complete = |cell: &Value| {
            !cell["winner"].is_null() && !cell["baselines"].as_array().unwrap().is_empty()
        };
        let all_complete = cells(&found).count() == 2 && cells(&found).all(complete);
        assert!(all_complete || warnings.contains("interrupted"), "{moment}: {found:#}");
        for cell in cells(&found) {
            assert!(complete(cell) || cell["stop"] == "interrupted", "{moment}: {cell:#}");
        }
    }
}

#[test]
fn a_second_interrupt_ends_it_at_once() {
    let room = tempfile::tempdir().unwrap();
    let mut search = begun(room.path(), &[]);
    let pid = search.id();
    pause(0.5);
    // Stopped, so that both signals are there before it does anything about the first … which
    // the system would merge, were they the same.
    signal(pid, "STOP");
    signal(pid, "INT");
    signal(pid, "TERM");
    signal(pid, "CONT");
    let sent = Instant::now();
    let status = search.wait().unwrap();
    assert!(sent.elapsed() < Duration::from_millis(500), "{:?}", sent.elapsed());
    assert_eq!(status.code(), Some(1));
    no_workers_of(pid);
    readable(room.path());
}
