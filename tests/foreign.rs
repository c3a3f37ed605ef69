//! Functions of shared objects that harm the process they run in: each is a row with its
//! reason or does no harm, and those beside it are measured.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use looptune::subject::{Cell, Drive, Level, Op, SizeMix, State};
use looptune::trial::{
    BlockRequest, BlockResult, Body, Check, Evaluator, FailureKind, Member, MemberOrder,
};
use looptune::worker::{Client, ClientOptions};

/// Every function is a right `memset` that does something else besides.
const SOURCE: &str = r#"
#define _GNU_SOURCE
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/syscall.h>

/* Wrong at one size that no boundary is near. */
void *forgets(void *d, int c, size_t n) { return memset(d, c, n == 777 ? 776 : n), d; }

void *good(void *d, int c, size_t n) { return memset(d, c, n); }

static void close_all(void) { for (int i = 0; i < 1024; i++) close(i); }

void *closes_all(void *d, int c, size_t n) { close_all(); return memset(d, c, n); }

/* The timed size alone comes so often. */
void *closes_late(void *d, int c, size_t n) {
    static unsigned long calls;
    if (n == 777 && ++calls == 5000) close_all();
    return memset(d, c, n);
}

void *closes_two(void *d, int c, size_t n) { close(0); close(1); return memset(d, c, n); }

void *exits(void *d, int c, size_t n) { exit(0); }

void *forks(void *d, int c, size_t n) { fork(); return memset(d, c, n); }

void *clones(void *d, int c, size_t n) {
    syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    return memset(d, c, n);
}

static void nothing(int s) { (void)s; }

void *signals(void *d, int c, size_t n) {
    for (int i = 1; i < 32; i++) signal(i, nothing);
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, 0);
    return memset(d, c, n);
}

void *alarms(void *d, int c, size_t n) { ualarm(50000, 0); return memset(d, c, n); }

void *moves(void *d, int c, size_t n) { return chdir("/") ? 0 : memset(d, c, n); }

void *shouts(void *d, int c, size_t n) {
    for (int i = 3; i < 64; i++) if (write(i, "AAAAAAAA", 8) < 0) continue;
    return memset(d, c, n);
}

void *faults(void *d, int c, size_t n) { *(volatile int *)16 = 1; return d; }
"#;

/// The functions, compiled; `None` where there is no compiler, which in CI there must be.
fn library() -> Option<(tempfile::TempDir, PathBuf)> {
    let folder = tempfile::tempdir().unwrap();
    let (source, library) = (folder.path().join("foreign.c"), folder.path().join("foreign.so"));
    std::fs::write(&source, SOURCE).unwrap();
    let compiled = Command::new("cc")
        .args(["-O2", "-w", "-shared", "-fPIC", "-o"])
        .args([&library, &source])
        .output();
    match compiled {
        Ok(out) => {
            assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
            Some((folder, library))
        }
        Err(_) => {
            assert!(std::env::var_os("CI").is_none(), "cc is missing, install it");
            eprintln!("skipped: there is no cc");
            None
        }
    }
}

fn function(library: &Path, symbol: &str) -> Body {
    Body::Foreign { path: library.to_string_lossy().into_owned(), symbol: symbol.into() }
}

fn client() -> Client {
    let program = env!("CARGO_BIN_EXE_looptune").to_string();
    let deadline = Duration::from_secs(3);
    Client::new(ClientOptions { deadline, ..ClientOptions::new(vec![program]) })
}

/// Blocks of 777-byte zeros of these functions, a generated-like neighbour on each side.
fn measured(client: &mut Client, bodies: Vec<Body>) -> BlockResult {
    let request = BlockRequest {
        cell: Cell::new(Op::Zero, 777, State::both(Level::L1), Drive::Throughput),
        weights: Vec::new(),
        members: bodies.into_iter().map(Member::new).collect(),
        seed: 1,
        layouts: 2,
        blocks: 20,
        order: MemberOrder::Shuffled,
        check: Check::Quick { size: 777 },
        pass_ns: 20_000,
        limit_ns: 0,
        without: looptune::trial::Without::NOTHING,
    };
    client.evaluate(&request).unwrap()
}

fn samples_of(result: &BlockResult, member: u32) -> usize {
    result.samples.iter().filter(|s| s.member == member).count()
}

/// The reason why the function has no time, between two that have theirs.
fn reason(symbol: &str) -> Option<String> {
    let (_folder, library) = library()?;
    let began = Instant::now();
    let middle = function(&library, symbol);
    let result = measured(&mut client(), vec![Body::Libc, middle, Body::Libc]);
    assert_eq!([0, 2].map(|m| samples_of(&result, m)), [40, 40], "{symbol}");
    assert_eq!(result.failures.len(), 1, "{symbol}: {:?}", result.failures);
    let (member, failure) = &result.failures[0];
    assert_eq!((*member, samples_of(&result, 1)), (1, 0), "{symbol}");
    assert!(began.elapsed() < Duration::from_secs(20), "{symbol}: {:?}", began.elapsed());
    Some(failure.to_string())
}

/// Asserts that the function is measured, and its neighbours too.
fn harmless(symbol: &str) {
    let Some((_folder, library)) = library() else { return };
    let middle = function(&library, symbol);
    let mut client = client();
    let result = measured(&mut client, vec![function(&library, "good"), middle, Body::Libc]);
    assert_eq!(result.failures, [], "{symbol}");
    assert_eq!([0, 1, 2].map(|m| samples_of(&result, m)), [40; 3], "{symbol}");
    assert_eq!(client.lost(), 0, "{symbol}");
}

#[test]
fn of_a_mix_every_size_is_tried_of_code_that_is_not_ours() {
    let Some((_folder, library)) = library() else { return };
    let asked = |text: &str| {
        let mix = SizeMix::parse("", "m", text).unwrap();
        BlockRequest {
            cell: Cell::of(Op::Zero, mix.extent(), State::both(Level::L1), Drive::Throughput),
            weights: mix.weights,
            members: [Body::Libc, function(&library, "forgets")].map(Member::new).into(),
            seed: 1,
            layouts: 1,
            blocks: 2,
            order: MemberOrder::Shuffled,
            check: Check::Quick { size: 2000 },
            pass_ns: 2000,
            limit_ns: 0,
            without: looptune::trial::Without::NOTHING,
        }
    };
    let mut client = client();
    let without = client.evaluate(&asked("5,1\n776,1\n2000,1")).unwrap();
    assert_eq!((without.failures.as_slice(), samples_of(&without, 1)), (&[][..], 2));
    let with = client.evaluate(&asked("5,1\n777,1\n2000,1")).unwrap();
    assert_eq!((samples_of(&with, 0), samples_of(&with, 1)), (2, 0));
    let said = with.failures[0].1.to_string();
    assert!(said.contains("byte 776") && said.contains("n=777"), "{said}");
}

#[test]
fn one_that_closes_every_file_is_a_row() {
    let Some(said) = reason("closes_all") else { return };
    assert!(said.contains("lost its connection while this ran"), "{said}");
}

#[test]
fn one_that_closes_every_file_only_while_it_is_timed_is_a_row() {
    let Some(said) = reason("closes_late") else { return };
    assert!(said.contains("closed the connection") || said.contains("lost its"), "{said}");
}

#[test]
fn of_two_foreign_functions_the_right_one_is_blamed() {
    let Some((_folder, library)) = library() else { return };
    let names = ["good", "closes_late", "good"].map(|name| function(&library, name));
    let result = measured(&mut client(), names.to_vec());
    let members: Vec<u32> = result.failures.iter().map(|f| f.0).collect();
    assert_eq!(members, [1], "{:?}", result.failures);
    assert_eq!([0, 2].map(|m| samples_of(&result, m)), [40, 40]);
}

#[test]
fn one_that_exits_is_a_row() {
    let Some(said) = reason("exits") else { return };
    assert!(said.contains("exit status 0"), "{said}");
}

#[test]
fn ones_that_start_processes_are_rows() {
    for symbol in ["forks", "clones"] {
        let Some(said) = reason(symbol) else { return };
        assert!(said.contains("starts processes"), "{said}");
    }
}

#[test]
fn one_that_writes_to_every_file_is_a_row() {
    let Some(said) = reason("shouts") else { return };
    assert!(said.contains("worker"), "{said}");
}

#[test]
fn what_is_put_back_does_no_harm() {
    for symbol in ["closes_two", "signals", "alarms", "moves"] {
        harmless(symbol);
    }
}

#[test]
fn a_fault_is_a_fault_whatever_another_did_to_the_signals() {
    let Some((_folder, library)) = library() else { return };
    let names = ["signals", "faults", "alarms"].map(|name| function(&library, name));
    let result = measured(&mut client(), names.to_vec());
    assert_eq!(result.failures.len(), 1, "{:?}", result.failures);
    let (member, failure) = &result.failures[0];
    assert_eq!((*member, &failure.kind), (1, &FailureKind::Crashed { signal: 11 }));
}

#[test]
fn a_bench_shows_them_beside_the_others() {
    let Some((folder, library)) = library() else { return };
    // Relative, from a folder that one of them leaves.
    let name = library.file_name().unwrap().to_str().unwrap();
    let out = Command::new(env!("CARGO_BIN_EXE_looptune"))
        .current_dir(folder.path())
        .args(["bench", "libc", &format!("./{name}:moves"), &format!("./{name}:closes_all")])
        .args([&format!("./{name}:good"), "--op", "zero", "--size", "512", "--state", "l1"])
        .args(["--budget", "300ms"])
        .output()
        .unwrap();
    let page = String::from_utf8_lossy(&out.stdout);
    // One row has no time.
    assert_eq!(out.status.code(), Some(1), "{page}{}", String::from_utf8_lossy(&out.stderr));
    assert!(page.contains("lost its connection"), "{page}");
    assert!(page.contains(":good") && page.contains(":moves"), "{page}");
}
