//! Strategies on a landscape that is a formula: what they find, what it costs, and that they are
//! functions of their seed.

use std::collections::HashMap;
use std::sync::LazyLock;

use looptune::search::{
    Attempt, Attempted, Candidate, SearchFile, Strategy, StrategyName, attempt, compile_all,
};
use looptune::subject::{Cell, Class, Drive, Level, Op, State, Variant};
use looptune::trial::{
    BlockRequest, BlockResult, Body, Check, Clock, Disturbance, EvaluateError, Evaluator, Failure,
    Sample,
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Some thousand loops of the default space that every host can name.
static CANDIDATES: LazyLock<Vec<Candidate>> = LazyLock::new(|| {
    let mut points = SearchFile::default_for(Op::Zero).space(Op::Zero).legal();
    points.retain(|v| matches!(v.class, Class::R64 | Class::Xmm | Class::Ymm | Class::Rep8));
    points.retain(|v| v.prefetch.is_none_or(|p| p.distance == 256));
    points.retain(|v| v.align.skew % 16 == 0);
    compile_all(points).unwrap()
});

/// A number from -1 to 1 that is the same for the same things.
fn grain(of: &impl std::hash::Hash) -> f64 {
    use std::hash::Hasher as _;
    let mut hasher = std::collections::hash_map::DefaultHasher::new();
    of.hash(&mut hasher);
    (hasher.finish() % 2001) as f64 / 1000.0 - 1.0
}

/// Log time: wide registers and some unrolling help, stores past the cache do not, the address
/// matters a little and with the unroll factor, and each loop has something of its own.
fn landscape(v: &Variant) -> f64 {
    let class = match v.class {
        Class::Ymm => 0.0,
        Class::Xmm => 0.2,
        _ => 0.6,
    };
    let unroll = (f64::from(v.unroll).log2() - 3.0).powi(2) * 0.02;
    let store = if v.leaves_cache() { 0.8 } else { 0.0 };
    let together = 0.02 * grain(&(v.class, v.unroll, v.align)) + 0.02 * grain(&(v.count, v.align));
    let detour = 0.1 * f64::from(u8::from(v.prefetch.is_some())) + 0.03 * grain(&(v.head, v.tail));
    class + unroll + store + together + detour + 0.004 * grain(v)
}

/// Answers by the formula, with a per cent of noise and every thirtieth sample spoiled.
struct Formula {
    variants: HashMap<Body, Variant>,
    /// Every request: its seed and how many members it had.
    asked: Vec<(u64, usize)>,
    /// What the machine's speed does from request to request.
    wave: f64,
    samples: u64,
}

impl Formula {
    fn new(wave: f64) -> Formula {
        let variants = CANDIDATES.iter().map(|c| (c.body.clone(), c.variant)).collect();
        Formula { variants, asked: Vec::new(), wave, samples: 0 }
    }
}

impl Evaluator for Formula {
    fn evaluate(&mut self, request: &BlockRequest) -> Result<BlockResult, EvaluateError> {
        self.asked.push((request.seed, request.members.len()));
        let mut rng = ChaCha8Rng::seed_from_u64(request.seed);
        let mut samples = Vec::new();
        for layout in 0..request.layouts {
            for block in 0..request.blocks {
                let moment = self.wave * (self.samples as f64 / 1000.0).sin();
                for (member, m) in request.members.iter().enumerate() {
                    let log = self.variants.get(&m.body).map_or(0.1, landscape);
                    let spoiled = if rng.random_range(0..30) == 0 { 0.4 } else { 0.0 };
                    let log = log + moment + spoiled + rng.random_range(-0.01..0.01);
                    self.samples += 1;
                    samples.push(Sample {
                        member: member as u32,
                        layout,
                        block,
                        ticks: (log.exp() * 1e8) as u64,
                        calls: 1000,
                        thread: 0,
                        disturbance: Disturbance::default(),
                    });
                }
            }
        }
        let clock = Clock { cycles_per_tick: 1.0, ..Clock::default() };
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

fn run(name: StrategyName, samples: u64, seed: u64, formula: &mut Formula) -> Attempted {
    let cell = Cell::new(Op::Zero, 4096, State::both(Level::L1), Drive::Throughput);
    let strategy = Strategy { name, ..Strategy::default() };
    let asked = Attempt { cell, candidates: &CANDIDATES, strategy, samples, seed };
    attempt(&asked, formula).unwrap()
}

/// What a pick loses against the best there is.
fn regret(found: &Attempted) -> f64 {
    let best = CANDIDATES.iter().map(|c| landscape(&c.variant)).fold(f64::INFINITY, f64::min);
    let pick = &CANDIDATES[found.pick.expect("somebody was timed")].variant;
    (landscape(pick) - best).exp_m1()
}

/// Three per cent of seven samples of each.
fn few() -> u64 {
    CANDIDATES.len() as u64 * 7 * 3 / 100
}

#[test]
fn every_strategy_keeps_to_its_samples_and_is_a_function_of_its_seed() {
    for name in StrategyName::ALL {
        let outcome = |seed| {
            let mut formula = Formula::new(0.0);
            let found = run(*name, few(), seed, &mut formula);
            (found, formula.asked)
        };
        let (found, asked) = outcome(3);
        assert!(found.samples <= few(), "{name}: {} of {}", found.samples, few());
        // Nearly all of it is used, too.
        assert!(found.samples * 10 >= few() * 9, "{name}: {} of {}", found.samples, few());
        assert!(found.trials > 0 && found.pick.is_some(), "{name}");
        assert_eq!((found, asked), outcome(3), "{name}");
        assert_ne!(found, outcome(4).0, "{name}");
    }
}

/// Mean regret over a few seeds.
fn mean(name: StrategyName, samples: u64, wave: f64) -> f64 {
    let lost = |seed| regret(&run(name, samples, seed, &mut Formula::new(wave)));
    (1..=5).map(lost).sum::<f64>() / 5.0
}

#[test]
fn the_default_finds_the_best_with_few_samples() {
    let default = mean(StrategyName::Default, few(), 0.0);
    assert!(default < 0.01, "{default}");
    // (On a hill as smooth as this one local search finds its way, too.)
    for name in [StrategyName::Random, StrategyName::Genetic] {
        let other = mean(name, few(), 0.0);
        assert!(other > default, "{name}: {other} against {default}");
    }
}

#[test]
fn a_wandering_clock_misleads_only_who_compares_across_moments() {
    let all = CANDIDATES.len() as u64 * 8;
    let classic = mean(StrategyName::Classic, all, 0.04);
    let default = mean(StrategyName::Default, few(), 0.04);
    assert!(default < 0.01, "{default}");
    assert!(classic > default, "{classic} against {default}");
}

#[test]
fn a_budget_too_small_for_anything_still_answers() {
    for name in StrategyName::ALL.iter().filter(|n| **n != StrategyName::Classic) {
        let found = run(*name, 10, 1, &mut Formula::new(0.0));
        assert!(found.pick.is_some(), "{name}");
    }
}
