//! Loops with names: each is the shape that its file says, runs where it can, and stands where
//! ids stand; beside them what a C compiler makes.

use std::ops::Range;
use std::path::Path;

use assert_cmd::Command;
use looptune::encode::{Code, compile};
use looptune::host::Host;
use looptune::space::{check, supported};
use looptune::subject::{NamedLoop, Op, Variant};
use looptune::trial::{Body, Check, FailureKind, Misbehaviour};
use looptune::verify::Verifier;
use predicates::prelude::*;
use predicates::str::contains;
use serde_json::Value;

fn looptune() -> Command {
    Command::cargo_bin("looptune").unwrap()
}

fn variant(name: &str) -> Variant {
    NamedLoop::from_word(name).unwrap().variant()
}

fn code(name: &str) -> Code {
    compile(&variant(name)).unwrap()
}

fn main_loop(name: &str) -> Range<u32> {
    code(name).loop_range.unwrap()
}

/// Whether the main loop goes over a multiple of so many bytes.
fn crosses(name: &str, boundary: u32) -> bool {
    let range = main_loop(name);
    range.start / boundary != (range.end - 1) / boundary
}

#[test]
fn every_one_is_legal_and_right() {
    let host = Host::detect().usable;
    let mut verifier = Verifier::new(host).unwrap();
    for named in NamedLoop::all() {
        let variant = named.variant();
        check(&variant).unwrap_or_else(|rule| panic!("{named}: {rule:?}"));
        if supported(&variant, &host).is_err() {
            eprintln!("skipped: this host cannot run {named}");
            continue;
        }
        let body = Body::Machine(compile(&variant).unwrap().machine());
        let verified = verifier.verify(variant.op, &body, Check::Quick { size: 4096 }, &());
        let verified = verified.unwrap_or_else(|failure| panic!("{named}: {failure}"));
        let changed = |kind: &FailureKind| {
            matches!(kind, FailureKind::Incorrect(Misbehaviour::BitsChanged { .. }))
        };
        match verified.inexact() {
            None => assert!(variant.is_exact(), "{named} should change bits"),
            Some(failure) => assert!(changed(&failure.kind) && named.grade().is_some(), "{named}"),
        }
    }
}

#[test]
fn the_loops_that_zero_a_page_lie_as_they_did() {
    // The whole loop inside 16 bytes, against one that crosses in every iteration.
    assert!(!crosses("i386_pagezero", 16), "{:?}", main_loop("i386_pagezero"));
    assert_eq!(main_loop("i386_pagezero").len(), 16);
    assert!(crosses("i386_pagezero_old", 16));
    assert!(crosses("sse2_pagezero_old", 32) && !crosses("sse2_pagezero", 32));
    for name in ["i386_pagezero", "i386_pagezero_old", "sse2_pagezero", "sse2_pagezero_old"] {
        assert_eq!(code(name).fixed, Some(4096), "{name}");
        assert!(code(name).leaves_cache, "{name}");
    }
}

#[test]
fn a_read_and_its_control_differ_in_nothing_else() {
    let (with, without) = (code("i586_bzero"), code("i586_bzerox"));
    let differing: Vec<usize> =
        (0..with.bytes.len()).filter(|i| with.bytes[*i] != without.bytes[*i]).collect();
    assert_eq!(with.bytes.len(), without.bytes.len());
    assert_eq!(with.loop_range, without.loop_range);
    assert!((1..=3).contains(&differing.len()), "{differing:?}");
}

#[test]
fn show_tells_the_history_and_list_has_all() {
    let mut list = looptune().arg("list").assert().success();
    for named in NamedLoop::all() {
        list = list.stdout(contains(named.word())).stdout(contains(named.variant().to_string()));
        let first: String = named.history().split_inclusive(' ').take(5).collect();
        let id = format!("\n{}: ", named.variant());
        let shown = looptune().args(["show", named.word()]).assert().success();
        let shown = shown.stdout(contains(first.trim())).stdout(contains(id));
        if let Some(grade) = named.grade() {
            shown.stdout(contains(grade.split(':').next().unwrap()));
        }
    }
    let json = looptune().args(["list", "--json"]).output().unwrap().stdout;
    let json: Value = serde_json::from_slice(&json).unwrap();
    assert_eq!(json["named_loops"].as_array().unwrap().len(), NamedLoop::all().len());
}

#[test]
fn what_is_not_exact_is_timed_where_it_is_named_and_never_handed_out() {
    looptune()
        .args(["bench", "libc", "evans_fp_bcopy", "hasty_asami_bcopy", "--state", "l1"])
        .args(["--size", "256", "--drive", "throughput", "--budget", "200ms"])
        .assert()
        .success()
        .stdout(contains("evans_fp_bcopy is copy/x87/u8/reverse\n"))
        .stdout(contains("evans_fp_bcopy: incorrect: changes bits: the 8 bytes at"))
        .stdout(contains("hasty_asami_bcopy: incorrect").not());
    let verify = looptune().args(["verify", "evans_fp_bcopy"]).assert().code(1);
    verify.stdout(contains("changes bits"));
    let export = looptune().args(["export", "evans_fp_bcopy"]).assert().code(1);
    export.stdout("").stderr(contains("changes bits"));
}

/// Columns of a page.
const WIDTH: usize = 100;

fn alone(op: &str, size: &str) -> Command {
    let mut command = looptune();
    command.args(["bench", "--op", op, "--size", size, "--state", "l1,l2", "--budget", "300ms"]);
    command
}

#[test]
fn alone_every_loop_of_an_op_is_measured() {
    for op in Op::ALL {
        let page = alone(op.word(), "4k").output().unwrap();
        assert!(page.status.success(), "{}", String::from_utf8_lossy(&page.stderr));
        let page = String::from_utf8(page.stdout).unwrap();
        assert!(page.lines().all(|line| line.chars().count() <= WIDTH), "{page}");
        assert!(page.contains(&format!("\n{op} 4k\n")), "{page}");
        for named in NamedLoop::all() {
            let mut rows = page.lines().filter(|l| l.trim_start().starts_with(named.word()));
            assert_eq!(rows.next().is_some(), named.variant().op == *op, "{named} in\n{page}");
        }
        assert_eq!(page.contains("\n  libc "), op.is_tuned(), "{page}");
        assert_eq!(page.contains("changes bits"), *op == Op::Copy, "{page}");
    }
}

#[test]
fn a_loop_for_one_size_drops_out_at_others_with_its_reason() {
    let page = alone("zero", "64").assert().success();
    page.stdout(contains("it is for 4096").and(contains("sse2_pagezero: unsupported")));
    let json = alone("zero", "64").arg("--json").output().unwrap().stdout;
    let json: Value = serde_json::from_slice(&json).unwrap();
    let cells = json["cells"].as_array().unwrap();
    assert_eq!(cells.len(), 2);
    for row in cells.iter().flat_map(|c| c["rows"].as_array().unwrap()) {
        let name = row["name"].as_str().unwrap();
        let fixed = NamedLoop::from_word(name).is_some_and(|n| n.variant().fixed.is_some());
        match fixed {
            true => assert!(row["failure"].as_str().unwrap().contains("4096 bytes"), "{row}"),
            false => assert!(row["ns"].as_f64().unwrap() > 0.0 || row["failure"].is_string()),
        }
    }
}

fn is_empty(folder: &Path) -> bool {
    std::fs::read_dir(folder).unwrap().next().is_none()
}

#[test]
fn the_compiler_builds_in_a_folder_that_goes_away() {
    let folder = tempfile::tempdir().unwrap();
    let command = |name: &str| {
        let mut command = looptune();
        command.env("TMPDIR", folder.path()).args(["bench", name, "rep", "--op", "zero"]);
        command.args(["--size", "512", "--state", "l1", "--budget", "200ms"]);
        command
    };
    if !["cc", "gcc", "clang"].iter().any(|cc| std::process::Command::new(cc).output().is_ok()) {
        assert!(std::env::var_os("CI").is_none(), "cc is missing, install it");
        eprintln!("skipped: there is no cc");
        return;
    }
    for name in ["compiler-o2", "compiler-o3"] {
        let page = command(name).assert().success();
        page.stdout(contains(format!("{name}: a plain loop over bytes by ")));
        assert!(is_empty(folder.path()));
        for op in Op::ALL {
            let exact = format!("{name}: exact ({op}, full set)");
            let verify = ["verify", name, "--op", op.word()];
            looptune().args(verify).assert().success().stdout(contains(exact));
        }
    }
}

#[test]
fn without_a_compiler_its_baselines_are_rows_with_the_reason() {
    let nothing = tempfile::tempdir().unwrap();
    let why = "no C compiler: install gcc";
    let page = alone("write", "4k").env("PATH", nothing.path()).assert().success();
    page.stdout(contains(format!("compiler-o2, compiler-o3: unsupported: {why}")));
    let named = ["bench", "compiler-o2", "--op", "zero"];
    let refused = looptune().args(named).env("PATH", nothing.path()).assert().code(3);
    refused.stderr(contains(why));
}
