//! What contests say whose outcome is known: pure.

use crate::stats::{Interval, Paired, Share, Verdict, median, surer};
use crate::trial::Sample;

/// Part of the contests that must find a difference before it counts as one that can be seen.
const OF_CONTESTS: f64 = 0.95;

/// Log time of one member over another's, block by block.
pub(super) fn paired(samples: &[Sample], member: u32, against: u32) -> Paired {
    let mut paired = Paired::new();
    for block in samples.chunk_by(|a, b| (a.layout, a.block) == (b.layout, b.block)) {
        let log = |m: u32| block.iter().find(|s| s.member == m).map(log_ticks);
        if let (Some(a), Some(b)) = (log(member), log(against)) {
            paired.push(u64::from(block[0].layout), a - b);
        }
    }
    paired
}

/// ln of gross ticks a call.
pub(super) fn log_ticks(sample: &Sample) -> f64 {
    (sample.ticks as f64 / f64::from(sample.calls)).ln()
}

/// Contests of a loop against itself that had a winner.
pub(super) fn false_wins(intervals: &[Interval], band: f64) -> Share {
    Share::count(intervals.iter().map(|i| {
        let verdict = Verdict::of_time_ratio(i.exp().ends(), band);
        matches!(verdict, Verdict::Faster | Verdict::Slower)
    }))
}

/// Contests that saw that the second is slower, however little. (The verdict calls what lies
/// within its band a tie; that a plant of half a per cent is there is seen all the same.)
pub(super) fn found(intervals: &[Interval]) -> Share {
    Share::count(intervals.iter().map(|i| surer((i.low, i.high)).0 > 0.0))
}

/// The smallest difference, as a fraction, that 95 of 100 contests like these would see, by
/// contests of a loop against itself. A difference d moves an interval by ln(1 + d), so it is
/// seen by those whose lower end (of the interval that verdicts go by) lies above −ln(1 + d); and as seldom does a contest between
/// equals show a difference that large. `None` without contests.
pub fn believable(intervals: &[Interval]) -> Option<f64> {
    let ends = intervals.iter().map(|i| surer((i.low, i.high)));
    let mut wanted: Vec<f64> = ends.flat_map(|(low, high)| [-low, high]).collect();
    if wanted.is_empty() {
        return None;
    }
    wanted.sort_unstable_by(f64::total_cmp);
    let at = ((wanted.len() - 1) as f64 * OF_CONTESTS).ceil() as usize;
    Some(wanted[at].max(0.0).exp_m1())
}

/// How far the machine moved while it was measured.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Drift {
    /// Core cycles a time-stamp tick: the least and the most of the contests.
    pub clock: (f64, f64),
    /// Time of one and the same loop: the slowest tenth of the run over the fastest, minus one.
    pub sentinel: f64,
}

/// Parts of a run whose medians tell of drift.
const PARTS: usize = 10;

/// From each contest's cycles a tick, and its ln time of the sentinel, in order of time.
pub(super) fn drift(contests: &[(f64, f64)]) -> Drift {
    if contests.is_empty() {
        return Drift::default();
    }
    let clocks = || contests.iter().map(|c| c.0);
    let least = |values: &mut dyn Iterator<Item = f64>| values.fold(f64::INFINITY, f64::min);
    let most = |values: &mut dyn Iterator<Item = f64>| values.fold(f64::NEG_INFINITY, f64::max);
    let length = contests.len().div_ceil(PARTS);
    let of_part = |part: &[(f64, f64)]| {
        let mut logs: Vec<f64> = part.iter().map(|c| c.1).collect();
        median(&mut logs)
    };
    let medians: Vec<f64> = contests.chunks(length).map(of_part).collect();
    let spread = most(&mut medians.iter().copied()) - least(&mut medians.iter().copied());
    Drift { clock: (least(&mut clocks()), most(&mut clocks())), sentinel: spread.exp_m1() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interval(estimate: f64, half: f64) -> Interval {
        Interval { estimate, low: estimate - half, high: estimate + half, p: 1.0 }
    }

    #[test]
    fn what_is_believed_is_what_95_of_100_would_see() {
        // Estimates spread evenly over ±1 %, each with an interval of ±1 %.
        let all: Vec<Interval> =
            (0..=100).map(|i| interval(f64::from(i - 50) * 2e-4, 0.01)).collect();
        let x = believable(&all).unwrap();
        let seen = |d: f64| {
            let d = d.ln_1p();
            let moved = all.iter().map(|i| Interval { low: i.low + d, high: i.high + d, ..*i });
            found(&moved.collect::<Vec<_>>()).rate()
        };
        assert!(seen(x * 1.01) >= 0.94 && seen(x * 0.95) < 0.96, "{x}: {}", seen(x));
        assert!((x - 0.0203).abs() < 0.001, "{x}");
        assert_eq!(believable(&[]), None);
    }

    #[test]
    fn a_winner_between_equals_is_counted_and_a_tie_is_not() {
        // Excludes 1 but lies within the band; excludes 1 and leaves it; includes 1.
        let all = [interval(0.005, 0.002), interval(0.02, 0.005), interval(0.0, 0.03)];
        assert_eq!(false_wins(&all, 0.01), Share { hits: 1, of: 3 });
        assert_eq!(found(&all), Share { hits: 2, of: 3 });
    }

    #[test]
    fn a_clock_and_a_loop_that_move_are_seen() {
        let still: Vec<_> = (0..40).map(|i| (2.0, 5.0 + f64::from(i % 4) * 1e-3)).collect();
        assert!(drift(&still).sentinel < 0.003);
        let moving: Vec<_> =
            (0..40).map(|i| (2.0 - f64::from(i) * 0.01, 5.0 + f64::from(i) * 1e-3)).collect();
        let found = drift(&moving);
        assert!((found.sentinel - 0.036).abs() < 0.002, "{found:?}");
        assert!((found.clock.0 - 1.61).abs() < 1e-9 && found.clock.1 == 2.0, "{found:?}");
        assert_eq!(drift(&[]), Drift::default());
    }

    #[test]
    fn pairs_are_of_one_block() {
        let sample = |member, layout, block, ticks| Sample {
            member,
            layout,
            block,
            ticks,
            calls: 10,
            disturbance: Default::default(),
            thread: 0,
        };
        let samples =
            [sample(1, 0, 0, 200), sample(0, 0, 0, 100), sample(0, 0, 1, 50), sample(0, 1, 0, 9)];
        let paired = paired(&samples, 1, 0);
        assert_eq!(paired.len(), 1);
        assert!((paired.location() - 2f64.ln()).abs() < 1e-12);
    }
}
