//! Outcomes for the tests of this module.

use super::facts::{Facts, Limit};
use crate::search::{
    Attribution, AxisRow, BaselineOutcome, BaselineTimes, CellOutcome, Compared, Coordinate,
    Credit, Edge, Effect, Excluded, ExcludedValue, ObjectRow, Placebo, Placed, PlacedPoint,
    PlacedRow, PlacedTimes, RegretRow, Robust, SearchOutcome, SizeOutcome, SkewCurve, SkewPoint,
    Standing, Stop, Suspect, Timed,
};
use crate::stats::Verdict;
use crate::subject::{
    Cell, Contract, Drive, Extent, Level, Mix, Op, Placement, State, Subject, Variant,
};
use crate::trial::{Failure, FailureKind};

pub(super) fn id(text: &str) -> Variant {
    text.parse().expect("ids of tests are right")
}

fn timed(text: &str, size: u64, ns: f64) -> Timed {
    let ci = (ns * 0.995, ns * 1.005);
    Timed { variant: id(text), ns, ci, bytes_per_cycle: size as f64 / ns / 3.06, code_bytes: 113 }
}

fn baseline(name: &str, ns: f64, ratio: f64, verdict: Verdict) -> BaselineOutcome {
    let ratio_ci = (ratio * 0.994, ratio * 1.006);
    let result = Ok(BaselineTimes { ns, ci: (ns, ns), ratio, ratio_ci, verdict });
    BaselineOutcome { name: name.into(), result }
}

fn cell(
    size: u64,
    level: Level,
    drive: Drive,
    winner: &str,
    ns: f64,
    ties: &[&str],
) -> CellOutcome {
    let best = timed(winner, size, ns);
    CellOutcome {
        cell: Cell::new(Op::Zero, size, State::both(level), drive),
        trials: 12_012,
        samples: 40_111,
        stop: Stop::Budget,
        standings: vec![Standing {
            timed: best.clone(),
            ratio_to_best: 1.0,
            ratio_ci: (1.0, 1.0),
            verdict: Verdict::Reference,
            non_temporal: false,
        }],
        winner: Some(best),
        ties: ties.iter().map(|t| id(t)).collect(),
        baselines: vec![
            baseline("libc", ns * 1.1, 1.1, Verdict::Slower),
            baseline("rep", ns * 1.004, 1.004, Verdict::Tied),
        ],
        excluded: Excluded { unsupported: 1212, incorrect: 3, crashed: 0, hung: 0 },
        cycles_per_ns: 3.06,
        driver_ns: 1.6,
    }
}

fn robust(text: &str, cells: &[CellOutcome], regrets: &[f64]) -> Robust {
    Robust {
        variant: id(text),
        max_regret: regrets.iter().copied().fold(0.0, f64::max),
        by_cell: cells
            .iter()
            .zip(regrets)
            .map(|(c, r)| RegretRow { cell: c.cell, regret: *r, ci: (*r, *r) })
            .collect(),
    }
}

pub(super) fn size(size: u64) -> SizeOutcome {
    use Drive::{Chained, Throughput};
    let scale = size as f64 / 4096.0;
    let mut cells = vec![cell(
        size,
        Level::L1,
        Throughput,
        "zero/ymm/u4/a64",
        42.1 * scale,
        &["zero/ymm/u8/a64", "zero/xmm/u8/a64+32", "zero/ymm/u2/a64", "zero/ymm/u6", "zero/ymm/u3"],
    )];
    if size < 256 {
        cells.push(cell(size, Level::L1, Chained, "zero/r64/u2", 60.0 * scale, &[]));
    }
    cells.push(cell(size, Level::L2, Throughput, "zero/ymm/u8/a64/dec", 66.8 * scale, &[]));
    let dram = "zero/ymm/u8/a64+32/nt/pf-t0@256/dec/head-none/tail-bytes";
    cells.push(cell(size, Level::Dram, Throughput, dram, 611.0 * scale, &["zero/ymm/u2/nt"]));
    cells[1].baselines[1].result =
        Err(Failure { kind: FailureKind::Crashed { signal: 11 }, case: "n=65 dst+3 src+0".into() });
    let plain = robust("zero/ymm/u8/a64", &cells, &[0.0021, 0.031, 1.27, 0.4]);
    SizeOutcome {
        extent: Extent::fixed(size),
        absent: vec![("llc".into(), "this host tells no last-level cache beyond l2".into())],
        robust: Some(plain.clone()),
        best_plain: Some(plain),
        best_nt: Some(robust("zero/ymm/u2/nt", &cells, &[10.4, 5.2, 0.003, 0.0])),
        best_kernel: Some(robust("zero/rep64", &cells, &[0.31, 0.12, 0.04, 0.02])),
        cells,
    }
}

/// A mix of sizes, as if it were one of 128 bytes.
pub(super) fn mixed(name: &str) -> SizeOutcome {
    let mut found = size(128);
    let mix = Mix::new(name, 0x0123_4567_89ab_cdef, 91.25).expect("a name and a mean");
    found.extent = Extent { mix: Some(mix), size: 2046 };
    let own = |cell: &mut Cell| *cell = Cell::of(cell.op, found.extent, cell.state, cell.drive);
    found.cells.iter_mut().for_each(|c| own(&mut c.cell));
    let choices = [&mut found.robust, &mut found.best_plain, &mut found.best_nt];
    for robust in choices.into_iter().chain([&mut found.best_kernel]) {
        robust.iter_mut().flat_map(|r| &mut r.by_cell).for_each(|row| own(&mut row.cell));
    }
    found
}

/// A size with every level in both drives.
pub(super) fn all_cells(bytes: u64) -> SizeOutcome {
    let mut found = size(bytes);
    found.cells = Level::ALL
        .iter()
        .flat_map(|level| Drive::ALL.iter().map(|drive| (*level, *drive)))
        .map(|(level, drive)| cell(bytes, level, drive, "zero/ymm/u4/a64/dec", 42.1, &[]))
        .collect();
    let regrets: Vec<f64> = (0..found.cells.len()).map(|i| i as f64 * 0.013).collect();
    found.robust = Some(robust("zero/ymm/u4/a64/dec", &found.cells, &regrets));
    found.best_nt = Some(robust("zero/ymm/u8/a64+32/nt/pf-t0@256/dec", &found.cells, &regrets));
    found.best_plain = None;
    found.absent.clear();
    found
}

pub(super) fn search(sizes: &[u64]) -> SearchOutcome {
    SearchOutcome {
        op: Op::Zero,
        contract: Contract::User,
        seed: 7,
        seconds: 4.83,
        sizes: sizes.iter().map(|s| size(*s)).collect(),
        warnings: vec!["the winner of l2 stands on the edge of the swept unrolls (u8)".into()],
    }
}

pub(super) fn facts() -> Facts {
    Facts {
        command: "looptune search --op zero --size 4096".into(),
        host_key: "amd-25-1-1-3fa2c1".into(),
        cpu: "AMD EPYC 7B13 64-Core Processor".into(),
        features: vec!["sse2".into(), "avx".into()],
        libc: Some("glibc 2.36".into()),
        limit: Some(Limit {
            bytes_per_cycle: 32.0,
            why: "one 32-byte store a cycle (Zen 3)".into(),
        }),
    }
}

fn compared(ratio: f64) -> Compared {
    let verdict = if ratio > 1.01 { Verdict::Slower } else { Verdict::Tied };
    Compared { ratio, ratio_ci: (ratio * 0.996, ratio * 1.004), verdict }
}

/// Why a loop wins that owes a part to its prefetch, and more to its address.
pub(super) fn attribution() -> Attribution {
    let winner = id("zero/ymm/u4/a64+16/pf-t0@256");
    let slow = |skew: u8| if skew >= 40 { 1.2 } else { 1.0 };
    let row = |axis: &str, own: &str, value: &str, is_default, other: &str, ratio| AxisRow {
        axis: axis.into(),
        own: own.into(),
        value: value.into(),
        is_default,
        variant: id(other),
        compared: compared(ratio),
    };
    Attribution {
        cell: Cell::new(Op::Zero, 4096, State::both(Level::L2), Drive::Throughput),
        winner,
        skew: Ok(SkewCurve {
            own: 16,
            points: (0..64)
                .map(|skew| SkewPoint { skew, compared: compared(slow(skew)) })
                .collect(),
        }),
        placebos: vec![Placebo {
            suspect: Suspect::Prefetch,
            without: Ok((id("zero/ymm/u4/a64+16"), compared(1.08))),
            placebo: Ok((id("zero/ymm/u4/a64+16/pf-nop@256"), compared(1.05))),
            bytes: Some(compared(1.03)),
            credit: Credit::Credited,
        }],
        axes: vec![
            row("unroll", "4", "1", true, "zero/ymm/a64+16/pf-t0@256", 1.31),
            row("unroll", "4", "6", false, "zero/ymm/u6/a64+16/pf-t0@256", 1.002),
            row("hint", "t0", "none", true, "zero/ymm/u4/a64+16", 1.08),
        ],
        excluded: vec![ExcludedValue {
            axis: "order".into(),
            value: "batch".into(),
            why: "rule batch-needs-loads: without a source the loop loads nothing".into(),
        }],
        edges: vec![Edge {
            axis: "distance".into(),
            what: "prefetch distance".into(),
            largest: true,
            value: 256,
        }],
        object: Some(Ok(ObjectRow { builder: "cc".into(), compared: compared(1.001) })),
        notes: Vec::new(),
    }
}

/// A string instruction has no loop top to be moved.
pub(super) fn attribution_of_a_string() -> Attribution {
    Attribution {
        winner: id("zero/rep8"),
        skew: Err("it has no main loop whose top could be moved".into()),
        placebos: Vec::new(),
        edges: Vec::new(),
        object: Some(Err("nothing here assembles and links: install gcc or binutils".into())),
        notes: vec!["a note".into()],
        ..attribution()
    }
}

/// A loop that hangs on its destination and one that hangs on nothing.
pub(super) fn placed() -> Placed {
    let times = |odd: f64| PlacedTimes {
        points: [0, 1, 8, 16, 32]
            .into_iter()
            .map(|dst| {
                let ns = if dst == 1 { 40.0 * odd } else { 40.0 };
                let placement = Placement { dst, ..Placement::ALIGNED };
                PlacedPoint { placement, ns, ci: (ns * 0.99, ns * 1.01) }
            })
            .collect(),
        effects: vec![Effect {
            coordinate: Coordinate::Dst,
            best: Some(0),
            worst: Some(1),
            spread: odd,
            ci: (odd * 0.99, odd * 1.01),
        }],
    };
    let row = |name: &str, result| PlacedRow { subject: Subject::parse(name).unwrap(), result };
    let failure = Failure { kind: FailureKind::Hung, case: "timing".into() };
    Placed {
        cell: Cell::new(Op::Zero, 4096, State::both(Level::L2), Drive::Throughput),
        rows: vec![
            row("zero/ymm/u4/a64+16/pf-t0@256", Ok(times(1.4))),
            row("libc", Ok(times(1.0))),
            row("rep", Err(failure)),
        ],
    }
}
