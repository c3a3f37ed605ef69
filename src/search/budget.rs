//! What a search may spend.

use std::time::Duration;

/// What the whole command may spend.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Budget {
    /// Wall time.
    Seconds(f64),
    /// Samples.
    Samples(u64),
}

impl Budget {
    /// Seconds a cell gets where nothing is asked.
    pub const DEFAULT_CELL_SECONDS: f64 = 1.15;

    /// The same of a cell of a mix, whose samples are of a thousand calls.
    pub const DEFAULT_MIX_SECONDS: f64 = 3.0;

    /// A part of it, 0 to 1.
    #[must_use]
    pub fn part(self, part: f64) -> Budget {
        match self {
            Budget::Seconds(s) => Budget::Seconds(s * part),
            Budget::Samples(n) => Budget::Samples(((n as f64 * part) as u64).max(1)),
        }
    }

    /// Reads `10s`, `500ms`, `2m`, or a bare number of samples.
    ///
    /// # Errors
    /// What would be right, as a sentence.
    pub fn parse(text: &str) -> Result<Budget, String> {
        let wrong = || {
            format!(
                "`{text}` is no budget; write a time such as 10s, 500ms or 2m, or a number of samples such as 20000"
            )
        };
        if text.bytes().all(|b| b.is_ascii_digit()) {
            let samples = text.parse().ok().filter(|n| *n > 0).ok_or_else(wrong)?;
            return Ok(Budget::Samples(samples));
        }
        crate::units::parse_seconds(text).map(Budget::Seconds).ok_or_else(wrong)
    }
}

/// Keeps count of a budget over cells and phases. Its time stands still between two
/// [`Meter::tick`]s, so that what is decided by it hangs on nothing but what the clock said then.
#[derive(Clone, Debug)]
pub(super) struct Meter {
    budget: Budget,
    /// What the clock said last.
    clock: Duration,
    /// Time since the command began, at that moment.
    elapsed: Duration,
    samples: u64,
}

impl Meter {
    /// `clock`: what it says now; `spent`: for how long the command has run by then, since the
    /// budget covers all of it.
    pub(super) fn new(budget: Budget, clock: Duration, spent: Duration) -> Meter {
        Meter { budget, clock, elapsed: spent, samples: 0 }
    }

    pub(super) fn spend(&mut self, samples: u64) {
        self.samples += samples;
    }

    /// The clock says this now.
    pub(super) fn tick(&mut self, clock: Duration) {
        self.elapsed += clock.saturating_sub(self.clock);
        self.clock = clock;
    }

    /// Time since the command began, as of the last tick.
    pub(super) fn elapsed(&self) -> Duration {
        self.elapsed
    }

    /// Part that is used, 0 to 1 and beyond.
    pub(super) fn fraction(&self) -> f64 {
        match self.budget {
            Budget::Seconds(s) => self.elapsed.as_secs_f64() / s,
            Budget::Samples(n) => self.samples as f64 / n as f64,
        }
    }

    /// What one of `shares` equal shares of the rest is, given the price of a sample.
    pub(super) fn share(&self, shares: f64) -> Share {
        match self.budget {
            Budget::Seconds(s) => {
                let left = (s - self.elapsed.as_secs_f64()).max(0.0) / shares;
                let until = self
                    .elapsed
                    .saturating_add(Duration::try_from_secs_f64(left).unwrap_or(Duration::MAX));
                Share { until: Some(until), now: self.elapsed, samples: None }
            }
            Budget::Samples(n) => Share {
                until: None,
                now: self.elapsed,
                samples: Some((n.saturating_sub(self.samples) as f64 / shares) as u64),
            },
        }
    }
}

/// What one phase of one cell may spend.
#[derive(Clone, Copy, Debug)]
pub(super) struct Share {
    /// Time since the command began at which it is used up.
    until: Option<Duration>,
    /// The same, of the last time that something was spent.
    now: Duration,
    samples: Option<u64>,
}

impl Share {
    /// Samples that can still be bought at this price in nanoseconds.
    pub(super) fn affords(&self, cost_ns: f64) -> u64 {
        match (self.until, self.samples) {
            (Some(until), _) => {
                let left = until.saturating_sub(self.now);
                (left.as_nanos() as f64 / cost_ns.max(1.0)) as u64
            }
            (None, Some(samples)) => samples,
            (None, None) => 0,
        }
    }

    /// Groups of so many samples that can still be bought, at this price of one sample in
    /// nanoseconds.
    pub(super) fn affords_groups(&self, cost_ns: f64, samples: f64) -> u32 {
        let groups = match self.samples_left() {
            Some(left) => left as f64 / samples.max(1.0),
            None => self.affords(cost_ns * samples) as f64,
        };
        // The cast saturates.
        groups as u32
    }

    /// Samples left, where samples are counted.
    pub(super) fn samples_left(&self) -> Option<u64> {
        self.until.is_none().then_some(self.samples).flatten()
    }

    /// Time left, nanoseconds, as a limit for a request; 0 (none) where samples are counted.
    pub(super) fn limit_ns(&self) -> u64 {
        self.until.map_or(0, |until| {
            u64::try_from(until.saturating_sub(self.now).as_nanos()).unwrap_or(u64::MAX).max(1)
        })
    }

    /// So many samples were made, and the command has run for so long now.
    pub(super) fn spend(&mut self, samples: u64, elapsed: Duration) {
        self.now = elapsed;
        if let Some(left) = &mut self.samples {
            *left = left.saturating_sub(samples);
        }
    }

    pub(super) fn is_used(&self) -> bool {
        self.affords(1.0) == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn budgets_read() {
        assert_eq!(Budget::parse("10s"), Ok(Budget::Seconds(10.0)));
        assert_eq!(Budget::parse("20000"), Ok(Budget::Samples(20000)));
        for bad in ["", "0", "10x", "-5s", "s"] {
            assert!(Budget::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn samples_are_shared_and_spent() {
        let mut meter = Meter::new(Budget::Samples(100), Duration::ZERO, Duration::ZERO);
        let mut share = meter.share(4.0);
        assert_eq!(share.affords(1e9), 25);
        assert_eq!((share.affords_groups(1e9, 6.0), share.affords_groups(1e9, 26.0)), (4, 0));
        share.spend(25, Duration::ZERO);
        assert!(share.is_used());
        meter.spend(25);
        assert_eq!(meter.fraction(), 0.25);
        assert_eq!(meter.share(3.0).affords(1.0), 25);
    }

    #[test]
    fn time_passes_with_ticks_only() {
        let second = Duration::from_secs(1);
        let mut meter = Meter::new(Budget::Seconds(10.0), 100 * second, 2 * second);
        let mut share = meter.share(2.0);
        assert_eq!((share.affords(1e9), share.limit_ns()), (4, 4_000_000_000));
        assert_eq!(share.affords_groups(5e8, 2.0), 4);
        meter.tick(103 * second);
        assert_eq!(meter.fraction(), 0.5);
        share.spend(7, meter.elapsed());
        assert_eq!(share.affords(1e9), 1);
        // A clock that goes back is none; the meter stands still.
        meter.tick(101 * second);
        assert_eq!(meter.elapsed(), 5 * second);
        meter.tick(103 * second);
        share.spend(0, meter.elapsed());
        assert!(share.is_used());
        assert_eq!(share.limit_ns(), 1, "0 would be no limit");
    }
}
