//! What a worker measures with, and what measuring itself costs.

use std::sync::Arc;

use rand::Rng;

use super::MeasureError;
use super::driver::{Driver, PassArgs, Ruled, Style, WIDE_CHAINS};
use super::mixed::{MixedArgs, PackedCall};
use crate::host::{FeatureSet, Microarch};
use crate::jit::{Abi, Entry};
use crate::mem::{Arena, Slot};
use crate::subject::Consumer;

/// What the driver takes, in ticks, by drive.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Overhead {
    /// A pass without a call.
    pub(super) pass_ticks: f64,
    /// One call of a function that only returns.
    pub(super) call_ticks: f64,
}

/// Driver, ruler, memory for code, and the clock's figures: one for a worker's life.
pub struct Instruments {
    pub(super) driver: Arc<Driver>,
    arena: Arena,
    features: FeatureSet,
    ticks_per_ns: f64,
    resolution_ticks: u64,
    /// Additions a cycle that the core makes when it is nobody else's: what its design is known
    /// for, or the most that was seen.
    widest: f64,
}

/// Bytes that a function may take of the arena besides its own: gaps before it.
const SLOT_SPARE: usize = 1 << 10;

/// How often the cheap facts about the clock are looked at; the median is taken.
const LOOKS: usize = 64;

/// A pass is at least so many times the clock's resolution: 0.2 %.
const RESOLUTIONS: u64 = 500;

/// A core that makes less than this part of the additions that it could is not all ours. With a
/// busy thread beside it, it makes half; alone, nearly all.
const WHOLE: f64 = 0.75;

impl Instruments {
    /// Generates the driver. `ticks_per_ns`: rate of the time-stamp counter.
    ///
    /// # Errors
    /// Where memory is refused.
    pub fn new(
        features: FeatureSet,
        ticks_per_ns: f64,
        microarch: Microarch,
    ) -> Result<Instruments, MeasureError> {
        let driver = Arc::new(Driver::new(features)?);
        let arena = Arena::new(Arena::DEFAULT_BYTES)?;
        let mut instruments =
            Instruments { driver, arena, features, ticks_per_ns, resolution_ticks: 1, widest: 0.0 };
        let known = microarch.additions_per_cycle().unwrap_or(0).min(WIDE_CHAINS as u32);
        instruments.widest = f64::from(known);
        instruments.resolution_ticks = instruments.resolution();
        Ok(instruments)
    }

    /// Part of these moments in which another thread had much of the core, 0 to 1.
    pub(super) fn shared(&mut self, rulers: &[Ruled]) -> f64 {
        // An interrupt between two rulers can make the one look slow, and so the other wide.
        let possible = |r: &&Ruled| r.additions <= WIDE_CHAINS as f64;
        let seen = rulers.iter().filter(possible).map(|r| r.additions);
        self.widest = seen.fold(self.widest, f64::max);
        let shared = rulers.iter().filter(|r| r.additions < self.widest * WHOLE).count();
        shared as f64 / rulers.len().max(1) as f64
    }

    /// Features of the host.
    pub fn features(&self) -> FeatureSet {
        self.features
    }

    /// Time-stamp ticks a nanosecond.
    pub fn ticks_per_ns(&self) -> f64 {
        self.ticks_per_ns
    }

    /// Ticks that a pass must take for the asked length and the clock's resolution.
    pub(super) fn pass_ticks(&self, pass_ns: u32) -> f64 {
        let asked = f64::from(pass_ns) * self.ticks_per_ns;
        asked.max((self.resolution_ticks * RESOLUTIONS) as f64)
    }

    /// Writes a batch of functions to fresh places. Those of earlier batches are void.
    pub(super) fn emit(
        &mut self,
        codes: &[&[u8]],
        rng: &mut impl Rng,
    ) -> Result<Vec<Slot>, MeasureError> {
        let room = codes.iter().map(|c| c.len() + SLOT_SPARE).sum::<usize>() * 2;
        if room > self.arena.capacity() {
            self.arena = Arena::new(room.next_power_of_two())?;
        }
        Ok(self.arena.emit(codes, rng)?)
    }

    /// The next batch is written from the front on again, to the same places where it is the
    /// same batch.
    pub(super) fn rewind(&mut self) {
        self.arena.rewind();
    }

    /// What the driver itself takes now: medians, about 100 µs. A consumer's part is that of
    /// reading `n` bytes from a near cache.
    pub(super) fn overhead(&self, style: Style, n: usize) -> Overhead {
        let read = if style.consumer == Consumer::Read { n.clamp(1, MOST_READ) } else { 1 };
        let target = vec![0u8; read];
        let at = target.as_ptr() as usize;
        let list = [at, at];
        let list = &list[..if style.apart { 2 } else { 1 }];
        let pass = |calls: u64| {
            let args = PassArgs {
                list: list.as_ptr(),
                list_end: list.as_ptr_range().end,
                calls,
                entry: self.driver.bare_ret(),
                second_mask: 0,
                second_plus: 0,
                third: 0,
                last: read - 1,
            };
            // SAFETY: the function only returns; the list leads to `read` readable bytes.
            let mut ticks: Vec<u64> =
                (0..LOOKS).map(|_| unsafe { self.driver.pass(style, &args) }).collect();
            median(&mut ticks)
        };
        if style.consumer == Consumer::None {
            return overhead_of(pass, FEW_CALLS);
        }
        let Overhead { pass_ticks, call_ticks } = overhead_of(pass, 1);
        Overhead { pass_ticks, call_ticks: call_ticks * n as f64 / read as f64 }
    }

    /// The same of the driver that takes sizes from a list.
    pub(super) fn mixed_overhead(&self, style: Style) -> Overhead {
        let target = [0u8; 64];
        let at = target.as_ptr() as usize;
        let entry = Entry { addr: self.driver.bare_ret(), abi: Abi::Copy };
        let pass = |calls: u64| {
            let call = PackedCall::new(0, 1, 0);
            let list: Vec<PackedCall> = (0..calls).filter_map(|_| call).collect();
            let args = MixedArgs::new(&entry, &list, at, at);
            // SAFETY: the function only returns; the byte that calls lead to is readable.
            let mut ticks: Vec<u64> =
                (0..LOOKS).map(|_| unsafe { self.driver.mixed_pass(style, &args) }).collect();
            median(&mut ticks)
        };
        overhead_of(pass, FEW_CALLS)
    }

    /// The step in which the clock advances, from passes of many lengths.
    fn resolution(&self) -> u64 {
        let target = [0u8; 64];
        let list = [target.as_ptr() as usize];
        let ticks = (0..16 * u64::from(LENGTHS)).map(|i| {
            let args = PassArgs {
                list: list.as_ptr(),
                list_end: list.as_ptr_range().end,
                calls: i % u64::from(LENGTHS),
                entry: self.driver.bare_ret(),
                second_mask: 0,
                second_plus: 0,
                third: 0,
                last: 0,
            };
            // SAFETY: the function only returns; the list has one readable address.
            unsafe { self.driver.pass(Style::PLAIN, &args) }
        });
        step_of(ticks.collect())
    }
}

/// Pass lengths, in calls, by which the clock's step is found: a few ticks apart, over
/// several of the steps that clocks are known to have.
const LENGTHS: u32 = 64;

/// Values nearer than this are one: a step that is no whole number of ticks (a scaled
/// counter) rounds up and down.
const ROUNDING: u64 = 2;

/// The step of a clock that measured things of evenly spread lengths, in ticks: 1 where the
/// values lie close, else the usual distance of the clumps that they form.
pub fn step_of(mut ticks: Vec<u64>) -> u64 {
    ticks.sort_unstable();
    // Interrupted ones stand alone at the end, and say nothing.
    ticks.truncate(ticks.len() * 9 / 10);
    ticks.dedup();
    let mut clumps: Vec<u64> = Vec::new();
    let mut last = None;
    for value in ticks {
        if last.is_none_or(|l| value > l + ROUNDING) {
            clumps.push(value);
        }
        last = Some(value);
    }
    let mut distances: Vec<u64> = clumps.windows(2).map(|w| w[1] - w[0]).collect();
    if distances.is_empty() { 1 } else { median(&mut distances) as u64 }
}

/// Calls of the shorter of two passes of which the driver's part of a call is found.
const FEW_CALLS: u64 = 64;

/// Bytes that are read to find what a consumer takes: more would be told by the place of the
/// bytes, not by the reader.
const MOST_READ: usize = 8 << 10;

/// From what passes take of no call, of `few` and of five times as many.
fn overhead_of(pass: impl Fn(u64) -> f64, few: u64) -> Overhead {
    let pass_ticks = pass(0);
    let more = pass(few * 5) - pass(few);
    Overhead { pass_ticks, call_ticks: (more / (few * 4) as f64).max(0.0) }
}

pub(super) fn median(ticks: &mut [u64]) -> f64 {
    let middle = ticks.len() / 2;
    *ticks.select_nth_unstable(middle).1 as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::subject::Drive;

    #[test]
    fn a_clock_that_jumps_is_seen_and_a_fine_one_believed() {
        let lengths = || (0..2000u64).map(|i| 90 + i * 7 % 320);
        let scaled = |t: u64| (((t as f64) / 24.45).floor() * 24.45) as u64;
        assert!((24..=25).contains(&step_of(lengths().map(scaled).collect())));
        assert_eq!(step_of(lengths().collect()), 1);
        assert_eq!(step_of(lengths().map(|t| t / 2 * 2).collect()), 1, "finer than matters");
        assert_eq!(step_of(lengths().chain([1_000_000, 5_000_000]).collect()), 1);
        assert_eq!(step_of(vec![]), 1);
        assert_eq!(step_of(vec![5; 100]), 1);
    }

    #[test]
    fn instruments_know_themselves() {
        let instruments =
            Instruments::new(FeatureSet::EMPTY, 2.0, Microarch::Unknown).expect("memory is there");
        assert!(instruments.pass_ticks(1_000_000) >= 2e6);
        assert!(instruments.pass_ticks(0) >= RESOLUTIONS as f64);
        for drive in Drive::ALL {
            let style = Style { drive: *drive, ..Style::PLAIN };
            assert!(instruments.overhead(style, 4096).pass_ticks > 0.0);
            assert!(instruments.mixed_overhead(style).pass_ticks > 0.0);
        }
        let reading = Style { consumer: Consumer::Read, ..Style::PLAIN };
        let least = |style, n| {
            let looks = (0..8).map(|_| instruments.overhead(style, n).call_ticks);
            looks.fold(f64::INFINITY, f64::min)
        };
        assert!(least(reading, 1 << 20) > 16.0 * least(reading, 4096));
        assert!(least(reading, 4096) > least(Style::PLAIN, 4096));
    }
}
