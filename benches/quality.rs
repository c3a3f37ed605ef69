//! How good the search strategies are: records whole spaces on this host, replays every strategy
//! on them, and prints the tables. `cargo bench --bench quality -- --write` also writes them to
//! `docs/search-quality.md`. Records stay under `target/` and are used again; `-- --fresh` makes
//! them anew.
#![allow(missing_docs, reason = "a bench is no library")]

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Instant;

use looptune::report::{quality, quality_markdown};
use looptune::results::{Allowance, Folder, RecordedSpace, StrategyContest, hosts, spaces};
use looptune::search::StrategyName;

/// The spaces: op, size, state, and samples of each candidate in an epoch.
const SPACES: [(&str, &str, &str, u32); 8] = [
    ("zero", "256", "l1", 4),
    ("copy", "256", "l1", 4),
    ("zero", "4k", "l1", 4),
    ("copy", "4k", "l1", 4),
    ("zero", "64k", "l2", 4),
    ("copy", "64k", "l2", 4),
    ("zero", "4k", "dram", 2),
    ("copy", "4k", "dram", 2),
];

/// Visits of all candidates in one recording.
const EPOCHS: u32 = 12;

/// Undisturbed samples that a candidate has in the end, and recordings that are tried for them.
const WANTED: usize = 24;
const ATTEMPTS: u32 = 4;

/// Part of the samples of an exhaustive search that the strategies get.
const SHARE: f64 = 0.03;

/// Seeds of each strategy.
const SEEDS: u64 = 20;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    // Cargo says `--bench`; anything else is of no use here.
    let is = |word: &str| words.iter().any(|w| w == word);
    match run(is("--fresh"), is("--write")) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("quality: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(fresh: bool, write: bool) -> Result<(), Box<dyn Error>> {
    let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join("quality");
    if fresh && root.exists() {
        std::fs::remove_dir_all(&root)?;
    }
    let mut recorded: Vec<RecordedSpace> = Vec::new();
    let mut notes = Vec::new();
    let begun = Instant::now();
    for (op, size, state, rounds) in SPACES {
        match space(&root, op, size, state, rounds)? {
            Ok(space) => recorded.push(space),
            Err(why) => notes.push(format!("{op} {size} {state}: {why}")),
        }
    }
    let recording = begun.elapsed();
    if recorded.is_empty() {
        return Err(format!("no space could be recorded: {}", notes.join("; ")).into());
    }
    let begun = Instant::now();
    let contest = |strategies: &[StrategyName], drift| StrategyContest {
        strategies: strategies.to_vec(),
        allowance: Allowance::Share(SHARE),
        seeds: SEEDS,
        drift,
    };
    let still = contest(
        &[StrategyName::Default, StrategyName::Random, StrategyName::Local, StrategyName::Genetic],
        false,
    );
    let moved = contest(&[StrategyName::Default, StrategyName::Classic], true);
    let mut told = |space: &RecordedSpace, name: StrategyName| eprintln!("{}  {name}", space.cell);
    let still = still.run(&recorded, None, &mut told)?;
    let moved = moved.run(&recorded, None, &mut told)?;
    let heading = "With a machine whose speed wanders by 8 %";
    println!("{}\n{heading}\n\n{}", quality(&recorded, &still), quality(&recorded, &moved));
    for note in &notes {
        println!("{note}");
    }
    let seconds = (recording.as_secs_f64(), begun.elapsed().as_secs_f64());
    eprintln!("recording took {:.0} s, replaying {:.0} s", seconds.0, seconds.1);
    if write {
        let host = host(&root)?;
        let page = format!(
            "{INTRODUCTION}\n## On {host}\n\n{}\n## {heading}\n\n{}{}",
            quality_markdown(&recorded, &still),
            quality_markdown(&recorded, &moved),
            notes.iter().map(|n| format!("\n{n}\n")).collect::<String>()
        );
        std::fs::write(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/search-quality.md"), page)?;
    }
    Ok(())
}

const INTRODUCTION: &str = include_str!("quality.md");

/// The processor, as recorded.
fn host(root: &Path) -> Result<String, Box<dyn Error>> {
    for entry in std::fs::read_dir(root)? {
        if let Some(folder) = folder(&entry?.path())? {
            let facts = folder.host_facts();
            let cpu = facts.get("cpu").and_then(|cpu| cpu.get("brand")?.as_str()).map(str::trim);
            return Ok(cpu.unwrap_or(folder.key()).to_string());
        }
    }
    Ok("this host".into())
}

/// The one host's folder in a results folder.
fn folder(results: &Path) -> Result<Option<Folder>, Box<dyn Error>> {
    let key = hosts(results)?.into_iter().next();
    Ok(key.map(|key| Folder::of_host(results, &key)).transpose()?)
}

/// A space as recorded, recording what is missing; else why there is none.
fn space(
    root: &Path,
    op: &str,
    size: &str,
    state: &str,
    rounds: u32,
) -> Result<Result<RecordedSpace, String>, Box<dyn Error>> {
    let results: PathBuf = root.join(format!("{op}-{size}-{state}"));
    let mut found = None;
    for attempt in 0..=ATTEMPTS {
        if let Some(folder) = folder(&results)? {
            let (mut list, _) = spaces(&folder)?;
            found = list.pop();
        }
        if found.as_ref().is_some_and(|space| space.samples_each() >= WANTED) || attempt == ATTEMPTS
        {
            break;
        }
        eprintln!("recording {op} {size} {state}");
        let done = Command::new(env!("CARGO_BIN_EXE_looptune"))
            .args(["search", "--op", op, "--size", size, "--state", state, "--record", "--quiet"])
            .args(["--strategy", "exhaustive", "--epochs", &EPOCHS.to_string()])
            .args(["--rounds", &rounds.to_string(), "--results"])
            .arg(&results)
            .output()?;
        if done.status.code() == Some(3) {
            return Ok(Err(String::from_utf8_lossy(&done.stderr).trim().to_string()));
        }
        if !done.status.success() {
            return Err(String::from_utf8_lossy(&done.stderr).trim().to_string().into());
        }
    }
    Ok(found.ok_or_else(|| "too loud here for a record".to_string()))
}
