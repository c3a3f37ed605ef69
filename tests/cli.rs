//! The command line as a stranger meets it: wrong input gets a clear message with the fix and
//! the right exit status.

#[path = "common/refused.rs"]
mod refused;

use assert_cmd::Command;
use predicates::prelude::*;
use predicates::str::contains;
use refused::refused;

fn looptune() -> Command {
    Command::cargo_bin("looptune").unwrap()
}

#[test]
fn wrong_sizes() {
    for (size, word) in [
        ("0", "nothing to measure"),
        ("-5", "`-5` is no size"),
        ("4q", "`4q` is no size"),
        ("99999999999999999999", "too large"),
        ("2G", "too large"),
        ("64..32", "runs backwards"),
        ("", "size"),
    ] {
        refused(&["search", "--op", "zero", "--size", size], 2, &[word]);
        refused(&["bench", "zero/xmm", "--size", size], 2, &[word]);
    }
    refused(&["search", "--op", "zero"], 2, &["--size 4096"]);
}

#[test]
fn unknown_words() {
    refused(&["search", "--op", "fill", "--size", "64"], 2, &["`fill` is no op", "copy zero"]);
    let l4 = ["search", "--op", "zero", "--size", "64", "--state", "l4"];
    refused(&l4, 2, &["`l4` is no state", "l1 l2 llc dram"]);
    refused(&["bench", "zero/xnm"], 2, &["`xnm`", "did you mean xmm"]);
    refused(&["bench", "zero/xmm/u5"], 2, &["`u5`", "u1 u2 u3 u4 u6 u8 u12 u16 u32"]);
    refused(&["bench", "lbic", "--op", "zero"], 2, &["did you mean libc"]);
    refused(&["show", "zero/xmm/alined"], 2, &["did you mean aligned"]);
    refused(&["verify", "zero/"], 2, &["names no class"]);
    refused(&["search", "--op", "zero", "--size", "64", "--budget", "x"], 2, &["no budget"]);
    refused(&["search", "--op", "zero", "--size", "64", "--drive", "x"], 2, &["no drive"]);
    refused(&["serach"], 2, &["search"]);
    refused(&["bench", "libc"], 2, &["which op"]);
    refused(&["bench", "zero/xmm", "copy/xmm"], 2, &["within one op"]);
    refused(&["bench", "--plant", "2%"], 2, &["second subject"]);
    refused(&["bench", "hasty_asami_bcpy"], 2, &["did you mean hasty_asami_bcopy"]);
    refused(&["bench", "i486_bzero", "hasty_asami_bcopy"], 2, &["within one op"]);
    refused(&["show", "compiler-o2", "--op", "zero"], 2, &["not ours to list"]);
    refused(&["export", "--op", "zero", "--size", "64", "--drive", "chained"], 2, &["--state"]);
    refused(
        &["search", "--op", "zero", "--size", "64", "--space", "nofile"],
        2,
        &["nofile", "align"],
    );
}

#[test]
fn illegal_variants_name_the_rule() {
    for command in ["bench", "show", "verify", "export"] {
        refused(
            &[command, "zero/xmm/u4/batch"],
            2,
            &["`zero/xmm/u4/batch` cannot be", "rule", "nearest"],
        );
    }
}

#[test]
fn state_that_does_not_exist_for_the_size() {
    let args = ["search", "--op", "zero", "--size", "512M", "--state", "l1"];
    refused(&args, 3, &["nothing to measure", "l1"]);
}

#[test]
fn search_files_that_are_wrong() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("mine.toml");
    let text = path.to_str().unwrap();
    refused(&["search", "--op", "zero", "--size", "64", "--space", text], 2, &["mine.toml"]);
    std::fs::write(&path, "description = \"x\"\nops = [\"zero\"]\nfamilies = [\"nobody\"]\n")
        .unwrap();
    refused(
        &["search", "--op", "zero", "--size", "64", "--space", text],
        1,
        &["mine.toml", "nobody"],
    );
    std::fs::write(&path, "ops = [").unwrap();
    refused(&["list", "--space", text], 1, &["mine.toml"]);
}

#[test]
fn folders_that_cannot_be_written_or_read() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("file");
    std::fs::write(&file, "in the way").unwrap();
    let results = file.to_str().unwrap();
    let size = ["search", "--op", "zero", "--size", "64", "--state", "l1", "--results", results];
    refused(&size, 1, &[results, "--results"]);
    let nowhere = dir.path().join("nowhere");
    let nowhere = nowhere.to_str().unwrap();
    refused(&["report", "--results", nowhere], 1, &[nowhere, "search"]);
    let args = ["export", "--op", "zero", "--size", "4096", "--results", nowhere];
    refused(&args, 1, &["search"]);
}

#[test]
fn foreign_functions_that_are_not_there() {
    refused(
        &["bench", "./no-such-file.so:memcpy", "--op", "copy", "--state", "l1", "--size", "64"],
        1,
        &[],
    );
    looptune()
        .args(["bench", "libc", "libc.so.6:no_such_function", "--op", "zero", "--state", "l1"])
        .args(["--size", "64", "--budget", "200ms"])
        .assert()
        // The others are shown, but not all that was asked for was done.
        .code(1)
        .stdout(contains("tied").or(contains("reference")))
        .stdout(contains("no_such_function"));
}

#[test]
fn output_into_a_closed_pipe_is_no_failure() {
    use std::process::{Command, Stdio};
    for args in [&["list"][..], &["show", "zero/ymm/u32"], &["host"], &["--help"]] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_looptune"))
            .args(args)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let out = child.wait_with_output().unwrap();
        let stderr = String::from_utf8_lossy(&out.stderr);
        assert!(!stderr.contains("panicked"), "{args:?}: {stderr}");
    }
}

#[test]
fn a_foreign_memcpy_is_measured_like_the_others() {
    let libm = looptune()
        .args(["bench", "libc", "libc.so.6:memcpy", "copy/r64/u4", "--op", "copy", "--json"])
        .args(["--size", "512", "--state", "l1", "--budget", "300ms"])
        .output()
        .unwrap();
    assert!(libm.status.success(), "{}", String::from_utf8_lossy(&libm.stderr));
    let document: serde_json::Value = serde_json::from_slice(&libm.stdout).unwrap();
    let rows = document["cells"][0]["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 3);
    assert_eq!(rows[0]["verdict"], "reference");
    for row in rows {
        assert!(row["ns"].as_f64().unwrap() > 0.0, "{row}");
    }
}
