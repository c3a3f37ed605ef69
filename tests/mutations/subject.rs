//! Functions of real variants, whole and broken, and what a worker says of them.

use looptune::encode::Encoder;
use looptune::host::{FeatureSet, Host};
use looptune::ir::{Function, Gp, Insn, Item, Part, lower};
use looptune::subject::{Op, Variant};
use looptune::trial::{Body, Check, Evaluator, Failure, FailureKind};
use looptune::worker::{Client, ClientOptions};

pub(crate) const SIGSEGV: FailureKind = FailureKind::Crashed { signal: 11 };

/// Bodies in one question: each crash makes the rest of it be asked again.
const BATCH: usize = 24;

/// A loop of every kind, with every tail, count and detour.
const IDS: [&str; 29] = [
    "copy/r64/u4",
    "copy/r64/u2/nt",
    "copy/r64/u4/tail-bytes",
    "copy/xmm/u4",
    "copy/xmm/u4/nt/dec",
    "copy/xmm/u4/batch/negidx",
    "copy/ymm/u4",
    "copy/ymm/u2/aligned/tail-bytes",
    "copy/ymm/u8/nt",
    "copy/mmx/u4",
    "copy/mmx/u2/nt",
    "copy/rep64/tail-overlap",
    "zero/r64/u4",
    "zero/xmm/u4/negidx",
    "zero/xmm/u2/nt/tail-bytes",
    "zero/ymm/u4",
    "zero/ymm/u8/nt",
    "zero/mmx/u4",
    "zero/mmx/u2/nt/tail-bytes",
    "zero/rep64/tail-overlap",
    "copy/x87i/u4",
    "copy/r64/u4/bwd/dec",
    "copy/xmm/u4/src-block",
    "copy/xmm/u4/bounce1024",
    "copy/mmx/u4/nt/bounce2048/tail-bytes",
    "zero/x87/u4",
    "zero/x87i/u2",
    "zero/xmm/u4/s2",
    "zero/clzero/u2",
];

/// Those of them whose every access is moved, since each fault costs a worker.
const SWEPT: [&str; 11] = [
    "copy/r64/u4/tail-bytes",
    "copy/xmm/u4/batch/negidx",
    "copy/ymm/u2/aligned/tail-bytes",
    "copy/mmx/u2/nt",
    "zero/xmm/u4/negidx",
    "zero/ymm/u4",
    "zero/mmx/u2/nt/tail-bytes",
    "zero/rep64/tail-overlap",
    "copy/x87i/u4",
    "copy/xmm/u4/bounce1024",
    "zero/x87/u4",
];

/// One function, perhaps broken.
#[derive(Clone)]
pub(crate) struct Subject {
    pub(crate) name: String,
    pub(crate) op: Op,
    pub(crate) function: Function,
}

impl Subject {
    pub(crate) fn new(id: &str) -> Subject {
        let variant: Variant = id.parse().unwrap();
        let mut function = Function::default();
        lower(&variant, &mut function).unwrap();
        Subject { name: id.into(), op: variant.op, function }
    }

    pub(crate) fn size(&self) -> Gp {
        if self.op == Op::Copy { Gp::Rdx } else { Gp::Rsi }
    }

    /// The instructions with their places, and the part each stands in.
    pub(crate) fn insns(&self) -> Vec<(usize, Part, Insn)> {
        let mut part = Part::Entry;
        let mut found = Vec::new();
        for (at, item) in self.function.items.iter().enumerate() {
            match item {
                Item::Part(p) => part = *p,
                Item::Insn(insn) => found.push((at, part, *insn)),
                _ => {}
            }
        }
        found
    }

    /// The function with the item at a place replaced by others.
    pub(crate) fn with(&self, what: &str, at: usize, items: &[Insn]) -> Subject {
        let mut mutant = self.clone();
        mutant.name = format!("{}: {what} at item {at}", self.name);
        mutant.function.items.splice(at..=at, items.iter().copied().map(Item::Insn));
        mutant
    }

    /// One mutant for each instruction that `change` makes something of.
    pub(crate) fn each(
        &self,
        what: &str,
        change: impl Fn(Part, Insn) -> Option<Vec<Insn>>,
    ) -> Vec<Subject> {
        let insns = self.insns();
        let changed = insns.iter().filter_map(|(at, part, insn)| {
            change(*part, *insn).map(|items| self.with(what, *at, &items))
        });
        changed.collect()
    }

    /// One mutant for each way out, with an instruction before it.
    pub(crate) fn before_each_return(&self, what: &str, insn: Insn) -> Vec<Subject> {
        self.each(what, |_, i| (i == Insn::Ret).then(|| vec![insn, i]))
    }
}

/// The subjects that this host can run.
pub(crate) fn subjects() -> Vec<Subject> {
    let usable: FeatureSet = Host::detect().usable;
    let runs = |s: &Subject| {
        let code = Encoder::new().encode(&s.function).unwrap();
        code.features.minus(usable).is_empty()
    };
    let subjects: Vec<Subject> = IDS.iter().map(|id| Subject::new(id)).filter(runs).collect();
    assert!(subjects.len() >= 12, "every x86-64 has these");
    subjects
}

pub(crate) fn mutants(make: impl Fn(&Subject) -> Vec<Subject>) -> Vec<Subject> {
    subjects().iter().flat_map(make).collect()
}

pub(crate) fn swept_mutants(make: impl Fn(&Subject) -> Vec<Subject>) -> Vec<Subject> {
    let swept = |s: &&Subject| SWEPT.contains(&s.name.as_str());
    subjects().iter().filter(swept).flat_map(make).collect()
}

/// What a worker says of each subject.
pub(crate) fn said(subjects: &[Subject], check: Check) -> Vec<Option<Failure>> {
    let program = env!("CARGO_BIN_EXE_looptune").to_string();
    let mut client = Client::new(ClientOptions::new(vec![program]));
    let mut encoder = Encoder::new();
    let mut said = Vec::new();
    for op in Op::ALL {
        let of_op: Vec<usize> = (0..subjects.len()).filter(|i| subjects[*i].op == *op).collect();
        for batch in of_op.chunks(BATCH) {
            let bodies: Vec<Body> = batch
                .iter()
                .map(|i| {
                    let code = encoder.encode(&subjects[*i].function).unwrap();
                    Body::Machine(code.machine())
                })
                .collect();
            let outcomes = client.verify(*op, &bodies, check).unwrap();
            said.extend(batch.iter().zip(outcomes).map(|(i, o)| (*i, o.err())));
        }
    }
    said.sort_by_key(|(i, _)| *i);
    said.into_iter().map(|(_, failure)| failure).collect()
}

/// Asserts that every mutant is caught for a right reason, by either set.
pub(crate) fn caught(mutants: &[Subject], right: impl Fn(&FailureKind) -> bool) {
    assert!(!mutants.is_empty());
    for check in [Check::Quick { size: 512 }, Check::Full] {
        let mut wrong = Vec::new();
        for (mutant, failure) in mutants.iter().zip(said(mutants, check)) {
            match failure {
                None => wrong.push(format!("{} passed", mutant.name)),
                Some(failure) => {
                    let case = &failure.case;
                    let named = case.starts_with("n=")
                        && case.contains("dst")
                        && (mutant.op == Op::Zero || case.contains("src"));
                    if !named || !right(&failure.kind) {
                        wrong.push(format!("{}: {failure}", mutant.name));
                    }
                }
            }
        }
        let all = mutants.len();
        assert!(wrong.is_empty(), "{check:?}, {} of {all}:\n{}", wrong.len(), wrong.join("\n"));
    }
}
