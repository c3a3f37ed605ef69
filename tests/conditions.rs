//! Cells under all conditions, and what each countermeasure keeps out. Times are compared with
//! times of the same moment, by their minima, and only where one is far from the other.

use looptune::encode::compile;
use looptune::host;
use looptune::subject::{
    Cell, Consumer, Drive, Level, Op, Pages, Placement, Source, State, Variant,
};
use looptune::trial::{
    BlockRequest, BlockResult, Body, Check, Countermeasure, Evaluator, FailureKind, Member,
    MemberOrder, Without,
};
use looptune::worker::{Client, ClientOptions};

const PLAIN: &str = "copy/xmm/u4";
const STREAMING: &str = "copy/xmm/u4/nt";

fn client() -> Client {
    Client::new(ClientOptions::new(vec![env!("CARGO_BIN_EXE_looptune").to_string()]))
}

fn body(id: &str) -> Body {
    let variant: Variant = id.parse().expect("an id");
    Body::Machine(compile(&variant).expect("legal").machine())
}

fn cell(size: u64, state: State) -> Cell {
    Cell::new(Op::Copy, size, state, Drive::Throughput)
}

/// 2 layouts of 3 blocks.
fn request(cell: Cell, bodies: Vec<Body>) -> BlockRequest {
    BlockRequest {
        cell,
        weights: Vec::new(),
        members: bodies.into_iter().map(Member::new).collect(),
        seed: 1,
        layouts: 2,
        blocks: 3,
        order: MemberOrder::Shuffled,
        check: Check::Quick { size: cell.size },
        pass_ns: 2000,
        limit_ns: 0,
        without: Without::NOTHING,
    }
}

fn asked(client: &mut Client, request: &BlockRequest) -> BlockResult {
    let result = client.evaluate(request).expect("there is a worker");
    assert_eq!(result.failures, [], "{}", request.cell);
    result
}

/// The least ticks a call of a member.
fn least(result: &BlockResult, member: u32) -> f64 {
    let own = result.samples.iter().filter(|s| s.member == member);
    own.map(|s| s.ticks as f64 / f64::from(s.calls)).fold(f64::INFINITY, f64::min)
}

/// The least ticks a call of one body in two cells or protocols, from requests in turn.
fn compared(client: &mut Client, one: &BlockRequest, other: &BlockRequest) -> (f64, f64) {
    let mut least_of = (f64::INFINITY, f64::INFINITY);
    for seed in 1..=5 {
        let one = asked(client, &BlockRequest { seed, ..one.clone() });
        let other = asked(client, &BlockRequest { seed, ..other.clone() });
        least_of = (least_of.0.min(least(&one, 0)), least_of.1.min(least(&other, 0)));
    }
    least_of
}

fn without(one: Countermeasure, request: &BlockRequest) -> BlockRequest {
    BlockRequest { without: [one].into_iter().collect(), ..request.clone() }
}

#[test]
fn every_state_gives_samples_in_every_drive_to_whom_leaves_the_cache_too() {
    let mut client = client();
    let pairs = Level::ALL.iter().flat_map(|src| Level::ALL.iter().map(|dst| (*src, *dst)));
    let mut states: Vec<State> = pairs.map(|(src, dst)| State::pair(src, dst)).collect();
    states.push(State::DRAM_DIRTY);
    let exists = |cell: &Cell| {
        let levels = looptune::measure::Levels::of(&host::Host::detect().caches);
        looptune::measure::state_exists(cell, &levels).is_ok()
    };
    let mut measured = 0;
    for (i, state) in states.into_iter().enumerate() {
        let drive = Drive::ALL[i % 2];
        let mut cell = Cell { drive, ..cell(1000, state) };
        cell.conditions.placement = Placement { dst: 1, src: 9, delta: [None, Some(64)][i % 2] };
        if !exists(&cell) {
            continue;
        }
        let bodies = vec![Body::Libc, body(PLAIN), body(STREAMING)];
        let mut request = BlockRequest { layouts: 1, ..request(cell, bodies) };
        request.members[1].plant = 0.02;
        assert_eq!(asked(&mut client, &request).samples.len(), 9, "{cell}");
        measured += 1;
    }
    assert!(measured >= 8, "caches of any machine make so many");
}

#[test]
fn a_consumer_takes_its_time_in_every_drive() {
    let mut client = client();
    for drive in Drive::ALL {
        let none = Cell { drive: *drive, ..cell(8000, State::both(Level::L1)) };
        let mut read = none;
        read.conditions.consumer = Consumer::Read;
        let (alone, consumed) = compared(
            &mut client,
            &request(none, vec![body(PLAIN)]),
            &request(read, vec![body(PLAIN)]),
        );
        assert!(consumed > alone * 1.05, "{drive}: {consumed} and {alone}");
    }
}

#[test]
fn fresh_pages_fault_in_the_timed_region() {
    let mut client = client();
    let there = cell(8192, State::both(Level::Dram));
    let mut fresh = there;
    fresh.conditions.pages = Pages::Fresh;
    let (there, fresh) = compared(
        &mut client,
        &request(there, vec![body(PLAIN)]),
        &request(fresh, vec![body(PLAIN)]),
    );
    assert!(fresh > there * 1.5, "{fresh} and {there}");
}

#[test]
fn huge_pages_are_there_or_the_reason_is() {
    let mode = host::huge_page_mode();
    if !matches!(mode.as_deref(), Some("always" | "madvise")) {
        eprintln!("skipped: transparent huge pages are {mode:?}");
        return;
    }
    let mut huge = cell(100_000, State::both(Level::Dram));
    huge.conditions.pages = Pages::Huge;
    let result = client().evaluate(&request(huge, vec![body(PLAIN)])).expect("a worker");
    match result.failures.first() {
        None => assert_eq!(result.samples.len(), 6),
        // Memory may be in pieces.
        Some((_, failure)) => {
            assert!(failure.to_string().contains("transparent_hugepage"), "{failure}");
        }
    }
}

#[test]
fn a_source_that_nobody_wrote_is_read_faster_than_memory() {
    let mut client = client();
    let written = cell(1 << 18, State::both(Level::Dram));
    let mut untouched = written;
    untouched.conditions.source = Source::Untouched;
    let written = request(written, vec![body(PLAIN)]);
    let (true_time, illusion) =
        compared(&mut client, &written, &request(untouched, vec![body(PLAIN)]));
    assert!(illusion < true_time * 0.9, "{illusion} and {true_time}");
    let unwritten = without(Countermeasure::WrittenSource, &written);
    let (true_time, illusion) = compared(&mut client, &written, &unwritten);
    assert!(illusion < true_time * 0.9, "{illusion} and {true_time}");
}

#[test]
fn threads_make_the_same_calls_at_once_and_a_crash_has_its_culprit() {
    let mut client = client();
    let cpus = host::allowed_cpus().expect("the system tells").len() as u16;
    let with = |threads: u16, size: u64, level: Level| {
        let mut cell = cell(size, State::both(level));
        cell.conditions.threads = threads;
        cell
    };
    let refused = request(with(cpus + 1, 256, Level::L1), vec![Body::Libc, body(PLAIN)]);
    let refused = client.evaluate(&refused).expect("a worker");
    assert_eq!((refused.failures.len(), refused.samples.len()), (2, 0));
    let said = refused.failures[0].1.to_string();
    assert!(said.contains(&format!("{} threads", cpus + 1)), "{said}");
    if cpus < 2 {
        eprintln!("skipped: there is one CPU");
        return;
    }
    for level in [Level::L1, Level::L2, Level::Dram] {
        let request = request(with(2, 1000, level), vec![Body::Libc, body(STREAMING)]);
        let result = asked(&mut client, &request);
        assert_eq!(result.samples.len(), 24);
        for pass in result.samples.chunks(2) {
            assert_eq!((pass[0].thread, pass[1].thread), (0, 1));
            let same = |s: &looptune::trial::Sample| (s.member, s.layout, s.block, s.calls);
            assert_eq!(same(&pass[0]), same(&pass[1]));
        }
    }
    // An illegal instruction in calls of the timed size only: `cmp rdx, n; jne; ud2`, then a
    // copy by `rep movsb`.
    let n = 200_000u32;
    let ends = [0x48, 0x89, 0xf8, 0x48, 0x89, 0xd1, 0xf3, 0xa4, 0xc3];
    let begins = [0xf3, 0x0f, 0x1e, 0xfa, 0x48, 0x81, 0xfa];
    let bytes = [&begins[..], &n.to_le_bytes(), &[0x75, 0x02, 0x0f, 0x0b], &ends].concat();
    let Body::Machine(known) = body(PLAIN) else { unreachable!("generated") };
    let dies = Body::Machine(looptune::trial::Machine {
        bytes,
        loop_top: None,
        boundaries: vec![1],
        ..known
    });
    let bodies = vec![body(PLAIN), dies];
    let check = Check::Quick { size: 256 };
    let asked = BlockRequest { check, ..request(with(2, n.into(), Level::Dram), bodies) };
    let result = client.evaluate(&asked).expect("a worker");
    assert_eq!(result.failures.len(), 1, "{:?}", result.failures);
    let (member, failure) = &result.failures[0];
    assert_eq!((*member, &failure.kind), (1, &FailureKind::Crashed { signal: 4 }));
    assert_eq!(failure.case, "timing");
    assert_eq!(result.samples.len(), 12, "the other was timed on both");
}

#[test]
fn any_countermeasure_can_be_left_off_in_any_state() {
    let mut client = client();
    let states = ["l1", "l2", "dram", "dram:l1", "l1:dram", "l2:dram", "dram-dirty"];
    for (i, one) in Countermeasure::ALL.iter().enumerate() {
        for state in [states[i % states.len()], states[(i + 3) % states.len()]] {
            let state = State::from_word(state).expect("a state");
            let with = request(cell(1000, state), vec![body(PLAIN), body(STREAMING)]);
            assert_eq!(asked(&mut client, &without(*one, &with)).samples.len(), 12, "{one}");
        }
    }
}

#[test]
fn without_the_fence_streaming_stores_are_not_waited_for() {
    let mut client = client();
    let with = request(cell(4096, State::both(Level::L1)), vec![body(STREAMING)]);
    let (fenced, loose) = compared(&mut client, &with, &without(Countermeasure::Fence, &with));
    assert!(loose < fenced * 0.95, "{loose} and {fenced}");
}

#[test]
fn a_touch_through_the_line_itself_takes_it_out_of_memory() {
    let mut client = client();
    let with = request(cell(64, State::both(Level::Dram)), vec![body(PLAIN)]);
    let (far, near) = compared(&mut client, &with, &without(Countermeasure::FarTouch, &with));
    assert!(near < far * 0.8, "{near} and {far}");
}

#[test]
fn without_faults_before_it_the_first_pays_for_all() {
    let mut client = client();
    let with = BlockRequest {
        order: MemberOrder::AsGiven,
        blocks: 8,
        ..request(cell(4096, State::both(Level::Dram)), vec![body(PLAIN), body(PLAIN)])
    };
    let median = |result: &BlockResult, member: u32| {
        let own = result.samples.iter().filter(|s| s.member == member);
        let mut own: Vec<u64> = own.map(|s| s.ticks).collect();
        own.sort_unstable();
        own[own.len() / 2] as f64
    };
    let first = asked(&mut client, &without(Countermeasure::Prefault, &with));
    let (first, second) = (median(&first, 0), median(&first, 1));
    assert!(first > second * 1.3, "{first} and {second}");
}

#[test]
fn without_repeats_what_is_disturbed_is_kept() {
    let mut client = client();
    let with = request(cell(64, State::both(Level::L1)), vec![body(PLAIN); 20]);
    let result = asked(&mut client, &without(Countermeasure::Repeat, &with));
    assert!(result.samples.iter().all(|s| s.disturbance.repeats == 0));
}
