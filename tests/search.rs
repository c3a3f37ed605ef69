//! The search on scripted times: what it must find, without hardware.

use std::collections::HashMap;
use std::time::Duration;

use looptune::search::{
    Budget, Candidate, Incumbents, Job, Question, Stop, Strategy, compile_all, plan, search,
};
use looptune::stats::Verdict;
use looptune::subject::{
    Baseline, Cell, Class, Contract, Drive, Extent, Level, Op, SizeMix, State, Store, Variant,
};
use looptune::trial::{
    BlockRequest, BlockResult, Body, Check, Clock, Disturbance, EvaluateError, Evaluator, Failure,
    FailureKind, Observer, Phase, Sample, Trial,
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Ticks are nanoseconds.
const TICK_HZ: f64 = 1e9;

/// A machine whose times are a formula.
struct Script {
    variants: HashMap<Body, Variant>,
    nanoseconds: fn(&Cell, Option<&Variant>) -> f64,
    fails: fn(&Variant) -> Option<FailureKind>,
    full_fails: fn(&Variant) -> bool,
    /// A factor of the time where few take part, as in the confirmation.
    among_few: fn(&Variant) -> f64,
    /// Requests until an interruption.
    patience: u32,
    /// What was chosen before.
    incumbents: Incumbents,
}

impl Script {
    fn new(candidates: &[Candidate], nanoseconds: fn(&Cell, Option<&Variant>) -> f64) -> Script {
        Script {
            variants: candidates.iter().map(|c| (c.body.clone(), c.variant)).collect(),
            nanoseconds,
            fails: |_| None,
            full_fails: |_| false,
            among_few: |_| 1.0,
            patience: u32::MAX,
            incumbents: Incumbents::default(),
        }
    }
}

impl Evaluator for Script {
    fn evaluate(&mut self, request: &BlockRequest) -> Result<BlockResult, EvaluateError> {
        self.patience -= 1;
        if self.patience == 0 {
            return Err(EvaluateError::Interrupted);
        }
        let mut rng = ChaCha8Rng::seed_from_u64(request.seed);
        let mut result = BlockResult {
            samples: Vec::new(),
            failures: Vec::new(),
            clock: Clock { cycles_per_tick: 2.0, ..Clock::default() },
            disturbed: 0,
        };
        let variants: Vec<Option<Variant>> =
            request.members.iter().map(|m| self.variants.get(&m.body).copied()).collect();
        for (i, variant) in variants.iter().enumerate() {
            if let Some(kind) = variant.as_ref().and_then(self.fails) {
                result.failures.push((i as u32, Failure { kind, case: "timing".into() }));
            }
        }
        for layout in 0..request.layouts {
            for block in 0..request.blocks {
                for (i, variant) in variants.iter().enumerate() {
                    if result.failures.iter().any(|(f, _)| *f == i as u32) {
                        continue;
                    }
                    let noise = 1.0 + rng.random_range(-0.01..0.01);
                    let few = variants.len() <= 4;
                    let factor = variant.as_ref().filter(|_| few).map_or(1.0, self.among_few);
                    let ns = (self.nanoseconds)(&request.cell, variant.as_ref()) * noise * factor;
                    result.samples.push(Sample {
                        member: i as u32,
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
        Ok(result)
    }

    fn verify(
        &mut self,
        _: Op,
        bodies: &[Body],
        check: Check,
    ) -> Result<Vec<Result<(), Failure>>, EvaluateError> {
        assert_eq!(check, Check::Full);
        Ok(bodies
            .iter()
            .map(|b| match self.variants.get(b) {
                Some(v) if (self.full_fails)(v) => {
                    Err(Failure { kind: FailureKind::Hung, case: "n=7".into() })
                }
                _ => Ok(()),
            })
            .collect())
    }
}

fn candidates() -> Vec<Candidate> {
    let mut variants = Vec::new();
    for class in [Class::R64, Class::Xmm, Class::Ymm] {
        for unroll in [1, 2, 4, 8] {
            for store in [Store::Plain, Store::Nt] {
                let head = Variant::default_head(store, class);
                variants.push(Variant { unroll, store, head, ..Variant::new(Op::Zero, class) });
            }
        }
    }
    compile_all(variants).unwrap()
}

fn question(states: &[Level]) -> Question {
    Question {
        op: Op::Zero,
        contract: Contract::User,
        sizes: vec![4096],
        mixes: Vec::new(),
        states: Some(states.iter().map(|l| State::both(*l)).collect()),
        drives: None,
        conditions: looptune::subject::Conditions::DEFAULT,
        consumers: vec![looptune::subject::Consumer::None],
        budget: Some(Budget::Samples(20_000)),
        seed: 1,
        baselines: Baseline::PRESENT.to_vec(),
        weights: Vec::new(),
    }
}

/// Plain loops win near, non-temporal ones far; u4 is the best unroll everywhere.
fn machine(cell: &Cell, variant: Option<&Variant>) -> f64 {
    let Some(v) = variant else { return 100.0 };
    let near = cell.state == State::both(Level::L1);
    let store = match (v.store == Store::Nt, near) {
        (true, true) => 1000.0,
        (true, false) => 60.0,
        (false, true) => 80.0,
        (false, false) => 90.0,
    };
    let unroll = if v.unroll == 4 { 0.0 } else { 5.0 };
    store + unroll + 400.0 / f64::from(v.class.width())
}

#[derive(Default)]
struct Rows(Vec<(Phase, String, bool, usize)>);

impl Observer for Rows {
    fn trial(&mut self, t: &Trial<'_>) {
        self.0.push((t.phase, t.subject.to_string(), t.outcome.is_ok(), t.samples.len()));
    }
}

fn run(
    script: &mut Script,
    list: &[Candidate],
    states: &[Level],
) -> (looptune::search::SearchOutcome, Rows) {
    let question = question(states);
    let plans =
        plan(&question, &looptune::measure::Levels::of(&looptune::host::Host::detect().caches));
    let mut rows = Rows::default();
    let job = Job {
        question: &question,
        plans: &plans,
        candidates: list,
        incumbents: &script.incumbents.clone(),
        strategy: Strategy::default(),
        tick_hz: TICK_HZ,
        spent: Duration::ZERO,
    };
    let outcome = search(&job, script, &mut rows).unwrap();
    (outcome, rows)
}

#[test]
fn the_best_of_each_state_wins_and_the_robust_choice_is_neither_extreme() {
    let list = candidates();
    let (outcome, rows) = run(&mut Script::new(&list, machine), &list, &[Level::L1, Level::Dram]);
    let size = &outcome.sizes[0];
    let near = size.cells[0].winner.as_ref().unwrap();
    assert_eq!(near.variant.to_string(), "zero/ymm/u4");
    let far = size.cells[1].winner.as_ref().unwrap();
    assert_eq!(far.variant.to_string(), "zero/ymm/u4/nt");
    // Non-temporal: 11 times slower in l1; plain: half slower in dram.
    let robust = size.robust.as_ref().unwrap();
    assert_eq!(robust.variant.to_string(), "zero/ymm/u4");
    assert!((robust.max_regret - 0.41).abs() < 0.05, "{robust:?}");
    assert_eq!(size.best_nt.as_ref().unwrap().variant.to_string(), "zero/ymm/u4/nt");
    assert_eq!(size.best_plain, size.robust);
    // libc takes 100 ns, the winner 92.5.
    let libc = size.cells[0].baselines.iter().find(|b| b.name == "libc").unwrap();
    let libc = libc.result.as_ref().unwrap();
    assert!((libc.ratio - 100.0 / 92.5).abs() < 0.01, "{libc:?}");
    assert_eq!(libc.verdict, Verdict::Slower);
    assert!((near.bytes_per_cycle - 4096.0 / (92.5 * 2.0)).abs() < 0.3, "{near:?}");
    // Everyone was looked at in l1, and every phase left its rows.
    assert_eq!(size.cells[0].trials, list.len() as u64);
    for phase in [Phase::Screen, Phase::Race, Phase::Confirm] {
        assert!(rows.0.iter().any(|r| r.0 == phase), "{phase}");
    }
    // Every class and store type raced.
    for class in ["r64", "xmm", "ymm"] {
        for nt in [false, true] {
            let raced = |r: &&(Phase, String, bool, usize)| {
                r.0 == Phase::Race && r.1.contains(class) && r.1.ends_with("/nt") == nt
            };
            assert!(rows.0.iter().any(|r| raced(&r)), "{class} nt={nt}");
        }
    }
    // Raw samples are kept of finals and confirmations, not of what comes before.
    let keeps = |phase| matches!(phase, Phase::Race | Phase::Confirm);
    assert!(rows.0.iter().all(|r| (r.3 > 0) == keeps(r.0)));
}

#[test]
fn a_mix_is_a_question_of_its_own_beside_sizes() {
    /// Answers only where the sizes that calls are drawn from come with the cell.
    struct Asked<'a>(&'a mut Script, Vec<(Cell, Vec<(u32, f64)>)>);
    impl Evaluator for Asked<'_> {
        fn evaluate(&mut self, request: &BlockRequest) -> Result<BlockResult, EvaluateError> {
            self.1.push((request.cell, request.weights.clone()));
            self.0.evaluate(request)
        }

        fn verify(
            &mut self,
            op: Op,
            bodies: &[Body],
            check: Check,
        ) -> Result<Vec<Result<(), Failure>>, EvaluateError> {
            self.0.verify(op, bodies, check)
        }
    }
    let list = candidates();
    let mix = SizeMix::parse("", "web", "8,3\n4096,0.1").unwrap();
    let mut asked = question(&[Level::L1]);
    asked.mixes = vec![mix.clone()];
    let plans =
        plan(&asked, &looptune::measure::Levels::of(&looptune::host::Host::detect().caches));
    // The mean is small: both drives, as of small sizes.
    let drives: Vec<Vec<Drive>> =
        plans.iter().map(|p| p.cells.iter().map(|c| c.drive).collect()).collect();
    assert_eq!(drives, [vec![Drive::Throughput], Drive::ALL.to_vec()]);
    let job = Job {
        question: &asked,
        plans: &plans,
        candidates: &list,
        incumbents: &Incumbents::default(),
        strategy: Strategy::default(),
        tick_hz: TICK_HZ,
        spent: Duration::ZERO,
    };
    // What is best for the mix is not what is best for the size.
    let of_mix = |cell: &Cell, v: Option<&Variant>| match (cell.mix, v) {
        (Some(_), Some(v)) => 20.0 + f64::from(v.unroll),
        _ => machine(cell, v),
    };
    let mut script = Script::new(&list, of_mix);
    let mut evaluator = Asked(&mut script, Vec::new());
    let outcome = search(&job, &mut evaluator, &mut ()).unwrap();
    let winners: Vec<u8> =
        outcome.sizes.iter().map(|s| s.cells[0].winner.as_ref().unwrap().variant.unroll).collect();
    assert_eq!(winners, [4, 1]);
    let extents: Vec<Extent> = outcome.sizes.iter().map(|s| s.extent).collect();
    assert_eq!(extents, [Extent::fixed(4096), mix.extent()]);
    let winner = outcome.sizes[1].cells[0].winner.as_ref().unwrap();
    let wanted = mix.mix.mean() / (21.0 * 2.0);
    assert!((winner.bytes_per_cycle - wanted).abs() < 0.1, "{winner:?}");
    assert!(evaluator.1.iter().all(|(cell, weights)| match cell.mix {
        None => weights.is_empty(),
        Some(of) => of == mix.mix && *weights == mix.weights,
    }));
}

#[test]
fn who_was_chosen_before_stays_unless_something_is_faster() {
    let list = candidates();
    let flat = |_: &Cell, v: Option<&Variant>| match v {
        Some(v) if v.class == Class::Ymm && v.unroll == 1 => 84.0,
        Some(v) if v.class == Class::Ymm => 80.0,
        Some(_) => 120.0,
        None => 100.0,
    };
    let chosen = |before: Option<&str>| {
        let mut script = Script::new(&list, flat);
        let (found, _) = run(&mut script, &list, &[Level::L1]);
        if let Some(id) = before {
            let variant: Variant = id.parse().unwrap();
            let mut earlier = found;
            let size = &mut earlier.sizes[0];
            size.cells[0].winner.as_mut().unwrap().variant = variant;
            size.robust.as_mut().unwrap().variant = variant;
            script.incumbents.take(&earlier);
            // What is newer was taken first.
            size_of_another(&mut earlier, "zero/r64");
            script.incumbents.take(&earlier);
        }
        let (found, _) = run(&mut script, &list, &[Level::L1]);
        let size = &found.sizes[0];
        let ids =
            [size.robust.as_ref().unwrap().variant, size.cells[0].winner.as_ref().unwrap().variant];
        ids.map(|v| v.to_string())
    };
    assert_eq!(chosen(None), ["zero/ymm/u2", "zero/ymm/u2"], "the shortest of equals");
    assert_eq!(chosen(Some("zero/ymm/u8")), ["zero/ymm/u8", "zero/ymm/u8"]);
    assert_eq!(chosen(Some("zero/ymm")), ["zero/ymm/u2", "zero/ymm/u2"], "5 % slower now");
    // Of a space that it is no part of it is forgotten.
    assert_eq!(chosen(Some("zero/ymm/u16")), ["zero/ymm/u2", "zero/ymm/u2"]);
}

fn size_of_another(outcome: &mut looptune::search::SearchOutcome, id: &str) {
    let variant: Variant = id.parse().unwrap();
    outcome.sizes[0].cells[0].winner.as_mut().unwrap().variant = variant;
    outcome.sizes[0].robust.as_mut().unwrap().variant = variant;
}

#[test]
fn ties_are_reported_as_ties_and_the_shortest_code_is_picked() {
    let list = candidates();
    let flat = |_: &Cell, v: Option<&Variant>| match v {
        Some(v) if v.class == Class::Ymm && v.store == Store::Plain => 80.0,
        Some(_) => 120.0,
        None => 100.0,
    };
    let (outcome, _) = run(&mut Script::new(&list, flat), &list, &[Level::L1]);
    let cell = &outcome.sizes[0].cells[0];
    let winner = cell.winner.as_ref().unwrap();
    assert_eq!(winner.variant.to_string(), "zero/ymm");
    assert_eq!(cell.ties.len(), 3, "{:?}", cell.ties);
    assert!(cell.standings.iter().any(|s| s.verdict == Verdict::Slower));
}

#[test]
fn a_pick_that_fresh_data_find_slower_does_not_win() {
    let list = candidates();
    // In the final the shortest is a hair behind the fastest and tied; on fresh data it is not.
    let flat = |_: &Cell, v: Option<&Variant>| match v {
        Some(v) if v.class == Class::Ymm && v.store == Store::Plain => {
            80.0 - f64::from(v.unroll) / 20.0
        }
        Some(_) => 120.0,
        None => 100.0,
    };
    let mut script = Script::new(&list, flat);
    script.among_few = |v| if v.unroll == 1 { 1.3 } else { 1.0 };
    let (outcome, _) = run(&mut script, &list, &[Level::L1]);
    let winner = outcome.sizes[0].cells[0].winner.as_ref().unwrap();
    assert!(winner.variant.unroll > 1, "{winner:?}");
    assert!(!outcome.sizes[0].cells[0].ties.contains(&winner.variant));
    assert!((winner.ns - 80.0).abs() < 1.0, "{winner:?}");
}

#[test]
fn failures_are_counted_and_what_fails_the_full_verification_cannot_win() {
    let list = candidates();
    let mut script = Script::new(&list, machine);
    script.fails = |v| match (v.class, v.unroll) {
        (Class::R64, 1) => Some(FailureKind::Crashed { signal: 4 }),
        (Class::R64, 2) => Some(FailureKind::Hung),
        _ => None,
    };
    script.full_fails = |v| v.class == Class::Ymm && v.unroll == 4;
    let (outcome, _) = run(&mut script, &list, &[Level::L1]);
    let cell = &outcome.sizes[0].cells[0];
    assert_eq!((cell.excluded.crashed, cell.excluded.hung), (2, 2));
    assert_eq!(cell.trials, list.len() as u64 - 4);
    let winner = cell.winner.as_ref().unwrap();
    assert!(winner.variant.class == Class::Ymm && winner.variant.unroll != 4, "{winner:?}");
    assert!(outcome.warnings.iter().any(|w| w.contains("zero/ymm/u4 was fast but failed")));
}

#[test]
fn when_nothing_can_be_timed_it_says_so() {
    let list = candidates();
    let mut script = Script::new(&list, machine);
    script.fails = |_| Some(FailureKind::Hung);
    let (outcome, _) = run(&mut script, &list, &[Level::L1]);
    assert!(outcome.sizes[0].cells[0].winner.is_none());
    assert!(outcome.warnings.iter().any(|w| w.contains("no candidate could be timed")));
}

#[test]
fn an_interruption_at_any_request_ends_with_results_so_far() {
    let list = candidates();
    for patience in [1, 2, 5, 9, 14, 20, 27, 35, 40, 45, 50, 55] {
        let mut script = Script::new(&list, machine);
        script.patience = patience;
        let (outcome, _) = run(&mut script, &list, &[Level::L1, Level::Dram]);
        let interrupted = outcome.warnings.iter().any(|w| w.starts_with("interrupted"));
        let stopped = outcome.sizes[0].cells.iter().any(|c| c.stop == Stop::Interrupted);
        let winners = outcome.sizes[0].cells.iter().filter(|c| c.winner.is_some()).count();
        assert!(interrupted || winners == 2, "patience {patience}");
        assert!(!stopped || interrupted);
        // A winner that has met no baseline is not all that was asked for.
        for cell in &outcome.sizes[0].cells {
            let complete = cell.winner.is_some() && !cell.baselines.is_empty();
            assert!(complete || cell.stop == Stop::Interrupted, "patience {patience}: {cell:?}");
        }
    }
}
