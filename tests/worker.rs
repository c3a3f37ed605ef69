//! The two processes, with code that dies, hangs and lies.

use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use looptune::host::Fingerprint;
use looptune::measure::{Levels, state_exists};
use looptune::subject::{Cell, Drive, Level, Op, SizeMix, State};
use looptune::trial::{
    BlockRequest, BlockResult, Body, Check, Contract, EvaluateError, Evaluator, Failure,
    FailureKind, Machine, Member, MemberOrder,
};
use looptune::worker::{Client, ClientOptions};

const ENDBR64: [u8; 4] = [0xf3, 0x0f, 0x1e, 0xfa];

/// `mov rax, rdi; mov rcx, rdx; rep movsb; ret`
const REP_MOVSB: [u8; 9] = [0x48, 0x89, 0xf8, 0x48, 0x89, 0xd1, 0xf3, 0xa4, 0xc3];

const UD2: [u8; 2] = [0x0f, 0x0b];

/// `jmp` to itself.
const FOREVER: [u8; 2] = [0xeb, 0xfe];

/// `mov [rdi + rdx], al`: one byte past the end.
const ONE_PAST: [u8; 3] = [0x88, 0x04, 0x17];

fn machine(bytes: &[u8]) -> Body {
    Body::Machine(Machine {
        bytes: [&ENDBR64, bytes].concat(),
        loop_top: None,
        boundaries: vec![1],
        contract: Contract::User,
        fixed: None,
        leaves_cache: false,
    })
}

fn copy() -> Body {
    machine(&REP_MOVSB)
}

/// A copy that runs `bytes` first in calls of one size: `cmp rdx, n; jne`.
fn only_at(n: u32, bytes: &[u8]) -> Body {
    let compare = [&[0x48, 0x81, 0xfa], &n.to_le_bytes()[..], &[0x75, bytes.len() as u8]].concat();
    machine(&[&compare, bytes, &REP_MOVSB].concat())
}

fn options() -> ClientOptions {
    ClientOptions::new(vec![env!("CARGO_BIN_EXE_looptune").to_string()])
}

fn impatient() -> ClientOptions {
    ClientOptions { deadline: Duration::from_millis(400), ..options() }
}

/// 2 layouts of 3 blocks of 256-byte copies.
fn request(bodies: Vec<Body>) -> BlockRequest {
    BlockRequest {
        cell: Cell::new(Op::Copy, 256, State::both(Level::L1), Drive::Throughput),
        weights: Vec::new(),
        members: bodies.into_iter().map(Member::new).collect(),
        seed: 1,
        layouts: 2,
        blocks: 3,
        order: MemberOrder::Shuffled,
        check: Check::Quick { size: 256 },
        pass_ns: 2000,
        limit_ns: 0,
        without: looptune::trial::Without::NOTHING,
    }
}

fn samples_of(result: &BlockResult, member: u32) -> usize {
    result.samples.iter().filter(|s| s.member == member).count()
}

fn the_failure(result: &BlockResult) -> &(u32, Failure) {
    assert_eq!(result.failures.len(), 1, "{:?}", result.failures);
    &result.failures[0]
}

fn kill(pid: u32) {
    let killed = Command::new("kill").args(["-9", &pid.to_string()]).status();
    assert!(killed.expect("there is a kill").success());
}

#[test]
fn right_bodies_are_timed_in_every_block() {
    let mut client = Client::new(options());
    let result = client.evaluate(&request(vec![copy(), Body::Libc])).unwrap();
    assert_eq!(result.failures, []);
    assert_eq!(result.samples.len(), 2 * 2 * 3);
    for member in 0..2 {
        for layout in 0..2 {
            for block in 0..3 {
                let at = (member, layout, block);
                let here = result.samples.iter().filter(|s| (s.member, s.layout, s.block) == at);
                assert_eq!(here.count(), 1);
            }
        }
    }
    assert!(result.samples.iter().all(|s| s.ticks > 0 && s.calls == result.samples[0].calls));
    assert!(result.clock.cycles_per_tick > 0.0 && result.clock.pass_ticks > 0.0);
    assert_eq!(client.lost(), 0);
}

/// The same of a mix of mostly tiny copies, in a state and a drive.
fn mixed_request(level: Level, drive: Drive, bodies: Vec<Body>) -> BlockRequest {
    let mix = SizeMix::parse("", "tailed", "0,5\n3,60\n30,33\n1000,2").unwrap();
    let cell = Cell::of(Op::Copy, mix.extent(), State::both(level), drive);
    let check = Check::Quick { size: 1000 };
    BlockRequest { cell, weights: mix.weights, check, ..request(bodies) }
}

#[test]
fn a_mix_is_timed_in_every_state_and_drive() {
    let levels = Levels::of(&looptune::host::Host::detect().caches);
    let mut client = Client::new(options());
    // Calls that leave the cache walk a ring even where others repeat on one pair.
    let Body::Machine(plain) = copy() else { panic!("it is generated") };
    let leaving = Body::Machine(Machine { leaves_cache: true, ..plain });
    for level in Level::ALL {
        for drive in Drive::ALL {
            let asked = mixed_request(*level, *drive, vec![copy(), Body::Libc, leaving.clone()]);
            if state_exists(&asked.cell, &levels).is_err() {
                continue;
            }
            let result = client.evaluate(&asked).unwrap();
            assert_eq!(result.failures, [], "{level} {drive}");
            assert_eq!(result.samples.len(), 3 * 2 * 3, "{level} {drive}");
            // All members walk one stretch, and it is a long one.
            let calls = result.samples[0].calls;
            let least = if *level == Level::L1 { 1024 } else { 64 };
            assert!(calls >= least && result.samples.iter().all(|s| s.calls == calls), "{calls}");
            assert!(result.samples.iter().all(|s| s.ticks > 1), "{level} {drive}");
        }
    }
    assert_eq!(client.lost(), 0);
}

#[test]
fn larger_calls_of_a_mix_take_longer() {
    let mut client = Client::new(options());
    let mut median = |large: &str| {
        let text = format!("8,97\n16000,{large}");
        let mix = SizeMix::parse("", "two", &text).unwrap();
        let cell = Cell::of(Op::Copy, mix.extent(), State::both(Level::Dram), Drive::Throughput);
        let asked = mixed_request(Level::Dram, Drive::Throughput, vec![copy()]);
        let check = Check::Quick { size: 16_000 };
        let asked = BlockRequest { cell, weights: mix.weights, check, ..asked };
        let result = client.evaluate(&asked).unwrap();
        let mut ns: Vec<f64> =
            result.samples.iter().map(|s| s.ticks as f64 / f64::from(s.calls)).collect();
        ns.sort_unstable_by(f64::total_cmp);
        ns[ns.len() / 2]
    };
    // From memory, where 16,000 bytes take twenty times what eight do.
    let (few, many) = (median("2"), median("48"));
    assert!(many > few * 2.0, "{few} {many}");
}

#[test]
fn a_mix_whose_sizes_are_missing_or_too_large_is_refused() {
    let mut client = Client::new(options());
    let asked = mixed_request(Level::L1, Drive::Throughput, vec![copy()]);
    for (weights, word) in [(vec![], "missing"), (vec![(8, 0.5), (1001, 0.5)], "beyond")] {
        let result = client.evaluate(&BlockRequest { weights, ..asked.clone() }).unwrap();
        let (_, failure) = the_failure(&result);
        assert!(failure.to_string().contains(word), "{failure}");
    }
    assert_eq!(client.evaluate(&asked).unwrap().failures, []);
}

#[test]
fn orders_hang_on_the_seed_alone() {
    let mut client = Client::new(options());
    let mut orders = |seed, order| {
        let members = vec![copy(), Body::Libc, copy(), copy()];
        let request = BlockRequest { seed, order, ..request(members) };
        let result = client.evaluate(&request).unwrap();
        result.samples.iter().map(|s| s.member).collect::<Vec<_>>()
    };
    let first = orders(5, MemberOrder::Shuffled);
    assert_eq!(first, orders(5, MemberOrder::Shuffled));
    assert_ne!(first, orders(6, MemberOrder::Shuffled));
    let given = orders(5, MemberOrder::AsGiven);
    assert!(given.chunks(4).all(|block| block == [0, 1, 2, 3]), "{given:?}");
}

#[test]
fn an_illegal_instruction_is_a_row_and_the_others_are_timed() {
    let mut client = Client::new(options());
    let result = client.evaluate(&request(vec![copy(), machine(&UD2), Body::Libc])).unwrap();
    let (member, failure) = the_failure(&result);
    assert_eq!((*member, &failure.kind), (1, &FailureKind::Crashed { signal: 4 }));
    assert!(failure.case.starts_with("n="), "{failure}");
    assert_eq!([0, 1, 2].map(|m| samples_of(&result, m)), [6, 0, 6]);
    assert_eq!(client.lost(), 1);
}

#[test]
fn a_loop_without_end_is_hung_and_the_others_are_timed() {
    let mut client = Client::new(impatient());
    client.start().unwrap();
    let began = Instant::now();
    let result = client.evaluate(&request(vec![machine(&FOREVER), copy()])).unwrap();
    let (member, failure) = the_failure(&result);
    assert_eq!((*member, &failure.kind), (0, &FailureKind::Hung));
    assert_eq!(samples_of(&result, 1), 6);
    assert!(began.elapsed() >= impatient().deadline);
}

#[test]
fn a_byte_too_many_is_found_with_its_case() {
    let mut client = Client::new(options());
    let result = client.evaluate(&request(vec![only_at(256, &ONE_PAST), copy()])).unwrap();
    let (member, failure) = the_failure(&result);
    assert_eq!(*member, 0);
    // Whichever case comes first: against a guard page or beside a canary.
    match &failure.kind {
        FailureKind::Crashed { signal: 11 } | FailureKind::Incorrect(_) => {}
        other => panic!("{other:?}"),
    }
    assert!(failure.case.starts_with("n=256 "), "{failure}");
    assert_eq!(samples_of(&result, 1), 6);
}

#[test]
fn touching_a_guard_page_is_a_segmentation_fault_with_its_case() {
    let mut client = Client::new(options());
    // mov [rdi + 0x100000], al
    let far = machine(&[&[0x88, 0x87, 0, 0, 0x10, 0][..], &REP_MOVSB].concat());
    // mov al, [rsi + rdx]
    let next = machine(&[&[0x8a, 0x04, 0x16][..], &REP_MOVSB].concat());
    let result = client.evaluate(&request(vec![far, copy(), next])).unwrap();
    let members: Vec<u32> = result.failures.iter().map(|f| f.0).collect();
    assert_eq!(members, [0, 2], "{:?}", result.failures);
    for (_, failure) in &result.failures {
        assert_eq!(failure.kind, FailureKind::Crashed { signal: 11 });
        assert!(failure.case.contains("dst"), "{failure}");
    }
    assert_eq!(samples_of(&result, 1), 6);
    assert_eq!(client.lost(), 2);
}

#[test]
fn what_is_wrong_is_never_timed() {
    let mut client = Client::new(options());
    // Returns the destination, copies nothing.
    let lazy = machine(&[0x48, 0x89, 0xf8, 0xc3]);
    let missing = Body::Foreign { path: "/nonexistent/mine.so".into(), symbol: "copy".into() };
    let result = client.evaluate(&request(vec![lazy.clone(), missing, copy()])).unwrap();
    let words: Vec<_> = result.failures.iter().map(|(m, f)| (*m, f.kind.word())).collect();
    assert_eq!(words, [(0, "incorrect"), (1, "unsupported")]);
    assert_eq!(samples_of(&result, 2), 6);
    let again = client.evaluate(&request(vec![lazy])).unwrap();
    assert_eq!(the_failure(&again).1, result.failures[0].1, "remembered");
    assert_eq!(client.lost(), 0);
}

#[test]
fn a_crash_in_a_timed_pass_says_timing() {
    let mut client = Client::new(options());
    // Verified at another size than the cell's, so that only the timed pass meets it.
    let late = only_at(200_000, &UD2);
    let cell = Cell::new(Op::Copy, 200_000, State::both(Level::Dram), Drive::Throughput);
    let asked = BlockRequest { cell, layouts: 1, blocks: 1, ..request(vec![late, copy()]) };
    let result = client.evaluate(&asked).unwrap();
    let (member, failure) = the_failure(&result);
    assert_eq!((*member, &failure.kind), (0, &FailureKind::Crashed { signal: 4 }));
    assert_eq!(failure.case, "timing");
    assert_eq!(samples_of(&result, 1), 1);
}

#[test]
fn verification_alone_names_each_body() {
    let mut client = Client::new(impatient());
    let bodies = [copy(), machine(&UD2), Body::Libc, machine(&FOREVER), machine(&[0xc3])];
    let outcomes = client.verify(Op::Copy, &bodies, Check::Quick { size: 64 }).unwrap();
    let words: Vec<_> =
        outcomes.iter().map(|o| o.as_ref().map_or_else(|f| f.kind.word(), |()| "right")).collect();
    assert_eq!(words, ["right", "crashed", "right", "hung", "incorrect"]);
}

#[test]
fn a_worker_killed_from_outside_is_replaced_and_nobody_blamed() {
    let mut client = Client::new(options());
    let pid = client.start().unwrap().pid;
    let killer = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(150));
        kill(pid);
    });
    let asked = BlockRequest {
        layouts: u32::MAX,
        limit_ns: 400_000_000,
        ..request(vec![copy(), Body::Libc])
    };
    let result = client.evaluate(&asked).unwrap();
    killer.join().unwrap();
    assert_eq!(result.failures, []);
    assert!(samples_of(&result, 0) > 0 && samples_of(&result, 1) > 0);
    assert_eq!(client.lost(), 1);
}

#[test]
fn an_idle_worker_that_went_is_replaced() {
    let mut client = Client::new(options());
    let pid = client.start().unwrap().pid;
    kill(pid);
    let result = client.evaluate(&request(vec![copy()])).unwrap();
    assert_eq!(samples_of(&result, 0), 6);
    assert_ne!(client.start().unwrap().pid, pid);
}

#[test]
fn the_users_interrupt_ends_an_evaluation() {
    let flag = Arc::new(AtomicBool::new(false));
    let mut client = Client::new(ClientOptions { interrupted: Some(flag.clone()), ..options() });
    client.start().unwrap();
    std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(100));
        flag.store(true, Ordering::Relaxed);
    });
    let endless = BlockRequest { layouts: u32::MAX, ..request(vec![copy()]) };
    let began = Instant::now();
    assert!(matches!(client.evaluate(&endless), Err(EvaluateError::Interrupted)));
    assert!(began.elapsed() < Duration::from_secs(5));
    assert!(matches!(client.evaluate(&endless), Err(EvaluateError::Interrupted)), "stays so");
}

#[test]
fn what_is_no_worker_is_an_error_that_names_the_command() {
    let start = |command: &[&str]| {
        let command = command.iter().map(|s| s.to_string()).collect();
        let deadline = Duration::from_millis(100);
        let mut client = Client::new(ClientOptions { deadline, ..ClientOptions::new(command) });
        client.start().map(|_| ()).unwrap_err()
    };
    let missing = start(&["/nonexistent/looptune"]);
    assert!(matches!(&missing, EvaluateError::Start { command, .. } if command.contains("/nonex")));
    assert!(matches!(start(&["true"]), EvaluateError::Start { .. }));
    assert!(matches!(start(&[]), EvaluateError::Start { .. }));
    let mute = start(&["sh", "-c", "exec sleep 5"]);
    assert!(matches!(&mute, EvaluateError::Start { why, .. } if why.contains("hello")), "{mute}");
    let noise = start(&["sh", "-c", "echo good day to you all >&0"]);
    assert!(matches!(noise, EvaluateError::Mismatch(_)), "{noise}");
}

#[test]
fn a_worker_on_another_machine_is_refused() {
    let mut other = Fingerprint::read();
    other.family += 1;
    let mut client = Client::new(ClientOptions { fingerprint: Some(other), ..options() });
    let error = client.start().map(|_| ()).unwrap_err();
    assert!(matches!(&error, EvaluateError::Mismatch(m) if m.contains("family")), "{error}");
    let same = ClientOptions { fingerprint: Some(Fingerprint::read()), ..options() };
    Client::new(same).start().unwrap();
}

#[test]
fn a_state_that_does_not_exist_is_said_of_every_member() {
    let mut client = Client::new(options());
    let cell = Cell::new(Op::Copy, 64 << 20, State::both(Level::L1), Drive::Throughput);
    let asked = BlockRequest { cell, ..request(vec![copy(), Body::Libc]) };
    let result = client.evaluate(&asked).unwrap();
    assert_eq!(result.samples, []);
    assert_eq!(result.failures.len(), 2);
    let said = result.failures[0].1.to_string();
    assert!(said.contains("unsupported") && said.contains("L1d"), "{said}");
}

#[test]
fn a_worker_ends_with_its_client() {
    let mut client = Client::new(options());
    let pid = client.start().unwrap().pid;
    let there = || std::path::Path::new(&format!("/proc/{pid}")).exists();
    assert!(there());
    drop(client);
    assert!(!there(), "killed and reaped");
}

#[test]
fn every_state_and_drive_gives_samples_with_plants_too() {
    let mut client = Client::new(options());
    for level in [Level::L1, Level::L2, Level::Dram] {
        for (drive, op) in [(Drive::Throughput, Op::Copy), (Drive::Chained, Op::Zero)] {
            let cell = Cell::new(op, 1000, State::both(level), drive);
            let mut asked = BlockRequest { cell, ..request(vec![Body::Libc, Body::Libc]) };
            asked.members[1].plant = 0.02;
            let result = client.evaluate(&asked).unwrap();
            assert_eq!(result.failures, [], "{cell}");
            assert_eq!(result.samples.len(), 12, "{cell}");
            assert!(result.samples.iter().all(|s| s.calls == result.samples[0].calls), "{cell}");
        }
    }
}

#[test]
fn a_worker_behind_an_emulator_answers_like_any_other() {
    let there = Command::new("qemu-x86_64").arg("--version").output().is_ok();
    if !there {
        eprintln!("no qemu-x86_64 on this machine: nothing to try");
        return;
    }
    for cpu in ["Nehalem", "Haswell"] {
        let words = ["qemu-x86_64", "-cpu", cpu, env!("CARGO_BIN_EXE_looptune")];
        let command = words.iter().map(|s| s.to_string()).collect();
        let mut client = Client::new(ClientOptions::new(command));
        let result = client.evaluate(&request(vec![copy(), machine(&UD2), Body::Libc])).unwrap();
        let (member, failure) = the_failure(&result);
        assert_eq!((*member, &failure.kind), (1, &FailureKind::Crashed { signal: 4 }), "{cpu}");
        assert_eq!([0, 2].map(|m| samples_of(&result, m)), [6, 6], "{cpu}");
        let elsewhere = ClientOptions {
            fingerprint: Some(Fingerprint::read()),
            ..ClientOptions::new(words.iter().map(|s| s.to_string()).collect())
        };
        let error = Client::new(elsewhere).start().map(|_| ()).unwrap_err();
        assert!(matches!(error, EvaluateError::Mismatch(_)), "{cpu}: {error}");
    }
}
