//! A machine whose times are a formula of cell and loop.

use std::collections::HashMap;

use looptune::search::Candidate;
use looptune::space;
use looptune::subject::{Align, Cell, Op, Variant};
use looptune::template::AXES;
use looptune::trial::{
    BlockRequest, BlockResult, Body, Check, Clock, Disturbance, EvaluateError, Evaluator, Failure,
    Sample,
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

pub(crate) struct Script {
    variants: HashMap<Body, Variant>,
    nanoseconds: fn(&Cell, &Variant) -> f64,
}

impl Script {
    /// Knows a loop and all that differ from it in one axis.
    pub(crate) fn around(winner: Variant, nanoseconds: fn(&Cell, &Variant) -> f64) -> Script {
        let mut script = Script { variants: HashMap::new(), nanoseconds };
        for axis in AXES {
            for value in (axis.values)() {
                if let Some(variant) = (axis.with)(&winner, &value) {
                    script.know(variant);
                }
            }
        }
        for skew in 0..64 {
            script.know(Variant { align: Align { modulus: 64, skew }, ..winner });
        }
        // Where two are the same code, the winner's name is the one that counts.
        script.know(winner);
        script
    }

    pub(crate) fn know(&mut self, variant: Variant) {
        if space::check(&variant).is_ok()
            && let Ok(candidate) = Candidate::new(variant)
        {
            self.variants.insert(candidate.body, variant);
        }
    }
}

impl Evaluator for Script {
    fn evaluate(&mut self, request: &BlockRequest) -> Result<BlockResult, EvaluateError> {
        let mut rng = ChaCha8Rng::seed_from_u64(request.seed);
        let mut samples = Vec::new();
        for layout in 0..request.layouts {
            for block in 0..request.blocks {
                for (member, of) in request.members.iter().enumerate() {
                    let variant = self.variants.get(&of.body).expect("a loop that is known");
                    let noise = 1.0 + rng.random_range(-0.005..0.005);
                    let ns = (self.nanoseconds)(&request.cell, variant) * noise;
                    samples.push(Sample {
                        member: member as u32,
                        layout,
                        block,
                        thread: 0,
                        ticks: (ns * 1000.0) as u64,
                        calls: 1000,
                        disturbance: Disturbance::default(),
                    });
                }
            }
        }
        let clock = Clock { cycles_per_tick: 2.0, ..Clock::default() };
        Ok(BlockResult { samples, failures: Vec::new(), clock, disturbed: 0 })
    }

    fn verify(
        &mut self,
        _: Op,
        bodies: &[Body],
        _: Check,
    ) -> Result<Vec<Result<(), Failure>>, EvaluateError> {
        Ok(bodies.iter().map(|_| Ok(())).collect())
    }
}
