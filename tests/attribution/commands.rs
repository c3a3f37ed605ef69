//! The commands on this machine, in little time: shapes, never figures.

use std::path::Path;
use std::process::{Command, Output};

use looptune::results::{Explained, Folder, hosts};
use serde_json::Value;

fn looptune(args: &[&str], results: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_looptune"));
    command.args(args).arg("--results").arg(results).output().unwrap()
}

fn stdout(out: &Output) -> String {
    let stderr = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success(), "{stderr}");
    String::from_utf8_lossy(&out.stdout).into_owned()
}

fn explanations(results: &Path) -> Vec<Explained> {
    let key = hosts(results).unwrap().remove(0);
    let read = Folder::of_host(results, &key).unwrap().attributions().unwrap();
    assert_eq!(read.warnings, Vec::<String>::new());
    read.rows.into_iter().map(|r| r.explained).collect()
}

#[test]
fn a_named_loop_is_explained_recorded_and_reported() {
    let room = tempfile::tempdir().unwrap();
    let args = [
        "attribute",
        "zero/r64/u4/pf-t0@256",
        "--size",
        "4096",
        "--state",
        "l1",
        "--budget",
        "1500ms",
        "--seed",
        "7",
        "--caches",
        "told",
        "--json",
        "-q",
    ];
    let document: Value = serde_json::from_str(&stdout(&looptune(&args, room.path()))).unwrap();
    assert_eq!((&document["schema"], &document["seed"]), (&1.into(), &7.into()));
    let [one] = &document["attributions"].as_array().unwrap()[..] else { panic!("{document}") };
    assert_eq!(one["winner"], "zero/r64/u4/pf-t0@256");
    assert_eq!(one["skew"]["points"].as_array().unwrap().len(), 64);
    assert_eq!(one["placebos"][0]["suspect"], "prefetch");
    assert!(one["placebos"][0]["placebo"]["ratio"].as_f64().unwrap() > 0.0);
    let axes = one["axes"].as_array().unwrap();
    assert!(axes.iter().any(|r| r["axis"] == "unroll" && r["is_default"] == true), "{axes:?}");
    for row in axes {
        let (low, high) = (row["ratio_ci"][0].as_f64(), row["ratio_ci"][1].as_f64());
        assert!(low <= row["ratio"].as_f64() && row["ratio"].as_f64() <= high, "{row}");
    }
    let object = &one["object"];
    match object["failure"].as_str() {
        Some(why) if std::env::var_os("CI").is_none() => eprintln!("no object: {why}"),
        Some(why) => panic!("{why}"),
        // Not a figure but a sanity: the same bytes are not twice as slow.
        None => assert!((0.5..2.0).contains(&object["ratio"].as_f64().unwrap()), "{object}"),
    }
    let [Explained::Winner(found)] = &explanations(room.path())[..] else { panic!() };
    assert_eq!(found.skew.as_ref().unwrap().points.len(), 64);
    assert_eq!(found.axes.len(), axes.len());

    let page = stdout(&looptune(&["report"], room.path()));
    for word in ["why winners win", "loop top at", "one axis at a time", "prefetch:"] {
        assert!(page.contains(word), "{word}: {page}");
    }
    assert!(page.lines().all(|line| line.chars().count() <= 100), "{page}");
    let markdown = stdout(&looptune(&["report", "--format", "md"], room.path()));
    assert!(markdown.contains("One axis at a time"), "{markdown}");
    let rows = stdout(&looptune(&["report", "--format", "csv"], room.path()));
    let skews = rows.lines().filter(|l| l.contains(",skew,")).count();
    assert_eq!(skews, 64, "{rows}");
}

#[test]
fn a_search_places_and_explains_its_winners() {
    let room = tempfile::tempdir().unwrap();
    let search = |more: &[&str]| {
        let mut args = vec![
            "search",
            "--op",
            "zero",
            "--size",
            "4096",
            "--state",
            "l1",
            "--contract",
            "kernel",
            "--caches",
            "told",
            "-q",
        ];
        args.extend(more);
        looptune(&args, room.path())
    };
    let more = ["--budget", "3s", "--placement", "aligned,dst1,dst32", "--attribute", "--json"];
    let document: Value = serde_json::from_str(&stdout(&search(&more))).unwrap();
    let [placed] = &document["placements"].as_array().unwrap()[..] else { panic!("{document}") };
    let rows = placed["rows"].as_array().unwrap();
    let winner = &document["sizes"][0]["cells"][0]["winner"]["variant"];
    assert_eq!(&rows[0]["name"], winner);
    assert_eq!(rows.last().unwrap()["name"], "libc");
    assert_eq!(rows[0]["placements"].as_array().unwrap().len(), 3);
    assert_eq!(&document["attributions"][0]["winner"], winner);
    let both = explanations(room.path());
    assert!(matches!(both[..], [Explained::Placement(_), Explained::Winner(_)]), "{both:?}");

    // One placement holds for all, and is no answer to who asks for the default one.
    let one = tempfile::tempdir().unwrap();
    let args = [
        "search",
        "--op",
        "zero",
        "--size",
        "64",
        "--state",
        "l1",
        "--drive",
        "throughput",
        "--budget",
        "500ms",
        "--placement",
        "dst1",
        "--caches",
        "told",
        "-q",
    ];
    stdout(&looptune(&args, one.path()));
    let page = stdout(&looptune(&["report"], one.path()));
    assert!(page.contains("under other conditions (dst1)"), "{page}");
    let args = ["export", "--op", "zero", "--size", "64", "--state", "l1"];
    let refused = looptune(&args, one.path());
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(!refused.status.success() && said.contains("(dst1)"), "{said}");
    let with: Vec<&str> = args.iter().copied().chain(["--placement", "dst1"]).collect();
    assert!(stdout(&looptune(&with, one.path())).contains("zero"));
}

#[test]
fn a_bench_sweeps_placements() {
    let args = [
        "bench",
        "zero/r64/u4",
        "zero/rep8",
        "--size",
        "512",
        "--state",
        "l1",
        "--drive",
        "throughput",
        "--budget",
        "1s",
        "--placement",
        "quick",
        "--caches",
        "told",
        "-q",
    ];
    let out = Command::new(env!("CARGO_BIN_EXE_looptune")).args(args).output().unwrap();
    let page = stdout(&out);
    assert!(page.contains("placed at 512") && page.contains("hangs on"), "{page}");
    assert!(page.contains("5 placements"), "{page}");
}

#[test]
fn wrong_questions_are_refused_with_the_reason() {
    let room = tempfile::tempdir().unwrap();
    let refused = |args: &[&str], code: i32, word: &str| {
        let out = looptune(args, room.path());
        let said = String::from_utf8_lossy(&out.stderr).into_owned();
        assert_eq!(out.status.code(), Some(code), "{args:?}: {said}");
        assert!(said.contains(word), "{args:?}: {said}");
    };
    refused(&["attribute"], 2, "--op");
    refused(&["attribute", "--op", "zero", "--size", "4k"], 1, "nothing is recorded");
    refused(&["attribute", "zero/ymm/u4/batch"], 2, "batch-needs-loads");
    refused(&["attribute", "zero/r64", "--placement", "quick"], 2, "search and bench");
    refused(&["attribute", "zero/r64", "--placement", "dst99"], 2, "dst0 to dst63");
}
