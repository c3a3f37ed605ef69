//! How many calls a pass makes. Pure.

/// Fewer calls than this let the first and last weigh too much.
const LEAST_REPEATED: u32 = 20;

/// More calls than this in one pass only let more interrupts in.
const MOST: u32 = 1 << 20;

/// How members of a block share a number of calls.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Budget {
    /// Ticks that the shortest pass must take.
    pub(super) pass_ticks: f64,
    /// Pairs that a ring pass may visit: each at most once a prime.
    pub(super) pairs: u32,
    /// Pairs that a ring pass visits at least, where there are so many.
    pub(super) least_visited: u32,
}

impl Budget {
    /// Calls for members that repeat on one pair: as many as the fastest of them
    /// (`fastest`: ticks a call) needs, the same number for all, so that the pass's own cost
    /// cancels in their ratios; a multiple of `step`.
    pub(super) fn repeated(&self, fastest: f64, step: u32) -> u32 {
        self.wanted(fastest, step).max(LEAST_REPEATED.next_multiple_of(step))
    }

    /// Calls for members that visit a ring: as [`Budget::repeated`], but never more than
    /// there are pairs. A ring that is smaller than the step leaves plants rounded.
    pub(super) fn visited(&self, fastest: f64, step: u32) -> u32 {
        self.wanted(fastest, step).max(self.least_visited).min(self.pairs).max(1)
    }

    fn wanted(&self, fastest: f64, step: u32) -> u32 {
        // The cast saturates; a pilot of nothing becomes the most.
        let calls = (self.pass_ticks / fastest.max(0.1)).ceil() as u32;
        calls.clamp(1, MOST).next_multiple_of(step)
    }
}

/// The smallest number of calls of which every plant is a whole number of calls; 1 without
/// plants. Plants finer than a ten-thousandth are rounded.
pub(super) fn plant_step(plants: impl IntoIterator<Item = f64>) -> u32 {
    let plants: Vec<f64> = plants.into_iter().filter(|p| *p != 0.0).collect();
    let whole = |n: u32, p: f64| {
        let extra = p * f64::from(n);
        extra.round() >= 1.0 && (extra - extra.round()).abs() < 1e-6 * extra
    };
    (1..=10_000).find(|n| plants.iter().all(|p| whole(*n, *p))).unwrap_or(10_000)
}

/// Calls that are made where `calls` are reported: a plant adds at least one.
pub(super) fn planted(calls: u32, plant: f64) -> u32 {
    if plant > 0.0 { calls + ((f64::from(calls) * plant).round() as u32).max(1) } else { calls }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passes_last_as_long_as_asked() {
        let budget = Budget { pass_ticks: 5000.0, pairs: 12, least_visited: 0 };
        assert_eq!(budget.repeated(100.0, 1), 50);
        assert_eq!(budget.repeated(10_000.0, 1), LEAST_REPEATED);
        assert_eq!(budget.visited(10_000.0, 1), 1);
        assert_eq!(budget.visited(1000.0, 1), 5);
        assert_eq!(budget.visited(1.0, 1), 12, "a ring is visited once");
        let dear = Budget { least_visited: 8, ..budget };
        assert_eq!((dear.visited(10_000.0, 1), dear.visited(500.0, 1)), (8, 10));
        assert_eq!(
            budget.repeated(0.0, 1),
            50_000,
            "a clock that stands still asks for no eternity"
        );
    }

    #[test]
    fn plants_are_whole_calls() {
        assert_eq!(plant_step([]), 1);
        assert_eq!(plant_step([0.0, 0.02]), 50);
        assert_eq!(plant_step([0.005]), 200);
        assert_eq!(plant_step([0.005, 0.02, 0.03]), 200);
        assert_eq!(plant_step([1.0 / 3.0]), 3);
        let budget = Budget { pass_ticks: 5000.0, pairs: 12, least_visited: 0 };
        assert_eq!(budget.repeated(100.0, 200), 200);
        assert_eq!(planted(200, 0.005), 201);
        assert_eq!(planted(200, 0.0), 200);
        assert_eq!(planted(8, 0.02), 9, "a plant never vanishes");
    }
}
