//! Traps of what the caches and the pages are like when a call starts.

use super::desk::{Cannot, Figure, TrapDesk, cell, ticks_a_call};
use crate::measure::Ring;
use crate::search::Effort;
use crate::search::selftest::bias;
use crate::search::selftest::desk::{Loops, member};
use crate::search::selftest::judge::paired;
use crate::subject::{Cell, Conditions, Level, Op, Pages, Source, State};
use crate::trial::MemberOrder;

/// Bytes of a copy out of memory into the first level.
const READ_IN: u64 = 8 << 10;

pub(super) fn source(desk: &mut TrapDesk<'_>, on: bool) -> Result<Figure, Cannot> {
    let copy = desk.vector(Op::Copy, "/u4")?;
    let read = desk.vector(Op::Read, "/u4")?;
    let source = if on { Source::Written } else { Source::Untouched };
    let into = Cell {
        state: State::pair(Level::Dram, Level::L1),
        conditions: Conditions { source, ..Conditions::DEFAULT },
        ..cell(Op::Copy, READ_IN, Level::L1)
    };
    desk.exists(&into)?;
    let reading = cell(Op::Read, READ_IN, Level::Dram);
    let reading = desk.run(reading, &[("the reading loop", member(&read.body))], (60, 1))?;
    let copying = desk.run(into, &[("the copy", member(&copy.body))], (60, 1))?;
    let value = ticks_a_call(&copying, 0) / ticks_a_call(&reading, 0);
    Ok(Figure { value, text: format!("a copy of 8 KiB takes {value:.2} × a read") })
}

pub(super) fn first_touch(desk: &mut TrapDesk<'_>) -> Result<Figure, Cannot> {
    let plain = desk.vector(Op::Zero, "/u4")?;
    // One loop twice, in this order: who comes first pays for the pages, where nobody did.
    let members = [("the first", member(&plain.body)), ("the second", member(&plain.body))];
    let effort = Effort { layouts: 30, blocks: 1, pass_ns: 20_000, limit_ns: 0 };
    let cell = cell(Op::Zero, 64 << 10, Level::Dram);
    let result = desk.desk.ask(cell, &members, effort, MemberOrder::AsGiven)?;
    let value = paired(&result.samples, 0, 1).location().exp();
    Ok(Figure { value, text: format!("64 KiB: the first takes {value:.2} × the second") })
}

pub(super) fn fresh_pages(desk: &mut TrapDesk<'_>, on: bool) -> Result<Figure, Cannot> {
    let plain = desk.vector(Op::Zero, "/u4")?;
    let members = [("the plain loop", member(&plain.body))];
    let there = cell(Op::Zero, 64 << 10, Level::Dram);
    let pages = if on { Pages::Small } else { Pages::Fresh };
    let asked = Cell { conditions: Conditions { pages, ..Conditions::DEFAULT }, ..there };
    desk.exists(&asked)?;
    let time = |desk: &mut TrapDesk<'_>, cell| -> Result<f64, Cannot> {
        Ok(ticks_a_call(&desk.run(cell, &members, (10, 1))?, 0))
    };
    let value = desk.by_turns(|desk| time(desk, asked), |desk| time(desk, there))?;
    Ok(Figure { value, text: format!("64 KiB take {value:.2} × those that are there") })
}

pub(super) fn predecessor(desk: &mut TrapDesk<'_>) -> Result<Figure, Cannot> {
    let (llc, whose) = desk.near(&[Level::Llc], |level| cell(Op::Copy, 4096, level))?;
    let loops = Loops::of(Op::Copy, &desk.host.usable);
    let loops = loops.ok_or_else(|| Cannot::Here("no vector loop runs here".into()))?;
    let effort = Effort { layouts: 40, blocks: 1, pass_ns: 20_000, limit_ns: 0 };
    let bias = bias::predecessor(&mut desk.desk, llc, &loops, effort)?;
    let (low, high) = bias.ci;
    let text = format!("4 KiB copied in llc{whose}: {:.3} [{low:.3}, {high:.3}]", bias.ratio);
    Ok(Figure { value: bias.ratio, text })
}

pub(super) fn near_touch(desk: &mut TrapDesk<'_>) -> Result<Figure, Cannot> {
    let plain = desk.vector(Op::Zero, "/u1")?;
    let members = [("the plain loop", member(&plain.body))];
    let levels = [Level::Llc, Level::L2];
    let (near, whose) = desk.near(&levels, |level| cell(Op::Zero, 64, level))?;
    let far = ticks_a_call(&desk.run(cell(Op::Zero, 64, Level::Dram), &members, (60, 1))?, 0);
    let value = far / ticks_a_call(&desk.run(near, &members, (20, 1))?, 0);
    Ok(Figure { value, text: format!("dram takes {value:.2} × {}{whose}", near.state) })
}

pub(super) fn repeated_pair(desk: &mut TrapDesk<'_>) -> Result<Figure, Cannot> {
    let nt = desk.vector(Op::Zero, "/u4/nt")?;
    let members = [("the non-temporal loop", member(&nt.body))];
    let l1 = cell(Op::Zero, 4096, Level::L1);
    let time = |desk: &mut TrapDesk<'_>| -> Result<f64, Cannot> {
        Ok(ticks_a_call(&desk.run(l1, &members, (30, 3))?, 0))
    };
    let value = desk.by_turns(time, |desk| desk.with_all(time))?;
    Ok(Figure { value, text: format!("4 KiB with nt in l1: {value:.2} × on a ring") })
}

pub(super) fn told_caches(desk: &mut TrapDesk<'_>, on: bool) -> Result<Figure, Cannot> {
    let levels = match (on, desk.host.measured) {
        (false, _) => desk.host.told,
        (true, Some(measured)) => measured,
        (true, None) => return Err(Cannot::Here("no cache was measured here".into())),
    };
    // The farthest level that there is, and the largest size that it is said to have room for.
    let sizes = |level| (6..=28).rev().map(move |log| cell(Op::Zero, 1 << log, level));
    let mut cells = [Level::Llc, Level::L2, Level::L1].into_iter().flat_map(sizes);
    let found = cells.find(|c| Ring::plan(c, &levels).is_ok());
    let llc = found.ok_or_else(|| Cannot::Here("this machine tells of no cache".into()))?;
    let dram = cell(Op::Zero, llc.size, Level::Dram);
    let plain = desk.vector(Op::Zero, "/u4")?;
    let members = [("the plain loop", member(&plain.body))];
    let near = ticks_a_call(&desk.run(llc, &members, (6, 1))?, 0);
    let value = near / ticks_a_call(&desk.run(dram, &members, (12, 1))?, 0);
    Ok(Figure { value, text: format!("{}: {} takes {value:.2} × dram", llc.extent(), llc.state) })
}
