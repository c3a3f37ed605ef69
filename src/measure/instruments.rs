//! What a worker measures with, and what measuring itself costs.

use rand::Rng;

use super::MeasureError;
use super::driver::{Driver, PassArgs};
use crate::host::FeatureSet;
use crate::mem::{Arena, Slot};
use crate::subject::Drive;

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
    pub(super) driver: Driver,
    arena: Arena,
    features: FeatureSet,
    ticks_per_ns: f64,
    resolution_ticks: u64,
}

/// How often the cheap facts about the clock are looked at; the median is taken.
const LOOKS: usize = 64;

/// A pass is at least so many times the clock's resolution: 0.2 %.
const RESOLUTIONS: u64 = 500;

impl Instruments {
    /// Generates the driver. `ticks_per_ns`: rate of the time-stamp counter.
    ///
    /// # Errors
    /// Where memory is refused.
    pub fn new(features: FeatureSet, ticks_per_ns: f64) -> Result<Instruments, MeasureError> {
        let driver = Driver::new(features)?;
        let arena = Arena::new(Arena::DEFAULT_BYTES)?;
        let mut instruments =
            Instruments { driver, arena, features, ticks_per_ns, resolution_ticks: 1 };
        instruments.resolution_ticks = instruments.resolution();
        Ok(instruments)
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

    /// Writes a batch of functions to fresh places.
    pub(super) fn emit(
        &mut self,
        codes: &[&[u8]],
        rng: &mut impl Rng,
    ) -> Result<Vec<Slot>, MeasureError> {
        Ok(self.arena.emit(codes, rng)?)
    }

    /// What the driver itself takes now: medians, about 100 µs.
    pub(super) fn overhead(&self, drive: Drive) -> Overhead {
        let target = [0u8; 64];
        let list = [target.as_ptr() as usize];
        let pass = |calls: u64| {
            let args = PassArgs {
                list: list.as_ptr(),
                list_end: list.as_ptr_range().end,
                calls,
                entry: self.driver.bare_ret(),
                second_mask: 0,
                second_plus: 0,
                third: 0,
                last: 0,
            };
            // SAFETY: the function only returns; the list has one readable address.
            let mut ticks: Vec<u64> =
                (0..LOOKS).map(|_| unsafe { self.driver.pass(drive, &args) }).collect();
            median(&mut ticks)
        };
        let empty = pass(0);
        let (few, many) = (pass(64), pass(320));
        Overhead { pass_ticks: empty, call_ticks: ((many - few) / 256.0).max(0.0) }
    }

    /// The smallest step of the clock that passes of slightly different lengths show.
    fn resolution(&self) -> u64 {
        let args = |calls| PassArgs {
            list: std::ptr::null(),
            list_end: std::ptr::null(),
            calls,
            entry: self.driver.bare_ret(),
            second_mask: 0,
            second_plus: 0,
            third: 0,
            last: 0,
        };
        // SAFETY: a pass without a call reads no list.
        let ticks: Vec<u64> =
            (0..256).map(|_| unsafe { self.driver.pass(Drive::Throughput, &args(0)) }).collect();
        // The counter may advance in steps: differences are then multiples of the step.
        ticks.windows(2).map(|w| w[0].abs_diff(w[1])).fold(0, gcd).max(1)
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

pub(super) fn median(ticks: &mut [u64]) -> f64 {
    let middle = ticks.len() / 2;
    *ticks.select_nth_unstable(middle).1 as f64
}
