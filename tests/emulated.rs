//! Another processor, by emulation: parent and worker both run under qemu's user mode. Proves
//! that nothing is assumed that CPUID and XCR0 do not grant, not even `rdtscp` or `xgetbv`.

use std::process::{Command, Output};

const PROGRAM: &str = env!("CARGO_BIN_EXE_looptune");

/// The emulator, where it is installed. In CI it must be.
fn emulator() -> bool {
    let there = Command::new("qemu-x86_64").arg("--version").output().is_ok();
    if !there {
        assert!(std::env::var_os("CI").is_none(), "qemu-x86_64 is missing (package qemu-user)");
        eprintln!("skipped: qemu-x86_64 is not installed (package qemu-user)");
    }
    there
}

fn emulated(cpu: &str, args: &[&str]) -> Output {
    let runner = format!("qemu-x86_64 -cpu {cpu}");
    Command::new("qemu-x86_64")
        // qemu's own warnings name features that its emulation lacks.
        .args(["-cpu", cpu, PROGRAM, "--worker-runner", &runner])
        .args(args)
        .output()
        .unwrap()
}

fn succeeds(cpu: &str, args: &[&str]) -> String {
    let out = emulated(cpu, args);
    let stderr = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success(), "{cpu} {args:?}: {stderr}");
    String::from_utf8_lossy(&out.stdout).into_owned()
}

fn everything_runs_on(cpu: &str, absent: &[&str], present: &[&str]) {
    let host = succeeds(cpu, &["host"]);
    for feature in absent.iter().chain(present) {
        assert!(host.contains(feature), "{cpu}: {feature} not told of in\n{host}");
    }
    let version = succeeds(cpu, &["--version"]);
    let features = version.lines().find(|l| l.starts_with("features: ")).expect("told");
    assert!(present.iter().all(|f| features.split(' ').any(|word| word == *f)), "{version}");
    assert!(!absent.iter().any(|f| features.split(' ').any(|word| word == *f)), "{version}");
    let list = succeeds(cpu, &["list"]);
    assert!(list.contains("zmm"), "{list}");
    let verified = succeeds(cpu, &["verify", "--random", "40", "--seed", "1"]);
    assert!(verified.contains(": 0 wrong"), "{verified}");
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().to_str().unwrap();
    let file = format!("{folder}/tiny.toml");
    std::fs::write(
        &file,
        "description = \"a tiny space\"\nops = [\"zero\"]\nfamilies = [\"general\", \"avx\"]\n\
         [axes]\nunroll = [4]\nalign = [\"a1\"]\nhead = [\"head-none\"]\ntail = [\"tail-overlap\"]\n\
         store = [\"plain\"]\ncount = [\"cmp\"]\n",
    )
    .unwrap();
    let search = succeeds(
        cpu,
        &[
            "search",
            "--op",
            "zero",
            "--size",
            "256",
            "--state",
            "l1",
            "--drive",
            "throughput",
            "--budget",
            "2s",
            "--space",
            &file,
            "--results",
            folder,
            "--json",
        ],
    );
    let document: serde_json::Value = serde_json::from_str(&search).unwrap();
    let winner = &document["sizes"][0]["cells"][0]["winner"]["variant"];
    assert!(winner.as_str().is_some_and(|v| v.starts_with("zero/")), "{search}");
    for feature in absent {
        let class = match *feature {
            "avx512f" => "zero/zmm",
            "avx" => "zero/ymm",
            _ => continue,
        };
        let out = emulated(cpu, &["bench", class]);
        let stderr = String::from_utf8_lossy(&out.stderr);
        assert_eq!(out.status.code(), Some(3), "{cpu} {class}: {stderr}");
        assert!(stderr.contains(feature), "{cpu} {class}: {stderr}");
    }
}

#[test]
fn a_processor_without_avx_rdtscp_and_xgetbv() {
    if emulator() {
        everything_runs_on("Nehalem", &["avx", "avx512f", "rdtscp"], &["sse2"]);
    }
}

#[test]
fn a_processor_with_avx2() {
    if emulator() {
        everything_runs_on("Haswell", &["avx512f"], &["avx2"]);
    }
}
