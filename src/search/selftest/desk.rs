//! What every part of a self-test needs at hand.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::host::FeatureSet;
use crate::search::{Candidate, Effort};
use crate::space;
use crate::subject::{Cell, Class, Op, Store, Variant};
use crate::trial::{
    BlockRequest, BlockResult, Body, Check, Countermeasure, EvaluateError, Evaluator, Failure,
    Member, MemberOrder, Without,
};

/// Why a self-test came to no end.
#[derive(Debug, thiserror::Error)]
pub enum SelftestError {
    /// No worker can be had.
    #[error(transparent)]
    Evaluate(#[from] EvaluateError),
    /// A loop of the test itself did not run.
    #[error("in {cell}, {subject} did not run: {failure}")]
    Member {
        /// Where.
        cell: Box<Cell>,
        /// Which loop.
        subject: String,
        /// What happened.
        failure: Box<Failure>,
    },
}

/// Who measures, with randomness and what is left off.
pub(super) struct Desk<'a> {
    pub(super) evaluator: &'a mut dyn Evaluator,
    pub(super) rng: ChaCha8Rng,
    pub(super) without: Without,
}

/// A member with its name.
pub(super) type Named<'m> = (&'m str, Member);

impl<'a> Desk<'a> {
    pub(super) fn new(evaluator: &'a mut dyn Evaluator, seed: u64, without: Without) -> Desk<'a> {
        Desk { evaluator, rng: ChaCha8Rng::seed_from_u64(seed), without }
    }

    /// Measures members on a fresh seed. In the order given where that is asked, or where
    /// shuffling is left off.
    pub(super) fn ask(
        &mut self,
        cell: Cell,
        members: &[Named<'_>],
        effort: Effort,
        order: MemberOrder,
    ) -> Result<BlockResult, SelftestError> {
        let request = BlockRequest {
            cell,
            weights: Vec::new(),
            members: members.iter().map(|(_, m)| m.clone()).collect(),
            seed: self.rng.random(),
            layouts: effort.layouts,
            blocks: effort.blocks,
            order: match self.without.leaves_off(Countermeasure::Shuffle) {
                true => MemberOrder::AsGiven,
                false => order,
            },
            check: Check::Quick { size: cell.size },
            pass_ns: effort.pass_ns,
            limit_ns: effort.limit_ns,
            without: self.without,
        };
        let result = self.evaluator.evaluate(&request)?;
        match result.failures.first() {
            None => Ok(result),
            Some((member, failure)) => Err(SelftestError::Member {
                cell: Box::new(cell),
                subject: members.get(*member as usize).map_or("?", |m| m.0).to_string(),
                failure: Box::new(failure.clone()),
            }),
        }
    }
}

/// The loops that a self-test runs of an op.
#[derive(Clone, Debug)]
pub(super) struct Loops {
    pub(super) plain: Candidate,
    pub(super) nt: Candidate,
}

impl Loops {
    /// The widest that this host has of plain vector loops, and the same with non-temporal
    /// stores. Every x86-64 processor has the narrower of them.
    pub(super) fn of(op: Op, usable: &FeatureSet) -> Option<Loops> {
        [Class::Ymm, Class::Xmm].into_iter().find_map(|class| {
            let plain = Variant { unroll: 4, ..Variant::new(op, class) };
            let head = Variant::default_head(Store::Nt, class);
            let nt = Variant { store: Store::Nt, head, ..plain };
            [plain, nt].iter().all(|v| space::supported(v, usable).is_ok()).then_some(())?;
            Some(Loops { plain: Candidate::new(plain).ok()?, nt: Candidate::new(nt).ok()? })
        })
    }
}

/// A loop as a member.
pub(super) fn member(body: &Body) -> Member {
    Member::new(body.clone())
}
