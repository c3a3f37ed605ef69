//! Which buffers make a state: how many pairs of destination and source, and whether the
//! state exists for a size at all. Pure, so that a planner can ask without a worker.

use serde::{Deserialize, Serialize};

use super::apart::{self, Apart};
use crate::host::Caches;
use crate::subject::{Cell, Consumer, Level, Op, Pages, Source};
use crate::units::human_size;

/// Bytes of the caches that states are made of; `None` where the processor has no such
/// level or tells none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Levels {
    /// First-level data cache.
    pub l1d: Option<u64>,
    /// Second-level cache.
    pub l2: Option<u64>,
    /// Last-level cache, where it is another than the second.
    pub llc: Option<u64>,
}

impl Levels {
    /// As a processor tells of its caches.
    pub fn of(caches: &Caches) -> Levels {
        Levels {
            l1d: Some(caches.l1d_bytes()),
            l2: Some(caches.l2_bytes()),
            llc: caches.llc_bytes(),
        }
    }

    /// What each of so many threads has, on cores of their own: the last level is shared.
    pub(super) fn shared_by(self, threads: u16) -> Levels {
        Levels { llc: self.llc.map(|llc| llc / u64::from(threads.max(1))), ..self }
    }

    /// Bytes of other data that fill the caches with lines to be written back.
    pub(super) fn debt(&self) -> Option<u64> {
        let largest = self.llc.max(self.l2).max(self.l1d)?;
        (largest > 0).then_some(largest.min(MOST_DEBT))
    }
}

/// A guest has rarely more than this of a last level, whatever it is told; writing it takes
/// 10 ms.
const MOST_DEBT: u64 = 64 << 20;

/// The pairs of buffers that a state is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ring {
    /// How many pairs.
    pub pairs: u64,
    /// Bytes from one destination (or source) to the next; a multiple of 64.
    pub stride: u64,
    /// How many of them a pass of a mix may visit before the ring is primed again. Its calls do
    /// not push out what the priming touched last, as calls of one size do: so much of the ring
    /// as the level below may hold is left alone.
    pub visitable: u64,
    /// Where the pointers are at two levels: the slots of each.
    pub apart: Option<Apart>,
}

/// A level holds a ring only if the ring is at least so many times the level below: a
/// walk then finds nothing there, whatever the replacement policy, because the pairs that
/// a pass visits are those touched longest ago.
const ABOVE: u64 = 2;

/// Rings above this multiple of the level below gain nothing and cost priming time.
const L2_OVER_L1: u64 = 8;

/// As [`L2_OVER_L1`], for the last level.
const LLC_OVER_L2: u64 = 3;

/// As [`LLC_OVER_L2`], of a mix: part of its ring is left alone.
const LLC_OVER_L2_MIXED: u64 = 4;

/// The largest offset that is drawn for a call of a mix, bytes.
pub(super) const DRAWN_OFFSET: u64 = 63;

/// The region that a `dram` pass picks its pairs from, bytes: many times what a pass
/// visits, so that a line fetched ahead is rarely one that is visited later.
pub(super) const DRAM_REGION: u64 = 1 << 20;

/// More pairs than this only make lists longer.
pub(super) const MOST_PAIRS: u64 = 4096;

impl Ring {
    /// The ring for a cell.
    ///
    /// # Errors
    /// Why the state does not exist for the cell, for people: names the size and the level.
    pub fn plan(cell: &Cell, levels: &Levels) -> Result<Ring, String> {
        conditions_fit(cell)?;
        let levels = levels.shared_by(cell.conditions.threads);
        let placement = cell.conditions.placement;
        let offset = match cell.op {
            Op::Copy => placement.dst.max(placement.src),
            Op::Zero | Op::Read | Op::Write => placement.dst,
        };
        let drawn = if cell.mix.is_some() { DRAWN_OFFSET } else { 0 };
        let level = cell.state.level();
        // A fresh page must be one call's alone; and slots that move independently keep a fixed
        // distance modulo a page only where they are pages apart.
        let fresh = cell.conditions.pages == Pages::Fresh;
        let fixed = level.is_none() && placement.delta.is_some();
        let unit = if fresh || fixed { PAGE } else { 64 };
        let stride = (cell.size + u64::from(offset) + drawn).next_multiple_of(unit);
        let Some(level) = level else { return apart::plan(cell, stride, &levels) };
        let pair = match cell.op {
            Op::Copy => stride * 2,
            Op::Zero | Op::Read | Op::Write => stride,
        };
        let pairs = match level {
            Level::L1 => most_of_l1(pair, &levels)?,
            Level::L2 | Level::Llc => between(pair, level, drawn > 0, &levels)?,
            Level::Dram => (DRAM_REGION / pair).max(1),
        };
        // A ring must not shrink below what its level asks; only the smallest sizes get here.
        let most = match level {
            Level::L1 | Level::Dram => MOST_PAIRS,
            Level::L2 | Level::Llc => u64::MAX,
        };
        let mut pairs = pairs.min(most);
        if cell.state.dirty {
            // While half of the debt is there, each new line drives an old one out to memory.
            let debt = levels.debt().ok_or("this machine tells of no cache to fill")?;
            pairs = pairs.min(debt / 2 / pair).max(1);
        }
        let below = match level {
            Level::L1 | Level::Dram => None,
            Level::L2 => levels.l1d,
            Level::Llc => levels.l2,
        };
        let left = below.map_or(0, |below| (below * ABOVE).div_ceil(pair));
        let visitable = pairs.saturating_sub(left).max(1);
        Ok(Ring { pairs, stride, visitable, apart: None })
    }
}

/// Bytes of a small page.
const PAGE: u64 = 4096;

/// Whether an op and a mix can be under the conditions of a cell at all, on any machine.
fn conditions_fit(cell: &Cell) -> Result<(), String> {
    let Cell { op, state, conditions, .. } = cell;
    let mixed = cell.mix.is_some();
    if state.level().is_none() {
        if !op.copies() {
            return Err(format!(
                "the state {state} is of a source and a destination, and {op} has not both; its \
                 states are l1, l2, llc, dram and dram-dirty"
            ));
        }
        if mixed {
            return Err(format!(
                "calls of a mix are not measured in {state}: their pointers are at one level"
            ));
        }
    }
    if conditions.source == Source::Untouched && !op.copies() {
        return Err(format!("{op} has no source that could be untouched"));
    }
    if conditions.consumer == Consumer::Read && !op.stores() {
        return Err(format!("{op} has no destination that somebody could read"));
    }
    if conditions.pages == Pages::Fresh {
        if !op.stores() {
            return Err(format!("{op} has no destination whose pages could be fresh"));
        }
        if state.dst != Level::Dram {
            return Err(format!(
                "fresh pages have no line in any cache, so {state} does not exist for them: the \
                 destination is in dram, as in dram, dram-dirty and l1:dram"
            ));
        }
        if mixed {
            return Err("calls of a mix share pages, so that only the first would find them \
                        fresh; give a size"
                .into());
        }
    }
    if conditions.threads > 1 && mixed {
        return Err("calls of a mix are timed on one thread; give a size".into());
    }
    Ok(())
}

/// Whether the state of a cell exists for its size where caches are as large as these.
///
/// # Errors
/// The reason why not, for people.
pub fn state_exists(cell: &Cell, levels: &Levels) -> Result<(), String> {
    Ring::plan(cell, levels).map(|_| ())
}

pub(super) fn known(size: Option<u64>, name: &str) -> Result<u64, String> {
    size.filter(|s| *s > 0).ok_or_else(|| format!("this machine tells of no {name}"))
}

fn too_large(pair: u64, limit: u64, part: &str, level: u64, name: &str) -> String {
    format!(
        "a call touches {}, more than the {} that {part} the {} {name} hold",
        human_size(pair),
        human_size(limit),
        human_size(level)
    )
}

/// Pairs (or slots) of so many bytes that fit three quarters of the first level.
pub(super) fn most_of_l1(pair: u64, levels: &Levels) -> Result<u64, String> {
    let l1d = known(levels.l1d, "L1d")?;
    match l1d * 3 / 4 / pair {
        0 => Err(too_large(pair, l1d * 3 / 4, "three quarters of", l1d, "L1d")),
        pairs => Ok(pairs),
    }
}

/// Pairs (or slots) of so many bytes that overflow the level below and fit half of `level`, the
/// second or the last.
pub(super) fn between(
    pair: u64,
    level: Level,
    mixed: bool,
    levels: &Levels,
) -> Result<u64, String> {
    let l2 = known(levels.l2, "L2")?;
    let ((below, below_name), (level, name), over) = if level == Level::L2 {
        ((known(levels.l1d, "L1d")?, "L1d"), (l2, "L2"), L2_OVER_L1)
    } else {
        let over = if mixed { LLC_OVER_L2_MIXED } else { LLC_OVER_L2 };
        let name = "last-level cache";
        ((l2, "L2"), (known(levels.llc, name)?, name), over)
    };
    let limit = level / 2;
    if pair > limit {
        return Err(too_large(pair, limit, "half of", level, name));
    }
    let floor = below * ABOVE;
    let pairs = (limit.min(below * over) / pair).max(1).max(floor.div_ceil(pair));
    if pairs * pair > limit {
        return Err(format!(
            "the {} {name} is too small beside the {} {below_name} for calls of {} to be told apart",
            human_size(level),
            human_size(below),
            human_size(pair)
        ));
    }
    Ok(pairs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::subject::{Drive, State};

    const ZEN3: Levels = Levels { l1d: Some(32 << 10), l2: Some(512 << 10), llc: Some(32 << 20) };

    fn plan(op: Op, size: u64, level: Level, levels: &Levels) -> Result<Ring, String> {
        Ring::plan(&Cell::new(op, size, State::both(level), Drive::Throughput), levels)
    }

    #[test]
    fn every_size_of_a_level_gets_a_ring_inside_it_and_above_the_one_below() {
        let machines = [
            ZEN3,
            Levels { l1d: Some(48 << 10), l2: Some(2 << 20), llc: Some(260 << 20) },
            Levels { l1d: Some(32 << 10), l2: Some(256 << 10), llc: Some(8 << 20) },
        ];
        for levels in machines {
            let (l1d, l2, llc) = (levels.l1d.unwrap(), levels.l2.unwrap(), levels.llc.unwrap());
            for op in [Op::Copy, Op::Zero] {
                let pointers = if op == Op::Copy { 2 } else { 1 };
                for size in (1..=2048).chain((2049..=(2 << 20)).step_by(1237)) {
                    let total = |r: Ring| r.pairs * r.stride * pointers;
                    if let Ok(r) = plan(op, size, Level::L1, &levels) {
                        assert!(total(r) <= l1d * 3 / 4, "{size}: {r:?}");
                    }
                    let pair = size.next_multiple_of(64) * pointers;
                    match plan(op, size, Level::L2, &levels) {
                        Ok(r) => assert!((l1d * 2..=l2 / 2).contains(&total(r)), "{size}: {r:?}"),
                        Err(_) => assert!(pair > l2 / 2, "no gap between levels: {size}"),
                    }
                    match plan(op, size, Level::Llc, &levels) {
                        Ok(r) => assert!((l2 * 2..=llc / 2).contains(&total(r)), "{size}: {r:?}"),
                        Err(_) => assert!(pair > llc / 2, "no gap between levels: {size}"),
                    }
                    assert!(plan(op, size, Level::Dram, &levels).is_ok());
                }
            }
        }
    }

    #[test]
    fn what_does_not_exist_says_why() {
        let why = plan(Op::Zero, 4 << 20, Level::L2, &ZEN3).unwrap_err();
        assert!(why.contains("4M") && why.contains("512k L2"), "{why}");
        let flat = Levels { llc: None, ..ZEN3 };
        assert!(plan(Op::Zero, 4096, Level::Llc, &flat).unwrap_err().contains("no last-level"));
        let absurd = Levels { l1d: Some(0), l2: Some(u64::MAX / 16), llc: None };
        assert!(plan(Op::Zero, 4096, Level::L1, &absurd).unwrap_err().contains("no L1d"));
        let small = Levels { l2: Some(64 << 10), ..ZEN3 };
        assert!(plan(Op::Zero, 4096, Level::L2, &small).unwrap_err().contains("too small"));
    }

    #[test]
    fn conditions_that_cannot_be_say_why() {
        let refused = |op, state: &str, change: &dyn Fn(&mut Cell)| {
            let state = State::from_word(state).unwrap();
            let mut cell = Cell::new(op, 4096, state, Drive::Throughput);
            change(&mut cell);
            Ring::plan(&cell, &ZEN3).err()
        };
        let fresh = |cell: &mut Cell| cell.conditions.pages = Pages::Fresh;
        for state in ["l1", "l2", "llc", "dram:l1"] {
            let why = refused(Op::Copy, state, &fresh).expect("no line of it is in a cache");
            assert!(why.contains("l1:dram"), "{why}");
        }
        for state in ["dram", "l1:dram", "llc:dram", "dram-dirty"] {
            assert_eq!(refused(Op::Copy, state, &fresh), None);
        }
        let untouched = |cell: &mut Cell| cell.conditions.source = Source::Untouched;
        assert!(refused(Op::Zero, "l1", &untouched).is_some_and(|w| w.contains("no source")));
        assert_eq!(refused(Op::Copy, "l1", &untouched), None);
        let consumed = |cell: &mut Cell| cell.conditions.consumer = Consumer::Read;
        assert!(refused(Op::Read, "l1", &consumed).is_some());
        assert_eq!(refused(Op::Zero, "l1", &consumed), None);
        let many = |cell: &mut Cell| cell.conditions.threads = 64;
        assert!(refused(Op::Copy, "llc", &many).is_some_and(|w| w.contains("last-level")));
        assert_eq!(refused(Op::Copy, "l1", &many), None);
    }

    #[test]
    fn fresh_pages_are_one_calls_alone_and_a_debt_outlasts_its_calls() {
        let mut cell = Cell::new(Op::Copy, 100, State::both(Level::Dram), Drive::Throughput);
        cell.conditions.pages = Pages::Fresh;
        assert_eq!(Ring::plan(&cell, &ZEN3).unwrap().stride, PAGE);
        let dirty = Cell::new(Op::Copy, 4096, State::DRAM_DIRTY, Drive::Throughput);
        let guest = Levels { llc: Some(1 << 20), ..ZEN3 };
        for levels in [ZEN3, guest, Levels { llc: None, ..ZEN3 }] {
            let ring = Ring::plan(&dirty, &levels).unwrap();
            assert!(ring.pairs * ring.stride * 2 <= levels.debt().unwrap() / 2, "{ring:?}");
        }
        let none = Levels { l1d: None, l2: None, llc: Some(0) };
        assert!(Ring::plan(&dirty, &none).is_err());
    }

    #[test]
    fn calls_of_a_mix_find_nothing_of_their_ring_in_the_level_below() {
        let mix = crate::subject::Mix::new("a", 1, 50.0).ok();
        for (size, level, below) in [
            (100, Level::L2, 32 << 10),
            (4091, Level::L2, 32 << 10),
            (4091, Level::Llc, 512 << 10),
            (64 << 10, Level::Llc, 512 << 10),
        ] {
            let cell = Cell::new(Op::Copy, size, State::both(level), Drive::Throughput);
            let ring = Ring::plan(&Cell { mix, ..cell }, &ZEN3).unwrap();
            assert_eq!(ring.stride, (size + 63).next_multiple_of(64));
            // What is primed after the last of them fills the level below twice.
            let left = (ring.pairs - ring.visitable) * ring.stride * 2;
            assert!(ring.visitable > 0 && left >= below * 2, "{size}: {ring:?}");
        }
        let near = Cell::new(Op::Copy, 4091, State::both(Level::L1), Drive::Throughput);
        let near = Ring::plan(&Cell { mix, ..near }, &ZEN3).unwrap();
        assert_eq!((near.pairs, near.visitable), (2, 2));
    }

    #[test]
    fn offsets_take_a_line_more() {
        let mut cell = Cell::new(Op::Copy, 4096, State::both(Level::L2), Drive::Throughput);
        cell.conditions.placement.src = 1;
        assert_eq!(Ring::plan(&cell, &ZEN3).unwrap().stride, 4096 + 64);
        cell.op = Op::Zero;
        assert_eq!(Ring::plan(&cell, &ZEN3).unwrap().stride, 4096);
    }
}
