//! Making the state of a cell anew, the same way before every timed pass, whatever ran
//! before. Untimed.

use std::arch::{asm, x86_64 as arch};
use std::hint::black_box;

use super::apart::Apart;
use super::buffers::{Pair, Rig};
use super::without;
use crate::host::{Feature, FeatureSet};
use crate::subject::Level;
use crate::trial::{Countermeasure, Without};

const LINE: usize = 64;
pub(super) const PAGE: usize = 4096;

/// Passes that settle a ring in its level. One write pass leaves traces of what ran before
/// (non-temporal stores threefold); after three hardly any are seen on a quiet machine, and on a
/// busy one the rest of a per cent goes with a few more, which are cheap beside the flush.
const SETTLING_PASSES: usize = 8;

/// Touches that bring lines into the first level and keep them there.
const L1_PASSES: usize = 2;

/// Makes the state for a pass that visits the first `visits` pairs. The same whoever ran
/// before: what does not look at the predecessor cannot tell it on.
pub(super) fn prime(rig: &Rig, visits: u32, features: FeatureSet, without: Without) {
    let visited = || rig.visits().take(visits as usize);
    if without::primes(rig, visited(), without) {
        return;
    }
    match rig.level() {
        Some(Level::L1) => {
            for _ in 0..L1_PASSES {
                visited().for_each(|pair| write_and_read(pair, rig.span()));
            }
        }
        Some(Level::L2 | Level::Llc) => {
            flush(rig.visits().flat_map(both), rig.span(), features);
            for _ in 0..SETTLING_PASSES {
                rig.visits().for_each(|pair| write_and_read(pair, rig.span()));
            }
        }
        Some(Level::Dram) => {
            if let Some((start, bytes)) = rig.debt() {
                (start..start + bytes).step_by(LINE).for_each(write);
            }
            // Pages that must not be there yet have no translation and no lines.
            let fresh = rig.is_fresh();
            let buffers = || visited().flat_map(both).filter(move |b| !(fresh && b.written));
            // Translations first: the touch may hit a line of a buffer, and the flush takes
            // that away again.
            buffers().for_each(|buffer| touch_pages(buffer.start, rig.span()));
            flush(buffers(), rig.span(), features);
            if without.leaves_off(Countermeasure::FarTouch) {
                buffers().for_each(|buffer| without::touch_near(buffer.start, rig.span()));
            }
        }
        None => {}
    }
}

/// The side of a state of two levels that is farther from the core. It is primed first: its
/// lines would push those of the other out, and a flush takes only the lines it is told of.
pub(super) struct Colder<'a> {
    rig: &'a Rig,
    levels: [Level; 2],
    /// Whether it is the destination.
    is_dst: bool,
    visits: usize,
    dst_stays: bool,
    features: FeatureSet,
    without: Without,
}

impl<'a> Colder<'a> {
    /// For a pass of so many calls; `dst_stays`: all of them on the first destination.
    pub(super) fn of(
        rig: &'a Rig,
        apart: &Apart,
        (visits, dst_stays): (u32, bool),
        features: FeatureSet,
        without: Without,
    ) -> Colder<'a> {
        let is_dst = apart.dst.level > apart.src.level;
        let visits = visits as usize;
        Colder { rig, levels: apart.levels(), is_dst, visits, dst_stays, features, without }
    }

    /// Primes it.
    pub(super) fn prime(&self) {
        self.side(self.levels[0], self.is_dst);
    }

    /// Primes the warmer side.
    pub(super) fn prime_the_other(&self) {
        self.side(self.levels[1], !self.is_dst);
    }

    fn side(&self, level: Level, written: bool) {
        let Colder { rig, features, without, .. } = *self;
        if written && without.leaves_off(Countermeasure::Prefault) {
            return;
        }
        let slots = if written { rig.destinations() } else { rig.sources() };
        let stays = if written { self.dst_stays } else { level == Level::L1 };
        let visited = &slots[..if stays { 1 } else { self.visits.min(slots.len()) }];
        let size = rig.span();
        let touch = |slots: &[usize]| {
            let touch = if written { write } else { read };
            slots.iter().for_each(|start| lines(*start, size).for_each(touch));
        };
        let buffers = |slots: &'a [usize]| slots.iter().map(move |s| Buffer { start: *s, written });
        match level {
            Level::L1 => (0..L1_PASSES).for_each(|_| touch(visited)),
            Level::L2 | Level::Llc if without.leaves_off(Countermeasure::Settle) => touch(slots),
            Level::L2 | Level::Llc => {
                flush(buffers(slots), size, features);
                (0..SETTLING_PASSES).for_each(|_| touch(slots));
            }
            Level::Dram if written && rig.is_fresh() => {}
            Level::Dram => {
                visited.iter().for_each(|start| touch_pages(*start, size));
                flush(buffers(visited), size, features);
                if without.leaves_off(Countermeasure::FarTouch) {
                    visited.iter().for_each(|start| without::touch_near(*start, size));
                }
            }
        }
    }
}

/// Makes the first level's state for calls of a mix that must not repeat on one pair: of each
/// call the lines that it touches. Whole pairs would be many times as many, and this is done
/// before every few calls.
pub(super) fn prime_near(calls: impl Iterator<Item = (Pair, usize)> + Clone) {
    for _ in 0..L1_PASSES {
        calls.clone().for_each(|(pair, n)| write_and_read(pair, n));
    }
}

/// Brings the driver's list into the first level: it is the driver's, not the state's.
pub(super) fn touch_list<T: Copy>(list: &[T]) {
    list.iter().step_by(LINE / size_of::<T>()).for_each(|entry| {
        black_box(*entry);
    });
}

/// Addresses of the lines that a buffer touches.
pub(super) fn lines(start: usize, size: usize) -> impl Iterator<Item = usize> {
    (start / LINE * LINE..start + size).step_by(LINE)
}

/// A buffer of a call.
#[derive(Clone, Copy)]
struct Buffer {
    start: usize,
    /// Whether it is a destination.
    written: bool,
}

/// The buffers of a pair.
fn both(pair: Pair) -> impl Iterator<Item = Buffer> {
    let src = pair.src.map(|start| Buffer { start, written: false });
    [Some(Buffer { start: pair.dst, written: true }), src].into_iter().flatten()
}

/// Writes to a line of a destination, or of what fills the caches.
fn write(line: usize) {
    // SAFETY: the line holds a byte of a buffer that may be written, so it lies inside the rig's
    // map, whose pages are whole lines, and nobody else looks at the map meanwhile. Never
    // zero, so that zeroing changes something.
    unsafe { (line as *mut usize).write_volatile(line | 1) };
}

/// Reads a line of a buffer.
pub(super) fn read(line: usize) {
    // SAFETY: the line holds a byte of a buffer, so it lies inside the rig's map, whose pages
    // are whole lines.
    black_box(unsafe { (line as *const u64).read_volatile() });
}

pub(super) fn write_and_read(pair: Pair, size: usize) {
    lines(pair.dst, size).for_each(write);
    pair.src.into_iter().flat_map(|src| lines(src, size)).for_each(read);
}

fn touch_pages(start: usize, size: usize) {
    // The first line of each page that holds a byte of a buffer; maps are whole pages.
    (start / PAGE * PAGE..start + size).step_by(PAGE).for_each(read);
}

/// Flushes every line of the buffers, and every page's first, from all caches.
fn flush(buffers: impl Iterator<Item = Buffer>, size: usize, features: FeatureSet) {
    let optimised = features.contains(Feature::Clflushopt);
    for buffer in buffers {
        for line in lines(buffer.start, size) {
            // SAFETY: flushing a line of live memory changes no content; `clflushopt` is
            // used only where the processor has it, `clflush` came with SSE2.
            unsafe {
                if optimised {
                    asm!("clflushopt [{}]", in(reg) line, options(nostack, preserves_flags));
                } else {
                    arch::_mm_clflush(line as *const u8);
                }
            }
        }
    }
    // SAFETY: a fence touches no memory.
    unsafe { arch::_mm_mfence() };
}
