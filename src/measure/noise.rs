//! Which samples something else got into. Pure.

/// A sample beyond this multiple of what its member usually takes was not the member's
/// doing: layouts spread a few per cent, states are made anew, a time slice is hundreds.
const OUTLIER: f64 = 3.0;

/// Samples of a member that its usual time is taken from.
const MEMORY: usize = 31;

/// What a member usually takes, ticks a call.
#[derive(Clone, Debug)]
pub(super) struct Usual {
    pilot: f64,
    recent: Vec<f64>,
    next: usize,
}

impl Usual {
    /// Starts from a pilot's time.
    pub(super) fn new(pilot: f64) -> Usual {
        Usual { pilot, recent: Vec::new(), next: 0 }
    }

    /// Ticks a call: the median of the last samples, of the pilot while there are few.
    pub(super) fn ticks(&self) -> f64 {
        if self.recent.len() < 5 {
            return self.pilot;
        }
        let mut sorted = self.recent.clone();
        let middle = sorted.len() / 2;
        *sorted.select_nth_unstable_by(middle, f64::total_cmp).1
    }

    /// Whether a sample is far outside what is usual. `slack` ticks are always forgiven: on
    /// short passes a late store or a page walk is much beside little.
    pub(super) fn is_outlier(&self, ticks: u64, calls: u32, slack: f64) -> bool {
        ticks as f64 > self.ticks() * f64::from(calls.max(1)) * OUTLIER + slack
    }

    /// Takes a sample that was kept.
    pub(super) fn keep(&mut self, ticks: u64, calls: u32) {
        let value = ticks as f64 / f64::from(calls.max(1));
        if self.recent.len() < MEMORY {
            self.recent.push(value);
        } else {
            self.recent[self.next] = value;
            self.next = (self.next + 1) % MEMORY;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_slice_is_seen_and_a_slow_pilot_forgotten() {
        let mut usual = Usual::new(1000.0);
        assert!(!usual.is_outlier(29_000, 10, 0.0));
        for _ in 0..5 {
            usual.keep(1000, 10);
        }
        assert!(usual.is_outlier(3100, 10, 0.0), "now 100 a call is usual");
        assert!(!usual.is_outlier(3100, 10, 200.0));
        for _ in 0..100 {
            usual.keep(5000, 10);
        }
        assert!(!usual.is_outlier(5100, 10, 0.0), "what lasts is not noise");
    }
}
