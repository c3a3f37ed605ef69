//! The evaluator of a search that can be resumed.

use std::time::Duration;

use serde::Serialize;

use super::Answer;
use super::log::RunLog;
use crate::subject::{Cell, Op};
use crate::trial::{BlockRequest, BlockResult, Body, Check, EvaluateError, Evaluator, Failure};
use crate::units::digest;

/// Answers from a log as long as it has answers, then through another evaluator, whose answers
/// go into the log. What the clock said is told again too, and goes on from there: the time
/// between is nobody's.
pub struct Continued<'a> {
    log: &'a mut RunLog,
    evaluator: &'a mut dyn Evaluator,
}

/// A question, as far as its answer hangs on it.
#[derive(Serialize)]
enum Question<'a> {
    Blocks(&'a BlockRequest),
    Verify(Op, &'a [Body], Check),
}

impl Question<'_> {
    fn digest(&self) -> Result<u64, EvaluateError> {
        let bytes = postcard::to_stdvec(self)
            .map_err(|e| EvaluateError::NotRecorded(format!("it cannot be written down: {e}")))?;
        Ok(digest(bytes))
    }
}

impl<'a> Continued<'a> {
    /// An evaluator of a search's log and of what comes after it.
    pub fn new(log: &'a mut RunLog, evaluator: &'a mut dyn Evaluator) -> Continued<'a> {
        Continued { log, evaluator }
    }

    fn ask(
        &mut self,
        question: &Question<'_>,
        ask: impl FnOnce(&mut dyn Evaluator) -> Result<Answer, EvaluateError>,
    ) -> Result<Answer, EvaluateError> {
        let digest = question.digest()?;
        if let Some(answer) = self.log.again(digest)? {
            return Ok(answer);
        }
        self.log.live(self.evaluator.clock());
        let answer = ask(self.evaluator)?;
        Ok(self.log.keep(digest, answer, self.evaluator.clock()))
    }
}

impl Evaluator for Continued<'_> {
    fn evaluate(&mut self, request: &BlockRequest) -> Result<BlockResult, EvaluateError> {
        let ask = |e: &mut dyn Evaluator| e.evaluate(request).map(Answer::Blocks);
        match self.ask(&Question::Blocks(request), ask)? {
            Answer::Blocks(result) => Ok(result),
            Answer::Verified(_) => Err(self.log.strayed()),
        }
    }

    fn verify(
        &mut self,
        op: Op,
        bodies: &[Body],
        check: Check,
    ) -> Result<Vec<Result<(), Failure>>, EvaluateError> {
        let ask = |e: &mut dyn Evaluator| e.verify(op, bodies, check).map(Answer::Verified);
        match self.ask(&Question::Verify(op, bodies, check), ask)? {
            Answer::Verified(outcomes) => Ok(outcomes),
            Answer::Blocks(_) => Err(self.log.strayed()),
        }
    }

    fn tells_apart(&self, body: &Body, cell: &Cell) -> bool {
        self.evaluator.tells_apart(body, cell)
    }

    fn clock(&mut self) -> Duration {
        self.log.tell_time(|| self.evaluator.clock())
    }
}
