//! The habits of a good command-line tool: versions, completions, manual pages, near words,
//! files that are files, and errors in a person's words.

#[path = "common/refused.rs"]
mod refused;

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use assert_cmd::Command as Tool;
use predicates::prelude::*;
use predicates::str::contains;
use refused::refused;

fn looptune() -> Tool {
    let mut tool = Tool::cargo_bin("looptune").unwrap();
    tool.timeout(Duration::from_secs(30));
    tool
}

fn text(args: &[&str]) -> String {
    let out = looptune().args(args).output().unwrap();
    assert!(out.status.success(), "{args:?}: {}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8(out.stdout).unwrap()
}

/// Whether a program is there; in CI it must be.
fn have(program: &str, argument: &str) -> bool {
    let quiet = || Stdio::null();
    let ran = Command::new(program).arg(argument).stdout(quiet()).stderr(quiet()).status();
    assert!(ran.is_ok() || std::env::var_os("CI").is_none(), "{program} is missing, install it");
    ran.is_ok()
}

#[test]
fn versions_are_short_and_long() {
    let short = text(&["-V"]);
    assert_eq!(short, format!("looptune {}\n", env!("CARGO_PKG_VERSION")));
    let long = text(&["--version"]);
    assert!(long.starts_with(&short), "{long}");
    let here: serde_json::Value = serde_json::from_str(&text(&["list", "--json"])).unwrap();
    let key = here["host"]["key"].as_str().unwrap();
    assert!(long.contains(&format!("host key: {key}\n")), "{long}");
    let features = long.lines().find_map(|l| l.strip_prefix("features: ")).unwrap();
    let usable = here["host"]["features"].as_array().unwrap();
    let usable: Vec<&str> = usable.iter().map(|f| f.as_str().unwrap()).collect();
    assert_eq!(features, usable.join(" "));
}

#[test]
fn a_version_is_quick() {
    let best = (0..5)
        .map(|_| {
            let began = Instant::now();
            text(&["--version"]);
            began.elapsed()
        })
        .min();
    // What `host` does besides takes longer: no clock is calibrated here.
    assert!(best.unwrap() < Duration::from_secs(1), "{best:?}");
}

#[test]
fn bash_completes_words_of_every_kind() {
    if !have("bash", "--version") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("looptune");
    std::fs::write(&script, text(&["completions", "bash"])).unwrap();
    let complete = |words: &[&str]| -> Vec<String> {
        let list = words.iter().map(|w| format!("'{w}'")).collect::<Vec<_>>().join(" ");
        let run = format!(
            "source {}; COMP_WORDS=({list}); COMP_CWORD={}; _looptune looptune '{}' '{}'; \
             printf '%s\\n' \"${{COMPREPLY[@]}}\"",
            script.display(),
            words.len() - 1,
            words[words.len() - 1],
            words[words.len() - 2],
        );
        let out = Command::new("bash").args(["--norc", "-c", &run]).output().unwrap();
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
        String::from_utf8(out.stdout).unwrap().split_whitespace().map(String::from).collect()
    };
    assert_eq!(complete(&["looptune", "sea"]), ["search"]);
    assert_eq!(complete(&["looptune", "search", "--op", "z"]), ["zero"]);
    assert_eq!(
        complete(&["looptune", "bench", "--state", "dr"]),
        ["dram", "dram-dirty", "dram:l1"]
    );
    assert_eq!(complete(&["looptune", "show", "zero/y"]), ["zero/ymm"]);
    assert_eq!(complete(&["looptune", "export", "--state", "ro"]), ["robust"]);
}

#[test]
fn completions_are_for_known_shells() {
    for (shell, word) in [("zsh", "#compdef looptune"), ("fish", "complete -c looptune")] {
        assert!(text(&["completions", shell]).contains(word), "{shell}");
    }
    refused(&["completions", "zhs"], 2, &["zsh"]);
    refused(&["completions"], 2, &["<SHELL>"]);
    looptune().args(["completions", "--help"]).assert().stdout(contains("bash-completion"));
}

#[test]
fn manual_pages_are_written_and_clean() {
    let folder = tempfile::tempdir().unwrap();
    let pages = folder.path().join("made/for/it");
    looptune().arg("man").arg(&pages).assert().success().stderr(contains("manual pages in"));
    let first = text(&["man"]);
    assert_eq!(first, std::fs::read_to_string(pages.join("looptune.1")).unwrap());
    assert!(first.contains("looptune\\-search(1)") && !first.contains("looptune\\-worker"));
    let names: Vec<_> = std::fs::read_dir(&pages).unwrap().map(|e| e.unwrap().path()).collect();
    assert!(names.len() > 8, "{names:?}");
    if !have("mandoc", "-V") {
        return;
    }
    for page in names {
        let lint = Command::new("mandoc").args(["-T", "lint", "-W", "warning"]).arg(&page).output();
        let said = String::from_utf8_lossy(&lint.unwrap().stdout).into_owned();
        // Pages of a program that is built from source have no date.
        let said: Vec<&str> = said.lines().filter(|l| !l.contains("missing date")).collect();
        assert!(said.is_empty(), "{said:?}");
    }
    refused(&["man", "/dev/null/x"], 1, &["/dev/null/x cannot be written"]);
}

#[test]
fn near_words_are_offered_everywhere() {
    let search =
        |more: &[&'static str]| [&["search", "--op", "zero", "--size", "64"], more].concat();
    refused(&["search", "--op", "coppy", "--size", "64"], 2, &["(did you mean copy?)"]);
    refused(&search(&["--state", "l1,drma"]), 2, &["`drma`", "(did you mean dram?)"]);
    refused(&search(&["--drive", "chaned"]), 2, &["(did you mean chained?)"]);
    refused(&search(&["--weights", "lcl=1"]), 2, &["(did you mean llc?)"]);
    refused(&search(&["--space", "aling"]), 2, &["(did you mean align?)"]);
    refused(&["list", "--space", "cpoy"], 2, &["(did you mean copy?)"]);
    for command in ["bench", "verify", "show", "export"] {
        refused(&[command, "zero/ymn"], 2, &["`ymn`", "(did you mean ymm"]);
        refused(&[command, "zreo/ymm"], 2, &["`zreo`", "(did you mean zero?)"]);
        refused(&[command, "zero/ymm/haed-dst"], 2, &["(did you mean head-dst"]);
        refused(&[command, "zero/ymm/pf-ntaa@64"], 2, &["(did you mean nta"]);
        refused(&[command, "lbic"], 2, &["(did you mean libc?)"]);
    }
    let export = ["export", "--op", "zero", "--size", "64", "--state", "robsut"];
    refused(&export, 2, &["(did you mean robust?)"]);
    refused(&["serach"], 2, &["search"]);
}

#[test]
fn near_hosts_are_offered() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("amd-1-2-3-abc")).unwrap();
    std::fs::write(folder.path().join("amd-1-2-3-abc/command.txt"), "").unwrap();
    let results = folder.path().to_str().unwrap();
    let export = ["export", "--op", "zero", "--size", "64", "--results", results];
    let wrong = [&export[..], &["--host", "amd-1-2-3-acb"]].concat();
    refused(&wrong, 1, &["(did you mean amd-1-2-3-abc?)"]);
}

fn fifo(folder: &Path) -> String {
    let path = folder.join("pipe.toml");
    assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
    path.to_str().unwrap().to_string()
}

#[test]
fn pipes_and_devices_are_no_files_to_read() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = fifo(folder.path());
    refused(&["list", "--space", &pipe], 1, &[&pipe, "a pipe", "regular file"]);
    refused(&["list", "--space", "/dev/zero"], 1, &["/dev/zero", "a device"]);
    refused(&["list", "--space", "/"], 1, &["a folder"]);
    // A family that is one.
    let file = folder.path().join("mine.toml");
    let families = "description = \"x\"\nops = [\"zero\"]\nfamilies = [\"pipe.toml\"]\n";
    std::fs::write(&file, families).unwrap();
    refused(&["list", "--space", file.to_str().unwrap()], 1, &["pipe.toml", "a pipe"]);
    // A table of results that is one.
    let host = folder.path().join("host");
    std::fs::create_dir(&host).unwrap();
    std::fs::write(host.join("command.txt"), "").unwrap();
    std::fs::rename(&pipe, host.join("trials.csv")).unwrap();
    refused(&["report", host.to_str().unwrap()], 1, &["trials.csv", "a pipe"]);
    // A shared object that is one.
    let pipe = fifo(folder.path());
    let subject = format!("{pipe}:memset");
    looptune()
        .args(["verify", &subject, "--op", "zero"])
        .assert()
        .code(1)
        .stdout(contains("no regular file"));
    // What is exported is read again.
    refused(&["export", "zero/r64", "-o", &pipe], 2, &["no regular file", "`-`"]);
}

#[test]
fn wrong_types_in_files_are_told_with_line_key_and_fix() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mine.toml");
    let head = "description = \"x\"\nops = [\"zero\"]\nfamilies = [\"general\"]\n";
    for (more, words) in [
        ("sizes = 4096\n", ["mine.toml:4: sizes: ", "sizes = \"4096\""]),
        ("states = \"l1\"\n", ["mine.toml:4: states: ", "states = [\"l1\"]"]),
        ("budget = [1]\n", ["mine.toml:4: budget: ", "text in quotes"]),
        (
            "\n[strategy]\nfinalists = \"9\"\n",
            ["mine.toml:6: strategy.finalists: ", "finalists = 9"],
        ),
        ("axes = 3\n", ["mine.toml:4: axes: ", "[axes]"]),
        ("[axes]\nunroll = 4\n", ["mine.toml:5: axes.unroll: ", "unroll = [4]"]),
        ("[[region]]\nops = 1\n", ["mine.toml:5: region.ops: ", "ops = [1]"]),
        ("states = [\"l1\", \"drma\"]\n", ["mine.toml:4: states: ", "(did you mean dram?)"]),
        ("stats = [\"l1\"]\n", ["mine.toml:4: unknown key `stats`", "(did you mean states"]),
        ("families = [\"sse\"]\n", ["mine.toml:4: ", "duplicate"]),
    ] {
        std::fs::write(&path, format!("{head}{more}")).unwrap();
        let args = ["list", "--space", path.to_str().unwrap()];
        refused(&args, 1, &words);
        looptune().args(args).assert().stderr(contains("invalid type").not());
    }
}

#[test]
fn rules_are_listed_with_their_reasons() {
    let page = text(&["list"]);
    assert!(!page.contains("broken by none"), "{page}");
    assert!(page.contains("excludes none of these"), "{page}");
}

#[test]
fn progress_is_silent_in_a_pipe() {
    looptune()
        .args(["verify", "--random", "150", "--full", "--seed", "1"])
        .assert()
        .success()
        .stderr("");
    for quiet in ["-q", "--quiet"] {
        looptune().args(["verify", "--random", "10", quiet]).assert().success().stderr("");
    }
}
