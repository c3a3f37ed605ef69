//! What is measured of the machine: cache edges, crossovers, a C library with other settings.

use std::process::Command;

use looptune::host::Host;
use looptune::measure::{Levels, Reckoned, Thoroughness};
use looptune::search::Candidate;
use looptune::subject::{Cell, Drive, Level, Op, State};
use looptune::trial::{
    BlockRequest, Body, Check, Evaluator, FailureKind, Member, MemberOrder, Without,
};
use looptune::worker::{Client, ClientOptions, Thresholds, Tuning, Workers};
use serde_json::Value;

fn options() -> ClientOptions {
    ClientOptions::new(vec![env!("CARGO_BIN_EXE_looptune").to_string()])
}

fn body(id: &str) -> Body {
    Candidate::new(id.parse().expect("an id")).expect("code").body
}

fn request(size: u64, level: Level, bodies: Vec<Body>) -> BlockRequest {
    BlockRequest {
        cell: Cell::new(Op::Copy, size, State::both(level), Drive::Throughput),
        weights: Vec::new(),
        members: bodies.into_iter().map(Member::new).collect(),
        seed: 1,
        layouts: 5,
        blocks: 2,
        order: MemberOrder::Shuffled,
        check: Check::Quick { size },
        pass_ns: 2000,
        limit_ns: 0,
        without: Without::NOTHING,
    }
}

fn json(arguments: &[&str]) -> Value {
    let room = tempfile::tempdir().expect("a folder");
    let ran = Command::new(env!("CARGO_BIN_EXE_looptune"))
        .args(arguments)
        .current_dir(room.path())
        .output()
        .expect("it starts");
    let said = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{arguments:?}: {said}");
    serde_json::from_slice(&ran.stdout).unwrap_or_else(|e| panic!("{arguments:?}: {e}; {said}"))
}

#[test]
fn a_worker_measures_where_its_caches_end_and_goes_on() {
    let mut client = Client::new(options());
    let told = Levels::of(&Host::detect().caches);
    let edges = client.edges(Thoroughness::Quick).expect("a worker").expect("memory is there");
    assert!(edges.memory_ns > 0.0 && edges.curve.len() > 3, "{edges:?}");
    assert!(edges.curve.is_sorted_by_key(|p| p.bytes));
    assert!(edges.curve.iter().all(|p| p.ns > 0.0));
    // Whatever the neighbours do, what states are made of is in order.
    let Levels { l1d, l2, llc } = Reckoned::of(&told, &edges).levels;
    assert!(l1d < l2 && llc.is_none_or(|llc| Some(llc) > l2));
    let result = client.evaluate(&request(256, Level::L1, vec![body("copy/xmm")])).unwrap();
    assert_eq!(result.samples.len(), 10);
}

#[test]
fn parent_and_worker_agree_on_the_caches_also_after_a_loss() {
    let mut client = Client::new(options());
    let asked = request(16 << 10, Level::L1, vec![body("copy/xmm")]);
    // A first level of 64 KiB holds 32 KiB of buffers, one of 16 KiB does not.
    let l1d = |bytes| Some(Levels { l1d: Some(bytes), l2: Some(1 << 20), llc: None });
    client.reckon_with(l1d(64 << 10));
    let there = client.evaluate(&asked).unwrap();
    assert!(there.failures.is_empty() && there.samples.len() == 10);
    client.reckon_with(l1d(16 << 10));
    let refused = |client: &mut Client| {
        let result = client.evaluate(&asked).unwrap();
        let [(0, failure)] = result.failures.as_slice() else { panic!("{:?}", result.failures) };
        let FailureKind::Unsupported(why) = &failure.kind else { panic!("{failure}") };
        assert!(why.contains("16k L1d"), "{why}");
    };
    refused(&mut client);
    // `ud2` takes the worker with it; the next one is told the same.
    let dying = looptune::trial::Machine {
        bytes: vec![0xf3, 0x0f, 0x1e, 0xfa, 0x0f, 0x0b],
        loop_top: None,
        boundaries: vec![1],
        contract: looptune::trial::Contract::User,
        fixed: None,
        leaves_cache: false,
    };
    let lost = client.verify(Op::Copy, &[Body::Machine(dying)], Check::Quick { size: 64 });
    assert!(lost.unwrap()[0].is_err());
    assert_eq!(client.lost(), 1);
    refused(&mut client);
    client.reckon_with(None);
}

#[test]
fn a_tuned_c_library_has_times_beside_the_others() {
    let host = Host::detect();
    let clib = &host.conditions.clib;
    let mut workers = Workers::new(options());
    let members = vec![Body::Libc, body("copy/xmm/u4"), Body::LibcTuned];
    let asked = request(256 << 10, Level::Dram, members);
    // Nobody has tuned it: the others are measured all the same.
    let without = workers.evaluate(&asked).unwrap();
    assert_eq!(without.failures.len(), 1);
    assert_eq!(without.failures[0].0, 2);
    assert!(without.samples.iter().all(|s| s.member < 2));
    let wanted = Thresholds { nt: Some(128 << 10), ..Thresholds::default() };
    match Tuning::of(clib, wanted) {
        Err(why) => eprintln!("skipped: {why}"),
        Ok(tuning) => {
            assert!(tuning.differs(Op::Copy, 256 << 10));
            workers.tune(Ok(tuning), Vec::new());
            let result = workers.evaluate(&asked).unwrap();
            assert!(result.failures.is_empty(), "{:?}", result.failures);
            for member in 0..3 {
                let own: Vec<(u32, u32)> = result
                    .samples
                    .iter()
                    .filter(|s| s.member == member)
                    .map(|s| (s.layout, s.block))
                    .collect();
                assert_eq!(own.len(), 10, "member {member}: {own:?}");
                assert!(own.is_sorted());
            }
            // Without a loop of ours there is nothing to link it by, unless one is given.
            let bare = request(4096, Level::L1, vec![Body::Libc, Body::LibcTuned]);
            let why = &workers.evaluate(&bare).unwrap().failures;
            assert!(why.len() == 1 && why[0].0 == 1, "{why:?}");
            let again = Tuning::of(clib, wanted);
            workers.tune(again, vec![(Op::Copy, body("copy/rep8"))]);
            let linked = workers.evaluate(&bare).unwrap();
            assert!(linked.failures.is_empty(), "{:?}", linked.failures);
            assert!(linked.samples.iter().any(|s| s.member == 1));
            assert!(linked.samples.iter().all(|s| s.member < 2));
        }
    }
}

#[test]
fn a_crossover_is_told_with_its_sizes() {
    let document = json(&[
        "crossover",
        "--op",
        "copy",
        "--state",
        "l1,dram",
        "--size",
        "4k..64k",
        "--json",
        "-q",
        "--caches",
        "told",
    ]);
    let states = document["states"].as_array().expect("states");
    assert_eq!(states.len(), 2);
    for state in states {
        let word = state["crossover"].as_str().expect("an answer");
        assert!(["between", "never", "always", "unclear"].contains(&word), "{state}");
        assert!(!state["asked"].as_array().expect("sizes").is_empty());
    }
    // Nothing leaves the first level faster than it stays in it.
    assert_eq!(states[0]["crossover"], "never", "{document}");
    assert!(document["plain"].as_str().unwrap().ends_with("/u4"));
}

#[test]
fn vectors_can_be_kept_narrow() {
    let document = json(&[
        "search",
        "--op",
        "zero",
        "--size",
        "256",
        "--state",
        "l1",
        "--budget",
        "300",
        "--json",
        "-q",
        "--max-vector",
        "128",
        "--drive",
        "throughput",
    ]);
    assert!(document["command"].as_str().unwrap().contains("--max-vector 128"));
    let cell = &document["sizes"][0]["cells"][0];
    let names = [cell["winner"]["variant"].as_str().unwrap_or_default().to_string()]
        .into_iter()
        .chain(cell["ties"].as_array().unwrap().iter().map(|t| t.as_str().unwrap().to_string()));
    for name in names {
        assert!(!name.contains("/ymm") && !name.contains("/zmm"), "{name}");
    }
}
