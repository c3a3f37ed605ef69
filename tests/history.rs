//! The tables of 1996 to 2016 from the command line: their structure, and their rows as CSV.

use std::process::Command;

fn ran(args: &[&str]) -> std::process::Output {
    Command::new(env!("CARGO_BIN_EXE_looptune")).arg("history").args(args).output().unwrap()
}

fn said(args: &[&str]) -> String {
    let out = ran(args);
    assert!(out.status.success(), "{args:?}: {}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8(out.stdout).unwrap()
}

#[test]
fn bzero_prints_every_loop_in_every_state_and_an_answer() {
    let page = said(&["bzero", "--budget", "1s", "--seed", "3", "--quiet"]);
    assert!(page.lines().all(|line| line.chars().count() <= 100), "{page}");
    for name in
        ["generic_bzero", "i486_bzero", "i586_bzero", "i586_bzerox", "i586_bzero_fp", "libc"]
    {
        let rows = page.lines().filter(|line| line.split_whitespace().next() == Some(name));
        assert!(rows.count() >= 1, "{name}: {page}");
    }
    assert!(page.contains("Which bzero, when? "), "{page}");
    assert!(page.contains("rbw × placebo") && page.contains("placebo × none"), "{page}");
    // What was posted stands there as it was.
    assert!(page.contains("492.43") && page.contains("0x1f28c253"), "{page}");
    // Every host has these two states for a page.
    for state in ["l1", "dram"] {
        let of_state = |line: &&str| line.split_whitespace().next() == Some(state);
        let row = page.lines().find(of_state).unwrap_or_else(|| panic!("{state}: {page}"));
        assert_eq!(row.matches('[').count(), 3, "three intervals: {row}");
    }
}

#[test]
fn csv_is_a_table_and_nothing_else() {
    let text = said(&["bzero", "--budget", "1s", "--csv", "--quiet"]);
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let head = reader.headers().unwrap().clone();
    let column = |name: &str| head.iter().position(|h| h == name).unwrap();
    let rows: Vec<csv::StringRecord> = reader.records().collect::<Result<_, _>>().unwrap();
    let of_kind = |kind: &str| -> Vec<&csv::StringRecord> {
        rows.iter().filter(|row| &row[column("kind")] == kind).collect()
    };
    assert_eq!(of_kind("1996").len(), 11);
    for row in of_kind("time").into_iter().filter(|row| row[column("failure")].is_empty()) {
        let number = |name: &str| row[column(name)].parse::<f64>().unwrap();
        assert!(number("ci_low_ns") <= number("ns") && number("ns") <= number("ci_high_ns"));
        let rate = number("size_bytes") / number("ns") * 1e3;
        assert!((number("mb_per_s") / rate - 1.0).abs() < 1e-6, "{row:?}");
    }
    let reads = of_kind("pair");
    let reads = reads.iter().filter(|row| &row[column("subject")] == "i586_bzero");
    assert!(reads.count() >= 4, "{text}");
}

#[test]
fn a_table_that_is_none_is_refused_with_those_that_are() {
    let out = ran(&["bzeros"]);
    assert_eq!(out.status.code(), Some(2));
    let text = String::from_utf8_lossy(&out.stderr).into_owned();
    assert!(text.contains("tables are size bzero pagezero breed"), "{text}");
    assert!(text.contains("did you mean bzero?"), "{text}");
}
