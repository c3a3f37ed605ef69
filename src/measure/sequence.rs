//! The calls of a mix: a long sequence of sizes and offsets, drawn once a request.

use rand::RngExt;
use rand::seq::SliceRandom;

use super::draw;

/// Calls of a sequence. A branch predictor learns shorter ones by heart, and so it does a single
/// size; ten thousand and more it cannot.
pub const SEQUENCE: usize = 1 << 14;

/// Any so many calls from a multiple of it hold one size of each equal part of the
/// distribution, so that stretches of a sequence ask for much the same work: with sizes drawn
/// each for itself, a stretch of a hundred calls would be judged by how many large ones are in
/// it. Within them the order is random.
pub(super) const STRATA: usize = 64;

/// A call of a mix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DrawnCall {
    /// Its size, bytes.
    pub(super) n: u32,
    /// Added to the destination's address, bytes, 0 to 63: real calls are not aligned.
    pub(super) dst: u8,
    /// The same of the source.
    pub(super) src: u8,
}

/// The sequence that all members of a request's blocks walk.
#[derive(Clone, Debug, PartialEq)]
pub struct Sequence {
    calls: Vec<DrawnCall>,
}

impl Sequence {
    /// Draws one. `weights`: sizes with their probabilities, as a mix has them.
    pub fn draw(seed: u64, weights: &[(u32, f64)]) -> Sequence {
        let mut rng = draw::sequence(seed);
        let mut bounds: Vec<f64> = Vec::with_capacity(weights.len());
        let mut sum = 0.0;
        for (_, weight) in weights {
            sum += weight;
            bounds.push(sum);
        }
        let quantile = |part: f64| {
            let at = bounds.partition_point(|bound| *bound <= part * sum);
            weights.get(at.min(weights.len().saturating_sub(1))).map_or(0, |(size, _)| *size)
        };
        const ROUNDS: usize = SEQUENCE / STRATA;
        let mut sizes = vec![0; SEQUENCE];
        let mut places: Vec<usize> = (0..ROUNDS).collect();
        for stratum in 0..STRATA {
            // The whole sequence has one size of each of its own many parts: its mean is the
            // distribution's.
            places.shuffle(&mut rng);
            for (round, place) in places.iter().enumerate() {
                let within = (*place as f64 + rng.random_range(0.0..1.0)) / ROUNDS as f64;
                sizes[round * STRATA + stratum] =
                    quantile((stratum as f64 + within) / STRATA as f64);
            }
        }
        sizes.chunks_mut(STRATA).for_each(|chunk| chunk.shuffle(&mut rng));
        let mut offset = || rng.random_range(0..64u8);
        let calls = sizes.into_iter().map(|n| DrawnCall { n, dst: offset(), src: offset() });
        Sequence { calls: calls.collect() }
    }

    /// The sizes in it, each once, ascending; bytes.
    pub fn sizes(&self) -> Vec<u64> {
        let mut sizes: Vec<u64> = self.calls.iter().map(|c| u64::from(c.n)).collect();
        sizes.sort_unstable();
        sizes.dedup();
        sizes
    }

    /// `count` calls from `from` on; behind the last comes the first.
    pub(super) fn stretch(
        &self,
        from: usize,
        count: usize,
    ) -> impl Iterator<Item = &DrawnCall> + Clone + '_ {
        self.calls.iter().cycle().skip(from % self.calls.len().max(1)).take(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Mostly tiny, a few large.
    const TAILED: [(u32, f64); 4] = [(0, 0.05), (3, 0.6), (30, 0.33), (4000, 0.02)];

    #[test]
    fn a_seed_is_a_sequence_and_the_sequence_is_the_mix() {
        let drawn = Sequence::draw(7, &TAILED);
        assert_eq!(drawn, Sequence::draw(7, &TAILED));
        assert_ne!(drawn, Sequence::draw(8, &TAILED));
        assert!(SEQUENCE >= 10_000 && drawn.calls.len() == SEQUENCE);
        assert_eq!(drawn.sizes(), [0, 3, 30, 4000]);
        for (size, weight) in TAILED {
            let share = drawn.calls.iter().filter(|c| c.n == size).count() as f64;
            assert!((share / SEQUENCE as f64 - weight).abs() < 1e-3, "{size}: {share}");
        }
        let mean = drawn.calls.iter().map(|c| f64::from(c.n)).sum::<f64>() / SEQUENCE as f64;
        assert!((mean - 91.7).abs() < 0.5, "{mean}");
    }

    #[test]
    fn stretches_ask_for_much_the_same_work_in_another_order() {
        let drawn = Sequence::draw(3, &TAILED);
        let large = |chunk: &[DrawnCall]| chunk.iter().filter(|c| c.n == 4000).count();
        assert!(drawn.calls.chunks(STRATA).all(|c| (1..=2).contains(&large(c))));
        let place = |chunk: &[DrawnCall]| chunk.iter().position(|c| c.n == 4000);
        let places: std::collections::BTreeSet<_> = drawn.calls.chunks(STRATA).map(place).collect();
        assert!(places.len() > 50, "{}", places.len());
    }

    #[test]
    fn offsets_are_all_there_and_both_pointers_have_their_own() {
        let drawn = Sequence::draw(5, &[(100, 1.0)]);
        for offset in 0..64 {
            assert!(drawn.calls.iter().any(|c| c.dst == offset && c.src != offset));
            assert!(drawn.calls.iter().any(|c| c.src == offset && c.dst != offset));
        }
        assert!(drawn.calls.iter().all(|c| c.dst < 64 && c.src < 64));
    }

    #[test]
    fn a_stretch_goes_round() {
        let drawn = Sequence::draw(1, &TAILED);
        let got: Vec<&DrawnCall> = drawn.stretch(SEQUENCE - 2, 4).collect();
        let wanted = [SEQUENCE - 2, SEQUENCE - 1, 0, 1].map(|i| &drawn.calls[i]);
        assert_eq!(got, wanted);
        let again: Vec<&DrawnCall> = drawn.stretch(2 * SEQUENCE - 2, 4).collect();
        assert_eq!(again, wanted);
    }
}
