//! A machine whose speed wanders.

use std::f64::consts::TAU;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Half of what the slow wave swings, as a log: 8 % from peak to peak, which real clocks do
/// within seconds.
const SWING: f64 = 0.04;

/// Samples of one turn of the wave: about a second of samples in the first level.
const TURN: f64 = 50_000.0;

/// Size of a step of the walk that lies over it, as a log, and samples a step.
const STEP: f64 = 0.002;
const STRIDE: u64 = 500;

/// A slow wave with a random walk over it, the same for the same seed.
#[derive(Clone, Debug)]
pub(super) struct Drift {
    rng: ChaCha8Rng,
    phase: f64,
    walk: f64,
    passed: u64,
}

impl Drift {
    pub(super) fn new(seed: u64) -> Drift {
        // Another stream than the one that deals samples.
        let mut rng = ChaCha8Rng::seed_from_u64(seed ^ 0x5eed_d21f);
        let phase = rng.random_range(0.0..1.0);
        Drift { rng, phase, walk: 0.0, passed: 0 }
    }

    /// What is added to the log of every time of this moment; then so many samples go by.
    pub(super) fn pass(&mut self, samples: u64) -> f64 {
        let turn = self.passed as f64 / TURN + self.phase;
        let now = SWING * (TAU * turn).sin() + self.walk;
        let steps = (self.passed + samples) / STRIDE - self.passed / STRIDE;
        for _ in 0..steps {
            self.walk += self.rng.random_range(-STEP..STEP);
        }
        self.passed += samples;
        now
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_wanders_by_several_per_cent_and_is_the_same_for_a_seed() {
        let path = |seed| {
            let mut drift = Drift::new(seed);
            (0..1000).map(|_| drift.pass(51)).collect::<Vec<f64>>()
        };
        let once = path(3);
        assert_eq!(once, path(3));
        assert_ne!(once, path(4));
        let (low, high) =
            once.iter().fold((f64::MAX, f64::MIN), |(l, h), v| (l.min(*v), h.max(*v)));
        assert!(high - low > 0.06, "{low} {high}");
        // Within a request of fifty samples it hardly moves.
        assert!(once.windows(2).all(|w| (w[1] - w[0]).abs() < 0.003));
    }
}
