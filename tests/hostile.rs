//! A search with candidates that crash, hang and lie: it completes, and each of them is a row
//! with its reason.

use std::time::Duration;

use looptune::host::Host;
use looptune::search::{Budget, Candidate, Job, Question, Strategy, compile_all, plan, search};
use looptune::subject::{Baseline, Drive, Level, Op, State, Variant};
use looptune::trial::{
    Body, Contract, Failure, FailureKind, Machine, Misbehaviour, Observer, Phase, Trial,
};
use looptune::worker::{Client, ClientOptions};

const HARMLESS: [&str; 6] =
    ["zero/r64", "zero/r64/u4", "zero/r32/u2", "zero/xmm", "zero/xmm/u4", "zero/rep8"];

/// `endbr64`, then the code.
fn machine(bytes: &[u8]) -> Body {
    Body::Machine(Machine {
        bytes: [&[0xf3, 0x0f, 0x1e, 0xfa], bytes].concat(),
        loop_top: None,
        boundaries: vec![1],
        contract: Contract::User,
        fixed: None,
        leaves_cache: false,
    })
}

/// Code under the id of a loop that is not among the harmless ones.
fn hostile(id: &str, bytes: &[u8]) -> Candidate {
    let variant: Variant = id.parse().unwrap();
    Candidate { variant, body: machine(bytes), code_bytes: 4 + bytes.len() as u32 }
}

/// `ud2`
const ILLEGAL: (&str, &[u8]) = ("zero/r64/u6", &[0x0f, 0x0b]);

/// `jmp` to itself
const FOREVER: (&str, &[u8]) = ("zero/r64/u8", &[0xeb, 0xfe]);

/// `mov [rdi], al; inc rdi; jmp` back: up to the guard page.
const TO_THE_GUARD: (&str, &[u8]) = ("zero/r64/u12", &[0x88, 0x07, 0x48, 0xff, 0xc7, 0xeb, 0xf9]);

/// `mov [0], al`
const TO_NULL: (&str, &[u8]) = ("zero/r64/u16", &[0x88, 0x04, 0x25, 0, 0, 0, 0]);

/// `mov rax, rdi; ret`
const LAZY: (&str, &[u8]) = ("zero/r64/u32", &[0x48, 0x89, 0xf8, 0xc3]);

#[derive(Default)]
struct Rows(Vec<(Phase, String, Result<(), Failure>)>);

impl Observer for Rows {
    fn trial(&mut self, t: &Trial<'_>) {
        let outcome = t.outcome.as_ref().map(|_| ()).map_err(Clone::clone);
        self.0.push((t.phase, t.subject.to_string(), outcome));
    }
}

impl Rows {
    /// Why the candidate has no time: of the one row that it has.
    fn reason(&self, (id, _): (&str, &[u8])) -> &Failure {
        let rows: Vec<_> = self.0.iter().filter(|(_, subject, _)| subject == id).collect();
        assert_eq!(rows.len(), 1, "{id}: a failure is not tried again: {rows:?}");
        assert_eq!(rows[0].0, Phase::Screen);
        rows[0].2.as_ref().expect_err(id)
    }
}

#[test]
fn a_search_completes_around_them() {
    let mut candidates = compile_all(HARMLESS.map(|id| id.parse::<Variant>().unwrap())).unwrap();
    let harmless = candidates.len();
    for (i, (id, bytes)) in [ILLEGAL, FOREVER, TO_THE_GUARD, TO_NULL, LAZY].into_iter().enumerate()
    {
        candidates.insert(2 * i, hostile(id, bytes));
    }
    let host = Host::detect();
    let question = Question {
        contract: Contract::User,
        op: Op::Zero,
        sizes: vec![256],
        mixes: Vec::new(),
        states: Some(vec![State::both(Level::L1)]),
        drives: Some(vec![Drive::Throughput]),
        conditions: looptune::subject::Conditions::DEFAULT,
        consumers: vec![looptune::subject::Consumer::None],
        budget: Some(Budget::Samples(4000)),
        seed: 1,
        baselines: Baseline::PRESENT.to_vec(),
        weights: Vec::new(),
    };
    let plans = plan(&question, &looptune::measure::Levels::of(&host.caches));
    let deadline = Duration::from_secs(1);
    let program = env!("CARGO_BIN_EXE_looptune").to_string();
    let mut client = Client::new(ClientOptions { deadline, ..ClientOptions::new(vec![program]) });
    let mut rows = Rows::default();
    let job = Job {
        question: &question,
        plans: &plans,
        candidates: &candidates,
        incumbents: &looptune::search::Incumbents::default(),
        strategy: Strategy::default(),
        tick_hz: host.tsc.calibrated_hz,
        spent: Duration::ZERO,
    };
    let outcome = search(&job, &mut client, &mut rows).unwrap();

    let cell = &outcome.sizes[0].cells[0];
    let winner = cell.winner.as_ref().expect("the harmless ones were timed");
    assert!(HARMLESS.contains(&winner.variant.to_string().as_str()), "{winner:?}");
    assert!(winner.ns > 0.0);
    assert_eq!(cell.trials, harmless as u64);
    let found = &cell.excluded;
    assert_eq!((found.crashed, found.hung, found.incorrect, found.unsupported), (3, 1, 1, 0));
    for baseline in &cell.baselines {
        assert!(baseline.result.is_ok(), "{baseline:?}");
    }

    assert_eq!(rows.reason(ILLEGAL).kind, FailureKind::Crashed { signal: 4 });
    assert_eq!(rows.reason(TO_THE_GUARD).kind, FailureKind::Crashed { signal: 11 });
    assert_eq!(rows.reason(TO_NULL).kind, FailureKind::Crashed { signal: 11 });
    assert_eq!(rows.reason(FOREVER).kind, FailureKind::Hung);
    let lie = &rows.reason(LAZY).kind;
    assert!(matches!(lie, FailureKind::Incorrect(Misbehaviour::WrongByte { .. })), "{lie:?}");
    for bad in [ILLEGAL, TO_THE_GUARD, TO_NULL, FOREVER, LAZY] {
        let failure = rows.reason(bad);
        assert!(failure.case.starts_with("n=") && failure.case.contains("dst"), "{failure}");
    }
    assert_eq!(client.lost(), 4);
}
