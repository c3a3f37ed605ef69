//! Making the state of a cell anew, the same way before every timed pass, whatever ran
//! before. Untimed.

use std::arch::{asm, x86_64 as arch};
use std::hint::black_box;

use super::buffers::{Pair, Rig};
use crate::host::{Feature, FeatureSet};
use crate::subject::Level;

const LINE: usize = 64;
const PAGE: usize = 4096;

/// Passes that settle a ring in its level. One write pass leaves traces of what ran before
/// (non-temporal stores threefold); after three hardly any are seen on a quiet machine, and on a
/// busy one the rest of a per cent goes with a few more, which are cheap beside the flush.
const SETTLING_PASSES: usize = 8;

/// Touches that bring lines into the first level and keep them there.
const L1_PASSES: usize = 2;

/// Makes the state for a pass that visits the first `visits` pairs. The same whoever ran
/// before: what does not look at the predecessor cannot tell it on.
pub(super) fn prime(rig: &Rig, visits: u32, features: FeatureSet) {
    let visited = || rig.visits().take(visits as usize);
    match rig.level() {
        Level::L1 => {
            for _ in 0..L1_PASSES {
                visited().for_each(|pair| write_and_read(pair, rig.span()));
            }
        }
        Level::L2 | Level::Llc => {
            flush(rig.visits(), rig.span(), features);
            for _ in 0..SETTLING_PASSES {
                rig.visits().for_each(|pair| write_and_read(pair, rig.span()));
            }
        }
        Level::Dram => {
            // Translations first: the touch may hit a line of a buffer, and the flush takes
            // that away again.
            visited().for_each(|pair| touch_pages(pair, rig.span()));
            flush(visited(), rig.span(), features);
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
fn lines(start: usize, size: usize) -> impl Iterator<Item = usize> {
    (start / LINE * LINE..start + size).step_by(LINE)
}

fn write_and_read(pair: Pair, size: usize) {
    for line in lines(pair.dst, size) {
        // SAFETY: the line holds a byte of a destination, so it lies inside the rig's map,
        // whose pages are whole lines, and nobody else looks at the map meanwhile. Never
        // zero, so that zeroing changes something.
        unsafe { (line as *mut usize).write_volatile(line | 1) };
    }
    for line in pair.src.into_iter().flat_map(|src| lines(src, size)) {
        // SAFETY: as above, for the source's map, which is only read.
        black_box(unsafe { (line as *const u64).read_volatile() });
    }
}

fn touch_pages(pair: Pair, size: usize) {
    for start in [Some(pair.dst), pair.src].into_iter().flatten() {
        for page in (start / PAGE * PAGE..start + size).step_by(PAGE) {
            // SAFETY: the page holds a byte of a buffer; maps are whole pages.
            black_box(unsafe { (page as *const u64).read_volatile() });
        }
    }
}

/// Flushes every line of the pairs, and every page's first, from all caches.
fn flush(pairs: impl Iterator<Item = Pair>, size: usize, features: FeatureSet) {
    let optimised = features.contains(Feature::Clflushopt);
    for pair in pairs {
        for start in [Some(pair.dst), pair.src].into_iter().flatten() {
            for line in lines(start, size) {
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
    }
    // SAFETY: a fence touches no memory.
    unsafe { arch::_mm_mfence() };
}
