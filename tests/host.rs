//! The facts of this machine and of emulated ones, and the page that shows them.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use looptune::cli::host::{document, page};
use looptune::host::{Feature, FeatureSet, Fingerprint, Host, Refusal, Why, die_with_parent};

#[test]
fn every_x86_64_host_has_the_base_features_and_sane_facts() {
    let begun = Instant::now();
    let host = Host::detect();
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    for feature in [Feature::Sse, Feature::Sse2, Feature::Mmx] {
        assert!(host.usable.contains(feature), "{feature}");
    }
    for feature in Feature::ALL.iter().copied() {
        assert_ne!(host.usable.contains(feature), host.refusal(feature).is_some(), "{feature}");
    }
    assert!(host.caches.l1d_bytes() >= 4 << 10);
    assert!(host.caches.l2_bytes() > host.caches.l1d_bytes());
    assert!(host.tsc.calibrated_hz > 1e8 && host.tsc.calibrated_hz < 1e10);
    assert!(host.key.chars().all(|c| c.is_ascii_alphanumeric() || c == '-'), "{}", host.key);
    assert_eq!(host.key.split('-').count(), 5, "{}", host.key);
}

#[test]
fn the_key_and_the_fingerprint_are_the_same_each_time() {
    let (a, b) = (Host::detect(), Host::detect());
    assert_eq!(a.key, b.key);
    assert_eq!(a.fingerprint(), b.fingerprint());
    assert_eq!(Fingerprint::read().difference(&a.fingerprint()), None);
}

#[test]
fn avx_is_usable_only_with_its_registers_enabled() {
    let host = Host::detect();
    let enabled = host.xcr0.is_some_and(|bits| bits & 0b110 == 0b110);
    assert!(enabled || !host.usable.contains(Feature::Avx));
    assert_eq!(host.usable.contains(Feature::Avx), std::is_x86_feature_detected!("avx"));
    assert_eq!(host.usable.contains(Feature::Avx512f), std::is_x86_feature_detected!("avx512f"));
    assert!(!host.usable.contains(Feature::AmxTile), "nobody has asked for permission");
}

#[test]
fn a_host_survives_being_written_and_read() {
    let host = Host::detect();
    let json = serde_json::to_string(&host).unwrap();
    let read: Host = serde_json::from_str(&json).unwrap();
    // rates are written in decimal and may lose their last bit
    assert!((read.tsc.calibrated_hz / host.tsc.calibrated_hz - 1.0).abs() < 1e-12);
    assert_eq!(Host { tsc: host.tsc, ..read }, host);
}

#[test]
fn the_page_holds_everything_within_100_columns() {
    let mut host = Host::detect();
    host.caches.warnings.push("L2 is told as 0 bytes; 256k is assumed. ".repeat(4));
    let why = Why::NotEnabled { xcr0: Some(7) };
    host.refused.push(Refusal { feature: Feature::Sse2, why });
    let page = page(&host, None, false);
    for line in page.lines() {
        assert!(line.chars().count() <= 100, "{line}");
        assert_eq!(line.trim_end(), line);
    }
    // what is broken over lines is whole again
    let flatten = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let flat = flatten(&page);
    for feature in Feature::ALL {
        assert!(flat.contains(feature.word()), "{feature}");
    }
    for part in [
        host.key.as_str(),
        host.cpu.brand.as_str(),
        "has not enabled the registers (XCR0 0x7): sse2",
        "! L2 is told as 0 bytes",
        "MHz measured",
    ] {
        assert!(flat.contains(part), "{part} is not in\n{page}");
    }
    for sentence in host.disturbances() {
        assert!(flat.contains(&flatten(&sentence)), "{sentence}");
    }
}

#[test]
fn the_document_has_a_schema_and_tells_the_same() {
    let host = Host::detect();
    let json = document(&host, None);
    assert_eq!(json["schema"], 1);
    assert_eq!(json["host"]["key"], host.key.as_str());
    let features = json["host"]["features"].as_array().unwrap();
    let usable: FeatureSet = features
        .iter()
        .map(|w| Feature::from_word(w.as_str().unwrap()).expect("features are written as words"))
        .collect();
    assert_eq!(usable, host.usable);
    let refused = json["refused"].as_array().unwrap();
    assert_eq!(refused.len() + features.len(), Feature::ALL.len());
    assert!(refused.iter().all(|r| !r["why"].as_str().unwrap().is_empty()));
    assert_eq!(json["caches"]["used"]["l1d_bytes"], host.caches.l1d_bytes());
}

/// Set in the emulated child of the tests below.
const EMULATED: &str = "LOOPTUNE_TEST_EMULATED";

/// Prints the document for the parent test when that runs this binary emulated.
#[test]
fn emulated_child() {
    if std::env::var_os(EMULATED).is_some() {
        println!("\n{}", document(&Host::detect(), None));
    }
}

/// Runs `emulated_child` of this binary on another processor; `None` without an emulator.
fn emulated(processor: &str) -> Option<serde_json::Value> {
    let qemu = "qemu-x86_64";
    if Command::new(qemu).arg("--version").output().is_err() {
        eprintln!("{qemu} is not installed: nothing is tested here");
        return None;
    }
    let output = Command::new(qemu)
        .args(["-cpu", processor])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "emulated_child", "--nocapture", "--test-threads=1"])
        .env(EMULATED, "1")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    let line = text.lines().find(|l| l.starts_with('{'));
    Some(serde_json::from_str(line.expect("the child prints one document")).unwrap())
}

#[test]
fn a_processor_without_xgetbv_and_rdtscp_is_survived() {
    let Some(json) = emulated("Nehalem") else { return };
    assert_eq!(json["processor"]["core"], "Nehalem");
    assert_eq!(json["processor"]["xcr0"], serde_json::Value::Null);
    let features = json["host"]["features"].to_string();
    assert!(features.contains("sse2") && !features.contains("rdtscp"), "{features}");
    let refused = json["refused"].to_string();
    assert!(refused.contains("avx") && refused.contains("CPUID does not report it"), "{refused}");
}

#[test]
fn a_processor_with_avx2_has_it_usable() {
    let Some(json) = emulated("Haswell") else { return };
    assert_eq!(json["processor"]["core"], "Haswell");
    let features = json["host"]["features"].to_string();
    assert!(features.contains("avx2") && !features.contains("avx512f"), "{features}");
    assert_eq!(json["ports"]["store"][2]["bytes_per_cycle"], 32.0);
}

/// Set in the descendants of the test below: which of them this process is.
const DESCENDANT: &str = "LOOPTUNE_TEST_DESCENDANT";

/// This binary again, to run `descendant` only.
fn again(role: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "descendant", "--nocapture", "--test-threads=1"]);
    command.env(DESCENDANT, role).stdin(Stdio::null()).stderr(Stdio::null());
    command
}

/// The child starts a grandchild and waits; the grandchild promises to die with it, says so
/// and sleeps longer than the test's patience.
#[test]
fn descendant() {
    match std::env::var(DESCENDANT).as_deref() {
        Ok("child") => {
            again("grandchild").status().unwrap();
        }
        Ok("grandchild") => {
            die_with_parent().unwrap();
            println!("\npromised");
            std::thread::sleep(Duration::from_secs(40));
        }
        _ => {}
    }
}

#[test]
fn a_process_dies_with_its_parent() {
    let mut child = again("child").stdout(Stdio::piped()).spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    while line.trim() != "promised" {
        line.clear();
        assert_ne!(out.read_line(&mut line).unwrap(), 0, "the grandchild never spoke");
    }
    child.kill().unwrap();
    child.wait().unwrap();
    // the grandchild holds the other end of the pipe for as long as it lives
    let begun = Instant::now();
    out.read_to_end(&mut Vec::new()).unwrap();
    assert!(begun.elapsed() < Duration::from_secs(20), "the grandchild outlived its parent");
}
