//! The self-test on scripted machines that are biased on purpose, and the command itself.

use std::collections::HashMap;
use std::process::Command;

use looptune::host::Host;
use looptune::measure::Levels;
use looptune::search::selftest::traps::{Finding, Shown, Side, Trap, TrapHost, TrapTest, traps};
use looptune::search::selftest::{NoiseTest, StateNoise, noise};
use looptune::subject::{Cell, Drive, Level, Op, State};
use looptune::trial::{
    BlockRequest, BlockResult, Check, Clock, Countermeasure, Disturbance, EvaluateError, Evaluator,
    Failure, MemberOrder, Sample, Without,
};
use rand::seq::SliceRandom as _;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// A machine whose calls take 100 ticks, but for what is wrong with it.
#[derive(Clone, Copy)]
struct Machine {
    /// Spread of a sample to either side, as a fraction.
    noise: f64,
    /// What a call after a non-temporal one takes more.
    after_nt: f64,
    /// What the first of a block takes more.
    first: f64,
    /// Growth of all times by each request.
    drift: f64,
    /// Whether plants are forgotten.
    deaf: bool,
    /// What a call takes more in requests that leave the fence off.
    unfenced: f64,
    requests: u32,
}

const SOUND: Machine = Machine {
    noise: 0.005,
    after_nt: 0.0,
    first: 0.0,
    drift: 0.0,
    deaf: false,
    unfenced: 0.0,
    requests: 0,
};

impl Evaluator for Machine {
    fn evaluate(&mut self, request: &BlockRequest) -> Result<BlockResult, EvaluateError> {
        self.requests += 1;
        let mut rng = ChaCha8Rng::seed_from_u64(request.seed);
        let mut samples = Vec::new();
        for layout in 0..request.layouts {
            for block in 0..request.blocks {
                let mut order: Vec<usize> = (0..request.members.len()).collect();
                if request.order == MemberOrder::Shuffled {
                    order.shuffle(&mut rng);
                }
                let mut after_nt = false;
                for (place, m) in order.iter().enumerate() {
                    let member = &request.members[*m];
                    let mut factor = 1.0 + rng.random_range(-self.noise..self.noise);
                    factor += if after_nt { self.after_nt } else { 0.0 };
                    factor += if place == 0 { self.first } else { 0.0 };
                    factor += if self.deaf { 0.0 } else { member.plant };
                    factor += self.drift * f64::from(self.requests);
                    if request.without.leaves_off(Countermeasure::Fence) {
                        factor += self.unfenced;
                    }
                    after_nt = member.body.leaves_cache();
                    samples.push(Sample {
                        member: *m as u32,
                        layout,
                        block,
                        ticks: (factor * 100_000.0) as u64,
                        calls: 1000,
                        disturbance: Disturbance { switches: 0, repeats: u32::from(block == 2) },
                        thread: 0,
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
        bodies: &[looptune::trial::Body],
        _: Check,
    ) -> Result<Vec<Result<(), Failure>>, EvaluateError> {
        Ok(vec![Ok(()); bodies.len()])
    }
}

/// Contests a test: the bootstrap behind each takes its time.
const CONTESTS: u32 = 12;

fn cell(level: Level) -> Cell {
    Cell::new(Op::Zero, 4096, State::both(level), Drive::Throughput)
}

fn tested(mut machine: Machine, level: Level, without: Without) -> StateNoise {
    let test = NoiseTest { cells: vec![cell(level)], contests: CONTESTS, seed: 5, without };
    let usable = Host::detect().usable;
    let found = noise(&test, &usable, &mut machine, &mut ()).unwrap();
    assert!(!found.interrupted);
    found.states.into_iter().next().unwrap()
}

#[test]
fn a_sound_machine_is_believed() {
    let found = tested(SOUND, Level::L1, Without::NOTHING);
    assert_eq!((found.false_wins.hits, found.false_wins.of), (0, u64::from(CONTESTS)));
    assert!(found.believable < 0.005 && !found.is_loud(), "{found:?}");
    assert!(found.power.iter().all(|p| p.found.rate() >= 0.95), "{:?}", found.power);
    assert!(!found.predecessor.is_there() && !found.order.is_there(), "{found:?}");
    assert!(found.drift.sentinel < 0.002, "{:?}", found.drift);
    // One block in three was repeated: of each, once.
    assert_eq!(found.repeated.hits * 3, found.repeated.of);
    assert_eq!(found.repeated.of, u64::from(found.layouts * 3 * CONTESTS));
    assert_eq!(found.disturbed.hits, 0);
}

#[test]
fn a_loud_machine_is_believed_less() {
    let loud = Machine { noise: 0.5, ..SOUND };
    let found = tested(loud, Level::L1, Without::NOTHING);
    assert!(found.is_loud() && found.believable > 0.02, "{found:?}");
    // What is believed is found.
    let seen = |p: &&looptune::search::selftest::Power| p.planted > found.believable * 1.2;
    assert!(found.power.iter().filter(seen).all(|p| p.found.rate() > 0.8), "{found:?}");
    assert!(found.power[0].found.rate() < 0.5, "{:?}", found.power);
}

#[test]
fn a_predecessor_that_costs_is_caught() {
    let found = tested(Machine { after_nt: 0.05, ..SOUND }, Level::Llc, Without::NOTHING);
    assert!(found.predecessor.is_there(), "{:?}", found.predecessor);
    assert!((found.predecessor.ratio - 1.05).abs() < 0.01, "{:?}", found.predecessor);
    // In an order that never changes too.
    let fixed = Without::from_iter([Countermeasure::Shuffle]);
    let found = tested(Machine { after_nt: 0.05, ..SOUND }, Level::Llc, fixed);
    assert!(found.predecessor.is_there(), "{:?}", found.predecessor);
}

#[test]
fn a_first_place_that_costs_is_caught_and_shuffling_makes_nothing_of_it() {
    let slow_first = Machine { first: 0.05, ..SOUND };
    let found = tested(slow_first, Level::L1, Without::NOTHING);
    assert!(found.order.is_there() && (found.order.ratio - 1.05).abs() < 0.01, "{found:?}");
    assert_eq!(found.false_wins.hits, 0, "{found:?}");
    let fixed = Without::from_iter([Countermeasure::Shuffle]);
    let found = tested(slow_first, Level::L1, fixed);
    assert_eq!(
        found.false_wins.hits,
        u64::from(CONTESTS),
        "the first loses to its equal: {found:?}"
    );
}

#[test]
fn a_plant_that_is_not_there_is_not_found_and_drift_is_seen() {
    let found = tested(Machine { deaf: true, ..SOUND }, Level::L1, Without::NOTHING);
    assert!(found.power.iter().all(|p| p.found.rate() < 0.4), "{:?}", found.power);
    let found = tested(Machine { drift: 0.005, ..SOUND }, Level::L1, Without::NOTHING);
    assert!((found.drift.sentinel - 0.05).abs() < 0.02, "{:?}", found.drift);
    assert_eq!(found.false_wins.hits, 0, "what moves for all moves nobody's ratio");
}

fn shown(mut machine: Machine, without: Without) -> Shown {
    let host = Host::detect();
    let host = TrapHost { usable: host.usable, told: Levels::of(&host.caches), measured: None };
    let test = TrapTest { traps: vec![Trap::MissingFence], seed: 5, without };
    traps(&test, &host, &mut machine, &mut ()).unwrap().shown.remove(0)
}

#[test]
fn a_trap_is_shut_not_seen_or_open() {
    // Without the fence a tenth of the time is missing; or nothing is.
    let bites = Machine { unfenced: -0.1, ..SOUND };
    let found = shown(bites, Without::NOTHING);
    assert_eq!((found.finding(), found.tries), (Some(Finding::Shut), 1), "{found:?}");
    let found = shown(SOUND, Without::NOTHING);
    assert_eq!(found.finding(), Some(Finding::NotSeen), "{found:?}");
    // The check fails where its countermeasure is left off.
    let found = shown(bites, Without::from_iter([Countermeasure::Fence]));
    assert_eq!((found.finding(), found.tries), (Some(Finding::Open), 3), "{found:?}");
    assert!(found.is_open());
}

#[test]
fn every_countermeasure_has_its_trap_and_every_trap_its_words() {
    let kept: HashMap<_, _> =
        Trap::ALL.iter().filter_map(|t| Some((t.countermeasure()?, *t))).collect();
    for one in Countermeasure::ALL {
        assert!(kept.contains_key(one), "{one} shuts no trap");
    }
    for trap in Trap::ALL {
        assert!(trap.asks().ends_with('.') && !trap.runs().0.is_empty(), "{trap}");
    }
}

fn looptune(args: &[&str]) -> (serde_json::Value, Option<i32>, String) {
    let out = Command::new(env!("CARGO_BIN_EXE_looptune")).args(args).output().unwrap();
    let stderr = String::from_utf8_lossy(&out.stderr).to_string();
    let document = serde_json::from_slice(&out.stdout).unwrap_or(serde_json::Value::Null);
    (document, out.status.code(), stderr)
}

#[test]
fn the_command_tells_what_can_be_believed() {
    let args = ["selftest", "--state", "l1", "--contests", "4", "--seed", "3", "--json"];
    let (found, status, stderr) = looptune(&args);
    // Also where it is loud, as on a machine that tests keep busy.
    assert_eq!(status, Some(0), "{stderr}");
    assert_eq!((found["schema"].as_u64(), found["seed"].as_u64()), (Some(1), Some(3)));
    let state = &found["states"][0];
    assert_eq!(state["state"], "l1");
    assert_eq!(state["false_wins"]["of"], 4);
    assert_eq!(state["power"].as_array().unwrap().len(), 4);
    assert!(state["believable"].as_f64().unwrap() > 0.0);
    assert!(state["verdict"].as_str().unwrap().contains("can be believed here, now"));
}

#[test]
fn the_command_shows_a_trap() {
    let (found, status, stderr) = looptune(&["selftest", "--only", "loop-address", "--json"]);
    let trap = &found["traps"][0];
    assert_eq!(trap["name"], "loop-address", "{stderr}");
    // Whether it bites, and whether the machine is quiet enough, is the machine's affair; that
    // the status says the same as the document is not.
    let open = trap["finding"] == "open";
    assert_eq!(status, Some(i32::from(open)), "{trap}");
    assert!(trap["with"]["value"].as_f64().unwrap() > 0.0);
}

#[test]
fn wrong_words_are_refused() {
    for (args, word) in [
        (&["selftest", "--only", "fense"][..], "fense"),
        (&["selftest", "--busy=spinn"], "spinn"),
        (&["selftest", "--contests", "1"], "1"),
        (&["selftest", "--size", "many"], "many"),
    ] {
        let (_, status, stderr) = looptune(args);
        assert_eq!(status, Some(2), "{args:?}: {stderr}");
        assert!(stderr.contains(word), "{stderr}");
    }
}

#[test]
fn sides_say_themselves() {
    let side = Side { value: 1.0, text: String::new(), holds: true };
    let cannot = Shown { trap: Trap::FirstTouch, sides: Err("why".into()), tries: 0 };
    assert_eq!((cannot.finding(), cannot.is_open()), (None, false));
    let shown = Shown { sides: Ok((side.clone(), side)), ..cannot };
    assert_eq!(shown.finding(), Some(Finding::NotSeen));
}
