//! The chase itself: every line of a footprint holds the address of the next, in one random
//! cycle, so that a hop waits for the one before and nothing can be fetched ahead.

use std::arch::{asm, x86_64 as arch};
use std::time::{Duration, Instant};

use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::survey::{MOST, Probe, survey};
use super::{Edges, Thoroughness};
use crate::measure::MeasureError;
use crate::measure::instruments::median;
use crate::measure::ring::Levels;
use crate::mem::{Map, SharedPage};

const LINE: usize = 64;
const PAGE: usize = 4096;

/// Hops of a timed round: a hundred thousand cycles of memory, two thousand times the fences.
const HOPS: usize = 2048;

/// Lines whose flushed latency is memory's: in few pages, so that translations are there.
const FLUSHED: usize = 512;

/// Hops between two looks at the clock.
const LEG: usize = 16 << 10;

/// What a survey may take.
fn time(how: Thoroughness) -> Duration {
    match how {
        Thoroughness::Quick => Duration::from_millis(250),
        Thoroughness::Thorough => Duration::from_millis(2000),
    }
}

/// Timed rounds of one chase: the fastest counts, since what disturbs only adds.
const ROUNDS: usize = 3;

/// How often a chase through so many bytes is set up anew.
fn set_ups(how: Thoroughness, bytes: usize) -> usize {
    match how {
        // Large footprints are even over pages, and dear.
        _ if bytes > LARGE => 1,
        Thoroughness::Quick if bytes < SHARED => 1,
        Thoroughness::Quick => 2,
        Thoroughness::Thorough => 3,
    }
}

/// From here on a footprint may be in a cache that other cores use too, and a neighbour's burst
/// takes it away: the fastest set-up counts. Below, where the pages fall decides which lines
/// stand in each other's way, and the median does.
const SHARED: usize = 768 << 10;

/// Measures where the caches end for the CPU that this thread is on. `told` chooses where steps
/// are fine, no more. `shared` gets a beat now and then.
///
/// # Errors
/// Where memory is refused, or huge pages back it although small ones were asked for: their
/// latencies would be of another machine than the one whose states are made.
pub fn measure_edges(
    told: &Levels,
    how: Thoroughness,
    ticks_per_ns: f64,
    shared: Option<&SharedPage>,
) -> Result<Edges, MeasureError> {
    let mut chase = Chase::new(how, ticks_per_ns, shared)?;
    let edges = survey(&mut chase, told, how);
    match chase.map.huge_bytes() {
        Some(bytes) if bytes > 0 => Err(MeasureError::HugePages { bytes }),
        _ => Ok(edges),
    }
}

struct Chase<'a> {
    map: Map,
    /// Bytes of the map that have been touched.
    touched: usize,
    rng: ChaCha8Rng,
    until: Instant,
    how: Thoroughness,
    ticks_per_ns: f64,
    shared: Option<&'a SharedPage>,
}

impl<'a> Chase<'a> {
    fn new(
        how: Thoroughness,
        ticks_per_ns: f64,
        shared: Option<&'a SharedPage>,
    ) -> Result<Chase<'a>, MeasureError> {
        let mut map = Map::new(MOST as usize)?;
        map.advise_no_huge()?;
        // The same order each time: nothing here is to be found by luck.
        let rng = ChaCha8Rng::seed_from_u64(0);
        let until = Instant::now() + time(how);
        Ok(Chase { map, touched: 0, rng, until, how, ticks_per_ns, shared })
    }

    fn late(&self) -> bool {
        self.shared.inspect(|s| s.beat());
        Instant::now() >= self.until
    }

    /// Touches the map up to `end`. Every page another one: an untouched page is the zero page.
    fn touch(&mut self, end: usize) -> Option<()> {
        while self.touched < end {
            if self.late() {
                return None;
            }
            let to = (self.touched + (1 << 20)).min(self.map.len());
            for page in (self.touched..to).step_by(PAGE) {
                self.map.bytes_mut()[page] = 1;
            }
            self.touched = to;
        }
        Some(())
    }

    /// Nanoseconds a hop through `count` lines that stand `stride` bytes apart, `start` bytes
    /// into the map; each line of a page at another place of it where `spread`.
    fn hop_ns(&mut self, start: usize, count: usize, stride: usize, spread: bool) -> Option<f64> {
        let count = count.max(2);
        self.touch(start + count * stride)?;
        let place =
            |i: usize| start + i * stride + if spread { i % (PAGE / LINE) * LINE } else { 0 };
        let base = self.map.as_ptr().expose_provenance();
        let order = cycle(count, &mut self.rng);
        for (i, next) in order.iter().enumerate() {
            let at = place(i);
            let next = (base + place(*next as usize)).to_ne_bytes();
            self.map.bytes_mut()[at..at + next.len()].copy_from_slice(&next);
        }
        let mut at = base + place(0);
        // Once round, so that what a cache can keep it has.
        let mut left = count.next_multiple_of(2);
        while left > 0 {
            let leg = left.min(LEG);
            at = walk(&self.map, at, leg).1;
            left -= leg;
            if self.late() {
                return None;
            }
        }
        let mut fastest = u64::MAX;
        for _ in 0..ROUNDS {
            let (taken, end) = walk(&self.map, at, HOPS);
            fastest = fastest.min(taken);
            at = end;
        }
        Some(fastest as f64 / HOPS as f64 / self.ticks_per_ns)
    }

    /// What counts of several set-ups on other pages.
    fn over_pages(
        &mut self,
        bytes: usize,
        mut once: impl FnMut(&mut Self, usize) -> Option<f64>,
    ) -> Option<f64> {
        let times = set_ups(self.how, bytes);
        let room = (self.map.len() - bytes.min(self.map.len())) / PAGE;
        let mut all = Vec::with_capacity(times);
        for i in 0..times {
            let start = i * bytes.next_multiple_of(PAGE) / PAGE;
            all.push(once(self, start.min(room) * PAGE)?);
        }
        match bytes < SHARED {
            true => Some(crate::stats::median(&mut all)),
            false => all.into_iter().reduce(f64::min),
        }
    }
}

const LARGE: usize = 4 << 20;

impl Probe for Chase<'_> {
    fn lines(&mut self, bytes: u64) -> Option<f64> {
        let bytes = bytes as usize;
        self.over_pages(bytes, |chase, start| chase.hop_ns(start, bytes / LINE, LINE, false))
    }

    fn pages(&mut self, pages: u64) -> Option<f64> {
        let pages = pages as usize;
        self.over_pages(pages * PAGE, |chase, start| chase.hop_ns(start, pages, PAGE, true))
    }

    fn memory(&mut self) -> Option<f64> {
        let bytes = FLUSHED * LINE;
        // Sets up the chain; its time is of no interest.
        self.hop_ns(0, FLUSHED, LINE, false)?;
        let base = self.map.as_ptr().expose_provenance();
        let mut ticks = Vec::new();
        for _ in 0..5 {
            for line in self.map.bytes()[..bytes].chunks(LINE) {
                // SAFETY: flushing a line of live memory changes no content; every x86-64
                // processor has `clflush`.
                unsafe { arch::_mm_clflush(line.as_ptr()) };
            }
            // SAFETY: a fence touches no memory.
            unsafe { arch::_mm_mfence() };
            ticks.push(walk(&self.map, base, FLUSHED).0);
        }
        Some(median(&mut ticks) / FLUSHED as f64 / self.ticks_per_ns)
    }
}

/// A random order in which `count` places are one cycle: each entry is the place after its own.
fn cycle(count: usize, rng: &mut impl Rng) -> Vec<u32> {
    let mut next: Vec<u32> = (0..count as u32).collect();
    // Each is exchanged with one before it, never with itself: Sattolo's way to one cycle.
    for i in (1..count).rev() {
        next.swap(i, rng.random_range(0..i));
    }
    next
}

/// Makes hops through a chain in the map; ticks, and the address it ends at.
fn walk(map: &Map, from: usize, hops: usize) -> (u64, usize) {
    let inside = map.as_ptr().addr()..map.as_ptr().addr() + map.len() - size_of::<usize>();
    assert!(inside.contains(&from) && hops > 0, "chains stay inside their map");
    let mut at = from;
    let (begin, end): (u64, u64);
    // SAFETY: reads only. `from` lies inside the map (asserted), and every word that a hop reads
    // was written by `hop_ns` as an address of another such word of the same map, which lives as
    // long as it is borrowed. `rdtsc` and fences change rax and rdx only, which are named.
    unsafe {
        asm!(
            "mfence",
            "lfence",
            "rdtsc",
            "lfence",
            "shl rdx, 32",
            "or rax, rdx",
            "mov {begin}, rax",
            "2:",
            "mov {at}, [{at}]",
            "dec {hops}",
            "jnz 2b",
            "lfence",
            "rdtsc",
            "lfence",
            "shl rdx, 32",
            "or rax, rdx",
            begin = out(reg) begin,
            at = inout(reg) at,
            hops = inout(reg) hops => _,
            out("rax") end,
            out("rdx") _,
            options(nostack, readonly),
        );
    }
    (end.saturating_sub(begin), at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cycle_visits_every_place_once() {
        let mut rng = ChaCha8Rng::seed_from_u64(7);
        for count in [1, 2, 3, 64, 1000] {
            let next = cycle(count, &mut rng);
            let mut at = 0;
            let mut seen = vec![false; count];
            for _ in 0..count {
                assert!(!std::mem::replace(&mut seen[at], true), "{count}: twice at {at}");
                at = next[at] as usize;
            }
            assert_eq!(at, 0, "{count}");
        }
    }

    #[test]
    fn a_chase_gives_latencies_and_keeps_to_its_time() {
        let began = Instant::now();
        let mut chase = Chase::new(Thoroughness::Quick, 2.0, None).expect("64 MiB of addresses");
        let near = chase.lines(8 << 10).expect("time is there");
        let far = chase.memory().expect("time is there");
        assert!(near > 0.0 && far > near, "{near} {far}");
        assert!(chase.pages(70).expect("time is there") > 0.0);
        chase.until = began;
        assert_eq!(chase.lines(1 << 20), None);
    }

    #[test]
    fn the_smallest_and_the_largest_footprint_fit_the_map() {
        let mut chase = Chase::new(Thoroughness::Thorough, 2.0, None).expect("addresses");
        for bytes in [0, 64, 4096, LARGE as u64 + 64] {
            assert!(chase.lines(bytes).is_some());
        }
        assert!(chase.pages(1).is_some());
        assert!(chase.pages(MOST / PAGE as u64).is_some());
    }
}
