//! The core clock beside loops of wide vectors: some cores lower it for them, and what a loop
//! gains the rest of the program pays.

use rand::{Rng, RngExt};

use super::panel::Entrant;
use crate::stats::median;
use crate::subject::Cell;
use crate::trial::{BlockRequest, Check, EvaluateError, Evaluator, Member, MemberOrder, Without};

/// The clock around the passes of one loop, core cycles a nanosecond.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Frequency {
    /// While a loop of general registers runs, before.
    pub before: f64,
    /// Between the loop's own passes.
    pub during: f64,
    /// While a loop of general registers runs, after.
    pub after: f64,
    /// By how much the clock differs between rounds without the loop, as a part of it.
    pub noise: f64,
}

/// Less is nobody's concern, however quiet the machine.
const LEAST_DROP: f64 = 0.01;

/// A drop counts where it is so many times what the clock does by itself.
const OVER_NOISE: f64 = 2.0;

/// Rounds of before, during and after.
const ROUNDS: u32 = 3;

/// Passes a part of a round, and their length: 4 ms in all, longer than a core takes to lower
/// its clock and shorter than it keeps it low.
const BLOCKS: u32 = 40;
const PASS_NS: u32 = 100_000;

impl Frequency {
    /// By which part the clock is lower while the loop runs; `None` where that is within the
    /// noise.
    pub fn drop(&self) -> Option<f64> {
        let without = (self.before + self.after) / 2.0;
        let drop = 1.0 - self.during / without;
        (drop.is_finite() && drop > LEAST_DROP.max(self.noise * OVER_NOISE)).then_some(drop)
    }
}

/// Watches the clock around a loop, beside a loop of general registers; `None` where one of them
/// does not run. `tick_hz`: time-stamp ticks a second.
///
/// # Errors
/// As the evaluator.
pub fn frequency(
    cell: Cell,
    wide: &Entrant,
    narrow: &Entrant,
    tick_hz: f64,
    evaluator: &mut dyn Evaluator,
    rng: &mut impl Rng,
) -> Result<Option<Frequency>, EvaluateError> {
    let mut rates: [Vec<f64>; 3] = Default::default();
    for _ in 0..ROUNDS {
        for (part, entrant) in [narrow, wide, narrow].into_iter().enumerate() {
            let request = BlockRequest {
                cell,
                weights: Vec::new(),
                members: vec![Member { plant: 0.0, ..entrant.member.clone() }],
                seed: rng.random(),
                layouts: 1,
                blocks: BLOCKS,
                order: MemberOrder::AsGiven,
                check: Check::Quick { size: cell.size },
                pass_ns: PASS_NS,
                limit_ns: 0,
                without: Without::NOTHING,
            };
            let result = evaluator.evaluate(&request)?;
            if result.samples.is_empty() {
                return Ok(None);
            }
            rates[part].push(result.clock.cycles_per_tick * tick_hz / 1e9);
        }
    }
    let calm: Vec<f64> = rates[0].iter().chain(&rates[2]).copied().collect();
    let (least, most) =
        calm.iter().fold((f64::INFINITY, 0.0f64), |(a, b), r| (a.min(*r), b.max(*r)));
    let noise = (most - least) / most.max(f64::MIN_POSITIVE);
    let [before, during, after] = rates.each_mut().map(|r| median(r));
    Ok(Some(Frequency { before, during, after, noise }))
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::super::candidate::Candidate;
    use super::super::context::candidate_entrant;
    use super::*;
    use crate::subject::{Drive, Level, Op, State};
    use crate::trial::{BlockResult, Body, Clock, Disturbance, Failure, Sample};

    /// Clocks by the length of the code: the longer is the wide one.
    struct Scripted {
        wide: usize,
        rates: Vec<f64>,
        asked: usize,
        slow: f64,
    }

    impl Evaluator for Scripted {
        fn evaluate(&mut self, request: &BlockRequest) -> Result<BlockResult, EvaluateError> {
            let Body::Machine(machine) = &request.members[0].body else { panic!("machine code") };
            let rate = self.rates[self.asked % self.rates.len()];
            self.asked += 1;
            let wide = machine.bytes.len() == self.wide;
            let cycles_per_tick = if wide { rate * self.slow } else { rate };
            let disturbance = Disturbance::default();
            let sample = Sample {
                member: 0,
                layout: 0,
                block: 0,
                thread: 0,
                ticks: 9,
                calls: 1,
                disturbance,
            };
            Ok(BlockResult {
                samples: vec![sample],
                failures: Vec::new(),
                clock: Clock { cycles_per_tick, ..Clock::default() },
                disturbed: 0,
            })
        }

        fn verify(
            &mut self,
            _: Op,
            bodies: &[Body],
            _: Check,
        ) -> Result<Vec<Result<(), Failure>>, EvaluateError> {
            Ok(vec![Ok(()); bodies.len()])
        }
    }

    fn watched(rates: &[f64], slow: f64) -> Frequency {
        let entrant =
            |id: &str| candidate_entrant(&Candidate::new(id.parse().unwrap()).unwrap(), false);
        let (wide, narrow) = (entrant("zero/zmm/u4"), entrant("zero/r64/u2"));
        let mut script = Scripted {
            wide: wide.code_bytes.unwrap() as usize,
            rates: rates.to_vec(),
            asked: 0,
            slow,
        };
        assert_ne!(wide.code_bytes, narrow.code_bytes);
        let cell = Cell::new(Op::Zero, 4096, State::both(Level::L1), Drive::Throughput);
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let found = frequency(cell, &wide, &narrow, 2e9, &mut script, &mut rng);
        found.unwrap().expect("both run")
    }

    #[test]
    fn a_drop_is_seen_and_noise_is_none() {
        let found = watched(&[1.5], 0.8);
        assert!((found.before - 3.0).abs() < 1e-9 && (found.during - 2.4).abs() < 1e-9);
        assert!((found.drop().unwrap() - 0.2).abs() < 1e-9);
        assert_eq!(watched(&[1.5], 1.0).drop(), None);
        assert_eq!(watched(&[1.5], 0.995).drop(), None, "half a per cent is nothing");
        // The clock goes up and down by itself: a drop of the same size says nothing.
        assert_eq!(watched(&[1.5, 1.4, 1.3, 1.45], 0.9).drop(), None);
        assert_eq!(watched(&[0.0], 1.0).drop(), None);
    }
}
