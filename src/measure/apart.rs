//! Which buffers make a state of two levels: the source at one, the destination at another.
//! Pure.
//!
//! Each pointer has slots of its own, and they move independently. At the first level a
//! pointer stays where it is: a buffer that is read into again and again, or a source that is
//! copied from over and over. Only loops whose stores leave the cache walk a few slots there,
//! because the first call on one consumes its state. At the other levels each slot is visited
//! once a prime, as in states of one level.
//!
//! Successive slots are visited in an order drawn once a run, also where a program would go on
//! to the next address, as with the end of a log: what is fetched ahead beyond the end of one
//! call would be found by the next, and a call would have the time of a part of a larger one.

use super::ring::{DRAM_REGION, Levels, MOST_PAIRS, Ring, between, known, most_of_l1};
use crate::subject::{Cell, Level};

/// The slots of one pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Side {
    /// Where they are when a call starts.
    pub level: Level,
    /// How many there are.
    pub slots: u64,
}

/// The slots of both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Apart {
    /// Of the destination.
    pub dst: Side,
    /// Of the source.
    pub src: Side,
    /// Calls that a prime serves where stores leave the cache; else they are [`Ring::pairs`].
    pub leaving: u64,
}

impl Apart {
    /// The colder side's level first.
    pub fn levels(&self) -> [Level; 2] {
        let (a, b) = (self.dst.level, self.src.level);
        if a > b { [a, b] } else { [b, a] }
    }
}

/// Of a level that holds the warmer side's slots (half of it at most), what the colder side's
/// lines may take on their way before the state is made anew: a quarter.
const ROOM: u64 = 4;

/// Slots a page apart compete for the same ways of the first level, which has eight or more.
const MOST_ON_ONE_SET: u64 = 4;

/// The slots for a copy whose pointers are `stride` bytes from one slot to the next.
///
/// # Errors
/// Why the state does not exist, for people.
pub(super) fn plan(cell: &Cell, stride: u64, levels: &Levels) -> Result<Ring, String> {
    let side = |level: Level| -> Result<Side, String> {
        let slots = match level {
            Level::L1 => {
                let slots = most_of_l1(stride * 2, levels)?;
                let one_set = stride.is_multiple_of(4096) && cell.size < 4096;
                if one_set { slots.min(MOST_ON_ONE_SET) } else { slots }
            }
            Level::L2 | Level::Llc => between(stride, level, false, levels)?,
            Level::Dram => (DRAM_REGION / stride).max(1),
        };
        let most = if matches!(level, Level::L1 | Level::Dram) { MOST_PAIRS } else { u64::MAX };
        Ok(Side { level, slots: slots.min(most) })
    };
    let (dst, src) = (side(cell.state.dst)?, side(cell.state.src)?);
    let colder = dst.level.max(src.level);
    let mut calls = MOST_PAIRS;
    for side in [dst, src] {
        if side.level != Level::L1 {
            calls = calls.min(side.slots);
        }
        if side.level < colder {
            let room = match side.level {
                Level::L2 => known(levels.l2, "L2")? / ROOM,
                Level::Llc => known(levels.llc, "last-level cache")? / ROOM,
                Level::L1 | Level::Dram => u64::MAX,
            };
            calls = calls.min((room / stride).max(1));
        }
    }
    let leaving = if dst.level == Level::L1 { calls.min(dst.slots) } else { calls };
    Ok(Ring { pairs: calls, stride, visitable: calls, apart: Some(Apart { dst, src, leaving }) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::subject::{Drive, Op, State};

    const LEVELS: Levels = Levels { l1d: Some(32 << 10), l2: Some(512 << 10), llc: Some(32 << 20) };

    #[test]
    fn every_pair_of_levels_has_slots_inside_them() {
        for (src, dst) in Level::ALL.iter().flat_map(|a| Level::ALL.iter().map(move |b| (*a, *b))) {
            if src == dst {
                continue;
            }
            for size in [1, 64, 4096, 5000, 12 << 10, 64 << 10, 200 << 10] {
                let cell = Cell::new(Op::Copy, size, State::pair(src, dst), Drive::Throughput);
                let l1 = [src, dst].contains(&Level::L1);
                let ring = match Ring::plan(&cell, &LEVELS) {
                    Ok(ring) => ring,
                    Err(why) => {
                        assert!(l1 && size > 12 << 10, "{cell}: {why}");
                        continue;
                    }
                };
                let apart = ring.apart.expect("two levels");
                assert!(ring.pairs >= 1 && apart.leaving >= 1 && apart.leaving <= ring.pairs);
                for side in [apart.dst, apart.src] {
                    let bytes = side.slots * ring.stride;
                    match side.level {
                        Level::L1 => assert!(bytes * 2 <= (32 << 10) * 3 / 4, "{cell}: {ring:?}"),
                        Level::L2 => {
                            assert!(((64 << 10)..=(256 << 10)).contains(&bytes), "{cell}: {ring:?}")
                        }
                        Level::Llc => {
                            assert!(((1 << 20)..=(16 << 20)).contains(&bytes), "{cell}: {ring:?}")
                        }
                        Level::Dram => assert!(bytes <= 1 << 20, "{cell}: {ring:?}"),
                    }
                    assert!(side.level == Level::L1 || ring.pairs <= side.slots);
                }
                // What streams by leaves the warmer side where it is.
                if apart.levels()[1] == Level::L2 && size <= 64 << 10 {
                    assert!(ring.pairs * ring.stride <= 128 << 10, "{cell}: {ring:?}");
                }
            }
        }
    }

    #[test]
    fn pairs_are_of_copies_of_one_size() {
        let state = State::pair(Level::Dram, Level::L1);
        for op in [Op::Zero, Op::Read, Op::Write] {
            let why =
                Ring::plan(&Cell::new(op, 64, state, Drive::Throughput), &LEVELS).unwrap_err();
            assert!(why.contains("dram:l1") && why.contains(op.word()), "{why}");
        }
        let mix = crate::subject::Mix::new("a", 1, 50.0).ok();
        let cell = Cell { mix, ..Cell::new(Op::Copy, 64, state, Drive::Throughput) };
        assert!(Ring::plan(&cell, &LEVELS).unwrap_err().contains("mix"));
    }
}
