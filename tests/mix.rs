//! Mixes of sizes from the command line: searched beside sizes, recorded, reported, exported.

#[path = "common/refused.rs"]
mod refused;

use std::path::Path;
use std::process::Command;

use refused::refused;
use serde_json::Value;

/// What a command prints; it must succeed.
fn said(args: &[&str]) -> String {
    let out = Command::new(env!("CARGO_BIN_EXE_looptune")).args(args).output().unwrap();
    assert!(out.status.success(), "{args:?}: {}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8(out.stdout).unwrap()
}

fn write(folder: &Path, name: &str, text: &str) -> String {
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().into()
}

#[test]
fn a_mix_is_searched_recorded_reported_and_exported() {
    let room = tempfile::tempdir().unwrap();
    let line = write(room.path(), "line.csv", "0.1,0,0,0.5,0,0,0,0.3,0,0.1\n");
    let pairs = write(room.path(), "pairs.csv", "size,weight\n16,70\n100,29\n2000,1\n");
    let results = room.path().join("results");
    let results = results.to_str().unwrap();
    let mixes = format!("{line},{pairs}");
    let search = ["search", "--op", "zero", "--size", "64", "--mix", &mixes, "--state", "l1"];
    let more = ["--drive", "throughput", "--budget", "3s", "--seed", "5", "--results", results];
    let found = said(&[&search[..], &more, &["--json", "--quiet"]].concat());
    let found: Value = serde_json::from_str(&found).unwrap();
    let sizes = found["sizes"].as_array().unwrap();
    assert_eq!(sizes.len(), 3);
    assert!(sizes[0]["mix"].is_null());
    for (size, (name, largest, mean)) in
        sizes[1..].iter().zip([("line", 9, 4.5), ("pairs", 2000, 60.2)])
    {
        assert_eq!((&size["mix"]["name"], &size["size_bytes"]), (&name.into(), &largest.into()));
        assert!((size["mix"]["mean_bytes"].as_f64().unwrap() - mean).abs() < 1e-3, "{size}");
        let cell = &size["cells"][0];
        assert!(cell["winner"]["ns"].as_f64().unwrap() > 0.0, "{cell}");
        let libc = &cell["baselines"][0];
        let ratio = libc["ratio"].as_f64().unwrap();
        let ends: Vec<f64> =
            libc["ratio_ci"].as_array().unwrap().iter().filter_map(Value::as_f64).collect();
        assert!(libc["name"] == "libc" && ends[0] <= ratio && ratio <= ends[1], "{libc}");
    }
    let page = said(&["report", "--results", results]);
    assert!(page.contains("line") && page.contains("pairs: 60.2 bytes a call"), "{page}");
    let rows = said(&["report", "--results", results, "--format", "csv"]);
    let mixed: Vec<&str> = rows.lines().filter(|l| l.contains(",2000,pairs,60.2,")).collect();
    assert!(!mixed.is_empty(), "{rows}");
    for (form, word) in [("md", "| pairs | l1 "), ("html", "zero of the mix pairs by state")] {
        let page = said(&["report", "--results", results, "--format", form]);
        assert!(page.contains(word), "{form}: {page}");
    }
    let asm = said(&["export", "--op", "zero", "--mix", "pairs", "--results", results, "-q"]);
    assert!(asm.contains("looptune_zero"), "{asm}");
    let asked = ["export", "--op", "zero", "--mix", "other", "--results", results];
    refused(&asked, 1, &["zero of the mix other", "the mix pairs (l1)"]);
}

#[test]
fn a_bench_of_a_mix_alone_has_no_other_size() {
    let room = tempfile::tempdir().unwrap();
    let pairs = write(room.path(), "pairs.csv", "16,70\n100,29\n2000,1\n");
    let bench = ["bench", "libc", "zero/xmm/u2", "--op", "zero", "--state", "l1,dram"];
    let more = ["--mix", &pairs, "--budget", "1s", "--json"];
    let found: Value = serde_json::from_str(&said(&[&bench[..], &more].concat())).unwrap();
    let cells = found["cells"].as_array().unwrap();
    // The mean is below 256 bytes, so both drives are asked.
    assert_eq!(cells.len(), 4);
    for cell in cells {
        assert_eq!(cell["mix"]["name"], "pairs");
        for row in cell["rows"].as_array().unwrap() {
            assert!(row["ns"].as_f64().unwrap() > 0.0, "{row}");
        }
    }
}

#[test]
fn files_that_are_no_mixes_are_named_with_the_place() {
    let room = tempfile::tempdir().unwrap();
    let bad = write(room.path(), "bad.csv", "8,1\n16,x\n");
    let empty = write(room.path(), "empty.csv", "\n");
    let good = write(room.path(), "good.csv", "8,1\n16,1\n");
    std::fs::create_dir(room.path().join("more")).unwrap();
    let other = write(&room.path().join("more"), "good.csv", "8,1\n16,2\n");
    let folder = room.path().to_str().unwrap();
    for command in [&["search", "--op", "zero"][..], &["bench", "zero/xmm"]] {
        let with = |mix: &str, code, words: &[&str]| {
            refused(&[command, &["--mix", mix, "--state", "l1"]].concat(), code, words);
        };
        with(&bad, 1, &["bad.csv:2:4", "`x`", "write a number"]);
        with(&empty, 1, &["empty.csv", "one line of comma-separated probabilities"]);
        with(folder, 1, &["a folder", "regular file"]);
        with("nowhere.csv", 2, &["there is no file nowhere.csv"]);
        with(&format!("{good},{other}"), 2, &["two mixes would be called `good`"]);
    }
}
