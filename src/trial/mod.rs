//! What a measurement is: a [`BlockRequest`] asks for blocks of samples, a [`BlockResult`]
//! answers it, a [`Failure`] says why there is none. [`Evaluator`] is anything that answers
//! (the worker's client, a replay of recorded results, a script in a test); [`Observer`] is
//! anything that wants to hear of it.

mod block;
mod body;
mod company;
mod countermeasure;
mod failure;
mod record;

pub use crate::subject::Contract;
pub use block::{
    BlockRequest, BlockResult, Check, Clock, Disturbance, Member, MemberOrder, Sample,
};
pub use body::{Body, Machine};
pub use company::Company;
pub use countermeasure::{Countermeasure, Without};
pub use failure::{Failure, FailureKind, Misbehaviour};
pub use record::{Phase, Progress, Role, Summary, Trial};

use std::time::Duration;

/// Answers requests for blocks.
pub trait Evaluator {
    /// Emits, verifies and times the members. One result a request; what went wrong with
    /// single members stands in the result, and the others are still measured.
    ///
    /// # Errors
    /// Only where no worker can be had at all.
    fn evaluate(&mut self, request: &BlockRequest) -> Result<BlockResult, EvaluateError>;

    /// Verifies without timing: one outcome a body, in order.
    ///
    /// # Errors
    /// As [`Evaluator::evaluate`].
    fn verify(
        &mut self,
        op: crate::subject::Op,
        bodies: &[Body],
        check: Check,
    ) -> Result<Vec<Result<(), Failure>>, EvaluateError>;

    /// Whether a body can have another time in a cell than the one that it is a setting of.
    fn tells_apart(&self, _body: &Body, _cell: &crate::subject::Cell) -> bool {
        true
    }

    /// What time it is, since an origin of its own, never going back. Whoever counts time in a
    /// decision asks here and nowhere else: then the same answers lead to the same decisions. An
    /// evaluator that stands for another must ask that one; a replay gives what was recorded.
    fn clock(&mut self) -> Duration {
        crate::units::uptime()
    }
}

/// No worker can be had.
#[derive(Debug, thiserror::Error)]
pub enum EvaluateError {
    /// The worker process did not start or broke off before it could say hello.
    #[error("the worker process could not be started ({command}): {why}")]
    Start {
        /// The command that was tried.
        command: String,
        /// What happened.
        why: String,
    },
    /// The worker is another machine than the parent, or speaks another protocol.
    #[error("the worker does not match: {0}")]
    Mismatch(String),
    /// A replay has no row for what was asked.
    #[error("nothing recorded answers the question: {0}")]
    NotRecorded(String),
    /// The command was interrupted.
    #[error("interrupted")]
    Interrupted,
}

/// Hears of every trial. Must not fail: what it cannot keep it says for itself.
pub trait Observer {
    /// A subject was measured, or failed.
    fn trial(&mut self, trial: &Trial<'_>);

    /// A request was answered; the trials that follow, up to the next request, are its. `request`
    /// is its seed, which tells it from others; `epoch` is the visit of the whole field that it
    /// belongs to, where the field is visited again and again.
    fn request(&mut self, _request: u64, _epoch: Option<u32>) {}

    /// Whether trials of a phase should come with their raw samples. Those of screening are many,
    /// and no claim rests on them.
    fn wants_samples(&self, phase: Phase) -> bool {
        matches!(phase, Phase::Race | Phase::Confirm | Phase::Bench)
    }

    /// The run goes on.
    fn progress(&mut self, _progress: &Progress) {}
}

impl Observer for () {
    fn trial(&mut self, _: &Trial<'_>) {}
}
