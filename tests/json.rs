//! The documents of `--json`: every key that is promised, of the right type, figures that
//! agree with each other, and nothing else on standard output.

use std::path::Path;
use std::process::Command;

use serde_json::{Map, Value};

/// Runs a command; its whole standard output is one document.
fn document(args: &[&str]) -> Value {
    let out = Command::new(env!("CARGO_BIN_EXE_looptune")).args(args).output().unwrap();
    let stderr = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success(), "{args:?}: {stderr}");
    serde_json::from_slice(&out.stdout).unwrap_or_else(|e| panic!("{args:?}: {e}"))
}

/// The object, which has these keys in this order and no others.
fn object<'v>(value: &'v Value, keys: &[&str]) -> &'v Map<String, Value> {
    let object = value.as_object().unwrap_or_else(|| panic!("an object: {value}"));
    let there: Vec<&str> = object.keys().map(String::as_str).collect();
    assert_eq!(there, keys, "{value}");
    object
}

fn array(value: &Value) -> &Vec<Value> {
    value.as_array().unwrap_or_else(|| panic!("an array: {value}"))
}

fn text(value: &Value) -> &str {
    let text = value.as_str().unwrap_or_else(|| panic!("a string: {value}"));
    assert!(!text.is_empty());
    text
}

fn count(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("a whole number: {value}"))
}

fn positive(value: &Value) -> f64 {
    let number = value.as_f64().unwrap_or_else(|| panic!("a number: {value}"));
    assert!(number > 0.0 && number.is_finite(), "{number}");
    number
}

/// A figure and its interval around it.
fn with_interval(value: &Value, interval: &Value) -> f64 {
    let (figure, ends) = (positive(value), array(interval));
    assert_eq!(ends.len(), 2, "{interval}");
    let (low, high) = (positive(&ends[0]), positive(&ends[1]));
    assert!(low <= figure && figure <= high, "{figure} in {interval}");
    figure
}

fn is_variant(value: &Value, op: &str) {
    let id = text(value);
    let variant: looptune::subject::Variant = id.parse().unwrap_or_else(|e| panic!("{id}: {e}"));
    assert_eq!(variant.to_string(), id, "canonical");
    assert_eq!(variant.op.word(), op);
}

fn host(value: &Value) {
    object(value, &["key", "cpu", "features"]);
    text(&value["key"]);
    text(&value["cpu"]);
    let features: Vec<&str> = array(&value["features"]).iter().map(text).collect();
    assert!(features.contains(&"sse2"), "{features:?}");
}

const OP: &str = "zero";

const VERDICTS: [&str; 4] = ["faster", "slower", "tied", "undecided"];

fn search(op: &str, results: &Path) -> Value {
    let results = results.to_str().unwrap();
    let args = ["search", "--op", op, "--size", "128,4k", "--state", "l1,dram", "--seed", "7"];
    document(&[&args[..], &["--budget", "4s", "--json", "--results", results]].concat())
}

#[test]
fn search_has_the_shape_of_schema_1() {
    let room = tempfile::tempdir().unwrap();
    let found = search(OP, room.path());
    object(
        &found,
        &[
            "schema",
            "command",
            "seed",
            "seconds",
            "host",
            "op",
            "contract",
            "sizes",
            "nt_crossovers",
            "warnings",
        ],
    );
    assert_eq!((count(&found["schema"]), count(&found["seed"])), (1, 7));
    assert!(text(&found["command"]).starts_with("looptune search --op zero --size"));
    assert!(positive(&found["seconds"]) < 60.0);
    host(&found["host"]);
    assert_eq!(found["op"], OP);
    array(&found["warnings"]).iter().for_each(|w| assert!(!text(w).contains("interrupted")));
    let sizes = array(&found["sizes"]);
    assert_eq!(sizes.len(), 2);
    for (size, (bytes, states)) in
        sizes.iter().zip([(128, &["l1", "l1", "dram", "dram"][..]), (4096, &["l1", "dram"])])
    {
        let keys = [
            "size_bytes",
            "mix",
            "cells",
            "absent",
            "robust",
            "best_plain",
            "best_nt",
            "best_kernel",
        ];
        object(size, &keys);
        assert_eq!(count(&size["size_bytes"]), bytes);
        assert_eq!(array(&size["absent"]).len(), 0);
        let cells = array(&size["cells"]);
        let there: Vec<&str> = cells.iter().map(|c| text(&c["state"])).collect();
        assert_eq!(there, states);
        cells.iter().for_each(|c| cell(c, bytes));
        robust(&size["robust"], cells);
        object(&size["best_plain"], &["variant"]);
        is_variant(&size["best_plain"]["variant"], OP);
        // Loops with non-temporal stores take part, but perhaps none came so far.
        if !size["best_nt"].is_null() {
            is_variant(&size["best_nt"]["variant"], OP);
        }
    }
}

fn cell(cell: &Value, bytes: u64) {
    object(
        cell,
        &[
            "state",
            "drive",
            "conditions",
            "trials",
            "samples",
            "stop",
            "winner",
            "ties",
            "baselines",
            "excluded",
        ],
    );
    object(&cell["conditions"], &["placement", "pages", "consumer", "source", "threads"]);
    assert!(["throughput", "chained"].contains(&text(&cell["drive"])));
    assert!(count(&cell["trials"]) > 0 && count(&cell["samples"]) > count(&cell["trials"]));
    assert!(["budget", "converged", "exhausted"].contains(&text(&cell["stop"])));
    let winner = &cell["winner"];
    object(winner, &["variant", "ns", "ci", "bytes_per_cycle", "code_bytes"]);
    is_variant(&winner["variant"], OP);
    let ns = with_interval(&winner["ns"], &winner["ci"]);
    positive(&winner["bytes_per_cycle"]);
    assert!(count(&winner["code_bytes"]) > 0);
    for tie in array(&cell["ties"]) {
        is_variant(tie, OP);
        assert_ne!(tie, &winner["variant"], "the winner is not a tie of its own");
    }
    let baselines = array(&cell["baselines"]);
    let names: Vec<&str> = baselines.iter().map(|b| text(&b["name"])).collect();
    assert_eq!(names, ["libc", "rep"]);
    for baseline in baselines {
        object(baseline, &["name", "ns", "ratio", "ratio_ci", "verdict"]);
        let ratio = with_interval(&baseline["ratio"], &baseline["ratio_ci"]);
        // The ratio is paired and gross, the times are apart and net of the driver: near, not
        // equal, and only where a call takes much longer than its driver.
        let apart = positive(&baseline["ns"]) / ns;
        assert!(bytes < 1024 || (ratio / apart).ln().abs() < 0.7, "{ratio}, {apart}: {cell}");
        let verdict = text(&baseline["verdict"]);
        assert!(VERDICTS.contains(&verdict));
        assert!(verdict != "slower" || ratio > 1.0, "{baseline}");
        assert!(verdict != "faster" || ratio < 1.0, "{baseline}");
    }
    let excluded = object(&cell["excluded"], &["unsupported", "incorrect", "crashed", "hung"]);
    // Own loops neither fail nor fall.
    assert!(excluded.values().all(|n| count(n) == 0), "{excluded:?}");
}

fn robust(robust: &Value, cells: &[Value]) {
    object(robust, &["variant", "max_regret", "by_state"]);
    is_variant(&robust["variant"], OP);
    let by_state = array(&robust["by_state"]);
    let place = |v: &Value| (text(&v["state"]).to_string(), text(&v["drive"]).to_string());
    let there: Vec<_> = by_state.iter().map(place).collect();
    let wanted: Vec<_> = cells.iter().map(place).collect();
    assert_eq!(there, wanted);
    let regrets = by_state.iter().map(|row| {
        object(row, &["state", "drive", "conditions", "regret"]);
        row["regret"].as_f64().unwrap()
    });
    let worst = regrets.fold(f64::MIN, f64::max);
    assert!((robust["max_regret"].as_f64().unwrap() - worst).abs() < 1e-9, "{robust}");
}

#[test]
fn bench_compares_with_its_first_row() {
    let found = document(&[
        "bench",
        "zero/xmm/u4",
        "zero/r64",
        "libc",
        "--size",
        "512,4k",
        "--state",
        "l1",
        "--budget",
        "1s",
        "--json",
    ]);
    // Notes and the clock beside wide vectors stand where there is something to say.
    let own = found.as_object().unwrap().keys().map(String::as_str);
    let own: Vec<&str> = own.filter(|k| !["notes", "clock"].contains(k)).collect();
    assert_eq!(own, ["schema", "command", "host", "cells"]);
    assert_eq!(count(&found["schema"]), 1);
    host(&found["host"]);
    let cells = array(&found["cells"]);
    assert_eq!(cells.len(), 2);
    for (cell, bytes) in cells.iter().zip([512, 4096]) {
        let conditions = ["placement", "pages", "consumer", "source", "threads"];
        let keys = [&["op", "size_bytes", "mix", "state", "drive"][..], &conditions, &["rows"]];
        object(cell, &keys.concat());
        assert_eq!((text(&cell["op"]), count(&cell["size_bytes"])), ("zero", bytes));
        assert_eq!((text(&cell["state"]), text(&cell["drive"])), ("l1", "throughput"));
        let rows = array(&cell["rows"]);
        let names: Vec<&str> = rows.iter().map(|r| text(&r["name"])).collect();
        assert_eq!(names, ["zero/xmm/u4", "zero/r64", "libc"]);
        for (i, row) in rows.iter().enumerate() {
            let keys = ["name", "ns", "ci", "bytes_per_cycle", "ratio", "ratio_ci", "verdict"];
            object(row, &keys);
            with_interval(&row["ns"], &row["ci"]);
            positive(&row["bytes_per_cycle"]);
            let ratio = with_interval(&row["ratio"], &row["ratio_ci"]);
            let verdict = text(&row["verdict"]);
            if i == 0 {
                assert_eq!((verdict, ratio), ("reference", 1.0));
            } else {
                assert!(VERDICTS.contains(&verdict), "{verdict}");
            }
        }
    }
}

#[test]
fn host_tells_what_it_is_and_why_not() {
    let found = document(&["host", "--json"]);
    object(
        &found,
        &[
            "schema",
            "host",
            "processor",
            "refused",
            "caches",
            "ports",
            "tsc",
            "libc",
            "libc_functions",
            "system",
            "disturbances",
        ],
    );
    assert_eq!(count(&found["schema"]), 1);
    host(&found["host"]);
    for refused in array(&found["refused"]) {
        object(refused, &["feature", "why"]);
        assert!(!array(&found["host"]["features"]).contains(&refused["feature"]));
        text(&refused["why"]);
    }
    let used = &found["caches"]["used"];
    let (l1d, l2) = (count(&used["l1d_bytes"]), count(&used["l2_bytes"]));
    assert!(0 < l1d && l1d < l2 && l2 <= count(&used["llc_bytes"]), "{used}");
    assert!(positive(&found["tsc"]["calibrated_hz"]) > 1e8);
}

#[test]
fn list_tells_of_every_space() {
    let found = document(&["list", "--json"]);
    object(
        &found,
        &["schema", "host", "families", "axes", "baselines", "named_loops", "search_files"],
    );
    assert_eq!(count(&found["schema"]), 1);
    host(&found["host"]);
    for key in ["families", "axes", "baselines", "named_loops", "search_files"] {
        assert!(!array(&found[key]).is_empty(), "{key}");
    }
    for file in array(&found["search_files"]) {
        text(&file["name"]);
        text(&file["description"]);
        for space in array(&file["spaces"]) {
            assert!(["copy", "zero"].contains(&text(&space["op"])));
            assert!(count(&space["distinct_here"]) <= count(&space["legal_here"]));
        }
    }
}
