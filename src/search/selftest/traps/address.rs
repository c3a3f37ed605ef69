//! Traps of where code and buffers lie.

use super::desk::{Cannot, Figure, TrapDesk, cell};
use crate::search::band;
use crate::search::selftest::desk::member;
use crate::search::selftest::judge::{false_wins, paired};
use crate::subject::{Cell, Conditions, Level, Op, Placement};

/// Contests of a loop against itself.
const CONTESTS: u32 = 20;

pub(super) fn one_address(desk: &mut TrapDesk<'_>) -> Result<Figure, Cannot> {
    let plain = desk.vector(Op::Copy, "/u4")?;
    let cell = cell(Op::Copy, 4096, Level::L1);
    let members = [("the plain loop", member(&plain.body)), ("the same", member(&plain.body))];
    let mut intervals = Vec::new();
    for _ in 0..CONTESTS {
        let result = desk.run(cell, &members, (60, 3))?;
        intervals.push(paired(&result.samples, 1, 0).interval(&mut desk.desk.rng));
    }
    let wins = false_wins(&intervals, band(&cell));
    let text = format!("{} of {} contests between equals have a winner", wins.hits, wins.of);
    Ok(Figure { value: wins.rate(), text })
}

/// Addresses modulo 64 that a loop's top can have.
const ADDRESSES: u64 = 64;

pub(super) fn loop_address(desk: &mut TrapDesk<'_>, on: bool) -> Result<Figure, Cannot> {
    let at = |k: u64| match k {
        0 => "zero/xmm/u1/a64".to_string(),
        k => format!("zero/xmm/u1/a64+{k}"),
    };
    let addresses = (0..ADDRESSES).map(|k| if on { 0 } else { k });
    // Not merged as candidates of a search are: here equals are wanted.
    let list: Result<Vec<_>, _> = addresses.map(|k| desk.candidate(&at(k))).collect();
    let list = list?;
    let ratios = desk.ratios(cell(Op::Zero, 1024, Level::L1), &list)?;
    let (mut best, mut worst) = (0, 0);
    for (i, ratio) in ratios.iter().enumerate() {
        best = if *ratio < ratios[best] { i } else { best };
        worst = if *ratio > ratios[worst] { i } else { worst };
    }
    let value = ratios[worst] / ratios[best];
    let text = match on {
        true => format!("64 × a64: {value:.3}"),
        false => {
            let (worst, best) = (&list[worst].variant, &list[best].variant);
            format!("{worst} over {best}: {value:.3}")
        }
    };
    Ok(Figure { value, text })
}

/// Destination offsets that are looked at.
const OFFSETS: [u8; 5] = [0, 1, 8, 16, 32];

/// Loops that a careless benchmark would choose among.
const LOOPS: [&str; 6] = [
    "copy/rep8",
    "copy/r64/u4",
    "copy/xmm/u4",
    "copy/ymm/u4",
    "copy/ymm/u4/aligned",
    "copy/xmm/u8/aligned",
];

pub(super) fn aligned_only(desk: &mut TrapDesk<'_>, on: bool) -> Result<Figure, Cannot> {
    let loops: Vec<_> = LOOPS.iter().filter_map(|id| desk.candidate(id).ok()).collect();
    let at = |dst: u8| Cell {
        conditions: Conditions {
            placement: Placement { dst, ..Placement::ALIGNED },
            ..Conditions::DEFAULT
        },
        ..cell(Op::Copy, 4096, Level::L1)
    };
    // Regrets by offset; once to choose by, once to judge the choice.
    let mut look = || -> Result<Vec<Vec<f64>>, Cannot> {
        let looked = OFFSETS.iter().map(|dst| {
            let ratios = desk.ratios(at(*dst), &loops)?;
            let best = ratios.iter().copied().fold(f64::INFINITY, f64::min);
            Ok(ratios.iter().map(|r| r / best).collect())
        });
        looked.collect()
    };
    let (chosen_by, judged_by) = (look()?, look()?);
    let worst = |table: &[Vec<f64>], l: usize| table.iter().map(|r| r[l]).fold(1.0, f64::max);
    let pick = |score: &dyn Fn(usize) -> f64| {
        (0..loops.len()).min_by(|a, b| score(*a).total_cmp(&score(*b))).unwrap_or(0)
    };
    let robust = pick(&|l| worst(&chosen_by, l));
    let picked = if on { robust } else { pick(&|l| chosen_by[0][l]) };
    let least = worst(&judged_by, pick(&|l| worst(&judged_by, l)));
    let own = worst(&judged_by, picked);
    let text = format!("{}: at worst {own:.2} × the best there", loops[picked].variant);
    Ok(Figure { value: own / least, text })
}

/// Loops among which a prefetch is looked for that wins; the others are one iteration longer.
const PREFETCHES: [&str; 8] = [
    "zero/xmm/u1",
    "zero/xmm/u2",
    "zero/xmm/u3",
    "zero/xmm/u4",
    "zero/r64/u1",
    "zero/r64/u2",
    "zero/r64/u3",
    "zero/r64/u4",
];

pub(super) fn prefetch_bytes(desk: &mut TrapDesk<'_>, on: bool) -> Result<Figure, Cannot> {
    let cell = cell(Op::Zero, 1024, Level::L1);
    let mut found: Option<(usize, f64)> = None;
    let three = |desk: &mut TrapDesk<'_>, id: &str| -> Result<Vec<f64>, Cannot> {
        let ids = [id.to_string(), format!("{id}/pf-t0@256"), format!("{id}/pf-nop@256")];
        let list: Result<Vec<_>, _> = ids.iter().map(|id| desk.candidate(id)).collect();
        let list = list?;
        desk.ratios(cell, &list)
    };
    for (i, id) in PREFETCHES.iter().enumerate() {
        let gain = 1.0 / three(desk, id)?[1];
        if found.is_none_or(|(_, best)| gain > best) {
            found = Some((i, gain));
        }
    }
    let (i, _) = found.ok_or_else(|| Cannot::Here("no loop with a prefetch".into()))?;
    // On fresh data: what won by luck alone does not win again.
    let again = three(desk, PREFETCHES[i])?;
    let (value, other) = match on {
        true => (again[2] / again[1], "its nops"),
        false => (1.0 / again[1], "the bare loop"),
    };
    let text = format!("{}/pf-t0@256 against {other}: {value:.3}", PREFETCHES[i]);
    Ok(Figure { value, text })
}
