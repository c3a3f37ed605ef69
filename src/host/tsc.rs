//! The time-stamp counter: whether it runs steadily, and how fast.
#![allow(unsafe_code, reason = "the counter is read by an instruction, the clock by a call")]

use raw_cpuid::CpuIdReader;
use serde::{Deserialize, Serialize};

use super::cpuid::Leaves;

/// The time-stamp counter.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tsc {
    /// Whether it runs at one rate in every power state, as CPUID promises.
    pub invariant: bool,
    /// Ticks a second as CPUID tells, where it does and the number can be true.
    pub told_hz: Option<f64>,
    /// Ticks a second as measured against the system's raw monotonic clock.
    pub calibrated_hz: f64,
    /// Relative spread (largest over smallest, minus one) of the middle half of the
    /// measurements: how far the calibration may be believed.
    pub spread: f64,
}

impl Tsc {
    /// Reads what is told and measures; 20 ms. `rdtscp` is whether that instruction exists:
    /// unlike the plain one it waits for what stands before it.
    pub(crate) fn read<R: CpuIdReader>(cpuid: &Leaves<R>, rdtscp: bool) -> Tsc {
        let invariant = cpuid.leaf(0x8000_0007, 0).edx >> 8 & 1 == 1;
        let (calibrated_hz, spread) = calibrate(|| reading(rdtscp));
        Tsc { invariant, told_hz: told_hz(cpuid), calibrated_hz, spread }
    }

    /// Nanoseconds of a number of ticks.
    pub fn ns(&self, ticks: f64) -> f64 {
        ticks * 1e9 / self.calibrated_hz
    }
}

/// Counters run between these rates; anything else that is told is a slip.
const SANE_HZ: std::ops::RangeInclusive<f64> = 1e8..=1e10;

/// Leaves 15h and 16h of Intel, or what a hypervisor tells of its guest's counter.
fn told_hz<R: CpuIdReader>(cpuid: &Leaves<R>) -> Option<f64> {
    let ratio = cpuid.leaf(0x15, 0);
    let by_crystal = match (ratio.eax, ratio.ebx, ratio.ecx) {
        (0, _, _) | (_, 0, _) => None,
        // the crystal's rate is not told; the counter then runs at the base rate in MHz
        (_, _, 0) => Some(f64::from(cpuid.leaf(0x16, 0).eax & 0xffff) * 1e6),
        (below, above, hz) => Some(f64::from(hz) * f64::from(above) / f64::from(below)),
    };
    let by_hypervisor = || f64::from(cpuid.leaf(0x4000_0010, 0).eax) * 1e3;
    let sane = |hz: &f64| SANE_HZ.contains(hz);
    by_crystal.filter(sane).or_else(|| Some(by_hypervisor()).filter(sane))
}

/// One look at both clocks: ticks, nanoseconds.
type Reading = (u64, u64);

/// Intervals of the calibration: many short ones, so that a disturbed one is outvoted.
const INTERVALS: usize = 10;
/// Length of one, nanoseconds: the clocks are read to some 50 ns, so each is good to 5e-5.
const INTERVAL_NS: u64 = 2_000_000;

/// Ticks a second, and the spread; from a source of readings that takes its own time.
fn calibrate(mut read: impl FnMut() -> Reading) -> (f64, f64) {
    let mut rates = Vec::with_capacity(INTERVALS);
    for _ in 0..INTERVALS {
        let first = read();
        let mut last = read();
        while last.1.saturating_sub(first.1) < INTERVAL_NS {
            std::hint::spin_loop();
            last = read();
        }
        let ticks = last.0.wrapping_sub(first.0) as f64;
        rates.push(ticks * 1e9 / (last.1 - first.1) as f64);
    }
    rates.sort_by(f64::total_cmp);
    let middle = |at: usize| rates[at];
    let median = (middle(INTERVALS / 2 - 1) + middle(INTERVALS / 2)) / 2.0;
    (median, middle(3 * INTERVALS / 4) / middle(INTERVALS / 4) - 1.0)
}

/// The clock between two looks at the counter, of three tries the one that took least: a
/// reading that was interrupted between the two is wrong by the interruption.
fn reading(rdtscp: bool) -> Reading {
    let once = || {
        let before = ticks(rdtscp);
        let ns = raw_monotonic_ns();
        let took = ticks(rdtscp).wrapping_sub(before);
        (took, (before.wrapping_add(took / 2), ns))
    };
    let tries = [once(), once(), once()];
    let least = tries.iter().min_by_key(|(took, _)| *took);
    least.expect("three tries were made").1
}

fn ticks(rdtscp: bool) -> u64 {
    if rdtscp {
        let mut cpu = 0;
        // SAFETY: the caller has it from CPUID that the instruction exists.
        unsafe { std::arch::x86_64::__rdtscp(&mut cpu) }
    } else {
        // SAFETY: every x86-64 processor has the instruction.
        unsafe { std::arch::x86_64::_rdtsc() }
    }
}

/// The system's monotonic clock as the hardware runs, untouched by time servers.
fn raw_monotonic_ns() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to `time`; this clock exists in every Linux since 2.6.28.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC_RAW, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

#[cfg(test)]
mod tests {
    use super::super::cpuid::script::{Row, machine, vendor};
    use super::*;

    #[test]
    fn calibration_survives_a_disturbed_interval() {
        // 2.5 ticks a nanosecond; one reading in twenty comes 3 ms of ticks late
        let mut n = 0_u64;
        let (hz, spread) = calibrate(|| {
            n += 1;
            let ns = n * 1_100_000;
            let late = if n.is_multiple_of(20) { 7_500_000 } else { 0 };
            (ns * 5 / 2 + late, ns)
        });
        assert_eq!(hz, 2.5e9);
        assert_eq!(spread, 0.0);
    }

    #[test]
    fn two_measurements_agree() {
        let read = || calibrate(|| reading(false)).0;
        let (a, b) = (read(), read());
        // the other core may be busy: an eighth tells a right reading from a wrong unit
        assert!((a / b - 1.0).abs() < 0.125, "{a} {b}");
        assert!(SANE_HZ.contains(&a), "{a}");
    }

    #[test]
    fn told_rates_are_judged() {
        let told = |rows: &[Row]| {
            let mut all = vec![vendor("GenuineIntel", 0x16), ((1, 0), [0; 4])];
            all.extend_from_slice(rows);
            told_hz(&machine(&all))
        };
        let base = ((0x16, 0), [2100, 3800, 100, 0]);
        assert_eq!(told(&[((0x15, 0), [2, 168, 25_000_000, 0]), base]), Some(2.1e9));
        assert_eq!(told(&[((0x15, 0), [2, 176, 0, 0]), base]), Some(2.1e9));
        assert_eq!(told(&[((0x15, 0), [0, 0, 0, 0]), base]), None);
        assert_eq!(told(&[((0x15, 0), [1, u32::MAX, u32::MAX, 0]), base]), None);
        assert_eq!(told(&[((0x15, 0), [2, 176, 0, 0]), ((0x16, 0), [0; 4])]), None);
    }
}
