//! How far times made on this host, now, can be believed.
//!
//! `cargo run --release --example trust -- [--size N] [--runs N] [--state STATE] [--busy]`
//!
//! Prints, for copy and zero: what a sample costs in each state; whether a plain loop takes
//! the same time after itself and after a non-temporal one (it must); how far one loop at two
//! places differs from itself; and how often a planted difference is found. Needs the
//! `looptune` binary of the same build beside it.

use std::time::Instant;

use looptune::encode::compile;
use looptune::host::{Fingerprint, Host};
use looptune::measure::{Levels, state_exists};
use looptune::search::band;
use looptune::stats::Verdict;
use looptune::subject::{Cell, Drive, Level, Op, State, Variant};
use looptune::trial::{BlockRequest, BlockResult, Body, Check, Evaluator, Member, MemberOrder};
use looptune::worker::{Client, ClientOptions};

/// Layouts of a comparison of two.
const LAYOUTS: u32 = 300;

type Failed = Box<dyn std::error::Error>;

fn main() -> Result<(), Failed> {
    let mut size = 4096;
    let mut runs = 40;
    let mut busy = false;
    let mut state = None;
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut number =
            || arguments.next().ok_or("a number follows")?.parse::<u64>().map_err(Failed::from);
        match argument.as_str() {
            "--size" => size = number()?,
            "--runs" => runs = number()?,
            "--busy" => busy = true,
            "--state" => {
                let word = arguments.next().unwrap_or_default();
                let known = State::from_word(&word);
                let why = format!("`{word}`: l1, l2, llc, dram, dram-dirty, or two as in dram:l1");
                state = Some(known.ok_or(why)?);
            }
            other => {
                let known = "--size N, --runs N, --state STATE, --busy";
                return Err(format!("`{other}`: {known}").into());
            }
        }
    }
    if busy {
        std::thread::spawn(|| {
            loop {
                std::hint::black_box(0);
            }
        });
    }
    let host = Host::detect();
    let beside = std::env::current_exe()?;
    let worker =
        beside.parent().and_then(|p| p.parent()).ok_or("no folder above")?.join("looptune");
    let mut client = Client::new(ClientOptions {
        fingerprint: Some(Fingerprint::read()),
        ..ClientOptions::new(vec![worker.to_string_lossy().into()])
    });
    println!("{} {:?}", host.cpu.brand, client.start()?);
    for op in Op::ALL {
        let plain = body(&format!("{op}/ymm/u4"))?;
        let streaming = body(&format!("{op}/ymm/u4/nt"))?;
        for at in states(*op) {
            let cell = Cell::new(*op, size, at, Drive::Throughput);
            if state.is_some_and(|s| s != at) {
                continue;
            }
            if let Err(why) = state_exists(&cell, &Levels::of(&host.caches)) {
                println!("{cell}: {why}");
                continue;
            }
            cost(&mut client, &host, cell, &plain, &streaming)?;
            predecessor(&mut client, &host, cell, &plain, &streaming)?;
        }
        let cell = Cell::new(*op, size, State::both(Level::L1), Drive::Throughput);
        for plant in [0.0, 0.005, 0.02] {
            pairs(&mut client, cell, &plain, plant, runs)?;
        }
    }
    println!("workers lost: {}", client.lost());
    Ok(())
}

/// All states of an op: of a copy the pairs too.
fn states(op: Op) -> Vec<State> {
    let mut states: Vec<State> = Level::ALL.iter().map(|l| State::both(*l)).collect();
    states.push(State::DRAM_DIRTY);
    if op.copies() {
        let pairs = Level::ALL.iter().flat_map(|src| Level::ALL.iter().map(move |dst| (src, dst)));
        let pairs = pairs.filter(|(src, dst)| src != dst);
        states.extend(pairs.map(|(src, dst)| State::pair(*src, *dst)));
    }
    states
}

fn body(id: &str) -> Result<Body, Failed> {
    Ok(Body::Machine(compile(&id.parse::<Variant>()?)?.machine()))
}

fn request(cell: Cell, members: Vec<Member>, layouts: u32, blocks: u32, seed: u64) -> BlockRequest {
    BlockRequest {
        cell,
        weights: Vec::new(),
        members,
        seed,
        layouts,
        blocks,
        order: MemberOrder::Shuffled,
        check: Check::Quick { size: cell.size },
        pass_ns: 3000,
        limit_ns: 0,
        without: looptune::trial::Without::NOTHING,
    }
}

fn ask(client: &mut Client, request: &BlockRequest) -> Result<BlockResult, Failed> {
    let result = client.evaluate(request)?;
    match result.failures.first() {
        Some((member, failure)) => Err(format!("member {member}: {failure}").into()),
        None => Ok(result),
    }
}

fn ns_a_call(result: &BlockResult, host: &Host, members: &[u32]) -> Vec<f64> {
    let mine = result.samples.iter().filter(|s| members.contains(&s.member));
    let mut ns: Vec<f64> = mine.map(|s| host.tsc.ns(s.ticks as f64) / f64::from(s.calls)).collect();
    ns.sort_unstable_by(f64::total_cmp);
    ns
}

fn at(sorted: &[f64], part: f64) -> f64 {
    sorted[((sorted.len() - 1) as f64 * part).round() as usize]
}

fn cost(
    client: &mut Client,
    host: &Host,
    cell: Cell,
    plain: &Body,
    nt: &Body,
) -> Result<(), Failed> {
    let members =
        vec![Member::new(plain.clone()), Member::new(nt.clone()), Member::new(Body::Libc)];
    let warm = request(cell, members.clone(), 1, 1, 1);
    ask(client, &warm)?;
    let began = Instant::now();
    let result = ask(client, &request(cell, members, 10, 10, 2))?;
    let each = began.elapsed().as_secs_f64() * 1e6 / result.samples.len() as f64;
    println!("\n{cell}: {each:.1} µs a sample, {} disturbed of 100 blocks", result.disturbed);
    for (member, name) in ["plain", "nt", "libc"].iter().enumerate() {
        let ns = ns_a_call(&result, host, &[member as u32]);
        let calls =
            result.samples.iter().find(|s| s.member == member as u32).map_or(0, |s| s.calls);
        println!(
            "  {name:6} {:9.1} ns a call, middle half {:9.1} .. {:9.1}, {calls} calls a pass",
            at(&ns, 0.5),
            at(&ns, 0.25),
            at(&ns, 0.75)
        );
    }
    let clock = result.clock;
    println!(
        "  clock {:.4} ({:.4} .. {:.4}), by additions {:.4}, cycles a tick; pass {:.0}, call {:.2} ticks",
        clock.cycles_per_tick,
        clock.range.0,
        clock.range.1,
        clock.add_cycles_per_tick,
        clock.pass_ticks,
        clock.call_ticks
    );
    Ok(())
}

/// The plain loop after a non-temporal one against the same after a plain one, from shuffled
/// blocks of both, so that places in the block weigh alike. With the plain loop in the place
/// of the non-temporal one too, as a control: what that shows is noise.
fn predecessor(
    client: &mut Client,
    host: &Host,
    cell: Cell,
    plain: &Body,
    nt: &Body,
) -> Result<(), Failed> {
    const PLAIN: u32 = 3;
    // Enough for intervals well inside the band of a tie on a machine that others use too.
    const LAYOUTS: u32 = 600;
    for (name, other) in [("after nt / after plain", nt), ("control, all plain", plain)] {
        let mut members = vec![Member::new(plain.clone()); PLAIN as usize];
        members.extend([Member::new(other.clone()), Member::new(other.clone())]);
        let result = ask(client, &request(cell, members, LAYOUTS, 8, 3))?;
        let mut logs = Vec::new();
        let layouts = result.samples.chunk_by(|a, b| a.layout == b.layout);
        for samples in layouts {
            let mut after = [Vec::new(), Vec::new()];
            for pair in samples.windows(2).filter(|w| w[0].block == w[1].block) {
                if pair[1].member < PLAIN {
                    let log = (pair[1].ticks as f64).ln();
                    after[usize::from(pair[0].member < PLAIN)].push(log);
                }
            }
            let [nt, plain] = &mut after;
            if nt.is_empty() || plain.is_empty() {
                continue;
            }
            nt.sort_unstable_by(f64::total_cmp);
            plain.sort_unstable_by(f64::total_cmp);
            logs.push(at(nt, 0.5) - at(plain, 0.5));
        }
        let (low, middle, high) = interval(&logs, 1);
        let ns = at(&ns_a_call(&result, host, &[0, 1, 2]), 0.5);
        let verdict = Verdict::of_time_ratio((low, high), band(&cell));
        println!("  {name}: {verdict}, {middle:.4} [{low:.4}, {high:.4}], {ns:.1} ns");
    }
    Ok(())
}

/// Median and 95 % interval of the ratio whose logs come in groups of one layout each:
/// layouts are drawn again, then blocks within them.
fn interval(logs: &[f64], group: usize) -> (f64, f64, f64) {
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut draw = |n: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 33) as usize % n
    };
    let middle = |logs: &mut Vec<f64>| {
        logs.sort_unstable_by(f64::total_cmp);
        at(logs, 0.5)
    };
    let groups: Vec<&[f64]> = logs.chunks(group).collect();
    let mut medians: Vec<f64> = (0..500)
        .map(|_| {
            let mut drawn = Vec::with_capacity(logs.len());
            for _ in 0..groups.len() {
                let g = groups[draw(groups.len())];
                drawn.extend((0..g.len()).map(|_| g[draw(g.len())]));
            }
            middle(&mut drawn)
        })
        .collect();
    medians.sort_unstable_by(f64::total_cmp);
    let whole = middle(&mut logs.to_vec());
    (at(&medians, 0.025).exp(), whole.exp(), at(&medians, 0.975).exp())
}

/// The same loop twice, the second with a plant, `runs` times.
fn pairs(
    client: &mut Client,
    cell: Cell,
    plain: &Body,
    plant: f64,
    runs: u64,
) -> Result<(), Failed> {
    if runs == 0 {
        return Ok(());
    }
    let blocks = 8;
    let (mut tied, mut found, mut seconds) = (0, 0, 0f64);
    let mut widths = Vec::new();
    let mut middles = Vec::new();
    for seed in 0..runs {
        let members =
            vec![Member::new(plain.clone()), Member { plant, ..Member::new(plain.clone()) }];
        let began = Instant::now();
        let result = ask(client, &request(cell, members, LAYOUTS, blocks, seed))?;
        let ticks = |m: u32| {
            let mut of: Vec<_> = result.samples.iter().filter(|s| s.member == m).collect();
            of.sort_unstable_by_key(|s| (s.layout, s.block));
            of.into_iter().map(|s| s.ticks as f64).collect::<Vec<_>>()
        };
        let logs: Vec<f64> = ticks(1).iter().zip(ticks(0)).map(|(b, a)| (b / a).ln()).collect();
        seconds = seconds.max(began.elapsed().as_secs_f64());
        let (low, middle, high) = interval(&logs, blocks as usize);
        tied += u64::from(low > 1.0 / 1.01 && high < 1.01);
        found += u64::from(low > 1.0);
        widths.push(high - low);
        middles.push(middle);
    }
    widths.sort_unstable_by(f64::total_cmp);
    middles.sort_unstable_by(f64::total_cmp);
    println!(
        "{cell}: planted {:.1} %: tied {tied}, slower {found} of {runs}; median ratio {:.4} \
         ({:.4} .. {:.4}), width {:.4} (worst {:.4}), at most {seconds:.3} s",
        plant * 100.0,
        at(&middles, 0.5),
        middles[0],
        at(&middles, 1.0),
        at(&widths, 0.5),
        at(&widths, 1.0)
    );
    Ok(())
}
