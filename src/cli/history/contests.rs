//! Contests of a table, one after another.

use super::super::bench::course::PartOf;
use super::super::bench::ready;
use super::super::progress::ProgressLine;
use super::super::session::Session;
use crate::report::history::Measured;
use crate::search::{
    Budget, Contest, Contested, Entrant, Question, Row, SizePlan, contested, plan,
};
use crate::subject::{Cell, Conditions, Consumer, Contract, Drive, Op, Subject};
use crate::trial::{EvaluateError, Failure, FailureKind, Without};

/// What tables are measured with.
pub(super) struct Contests<'a> {
    pub(super) session: &'a mut Session,
    /// What a table may spend, where it is asked for.
    pub(super) budget: Option<Budget>,
    pub(super) seed: u64,
    pub(super) quiet: bool,
    /// Whether somebody interrupted: what is there is shown, and no more is begun.
    pub(super) cut: bool,
}

/// A contest to be.
pub(super) struct Planned {
    pub(super) cell: Cell,
    /// Ids and names; the first that runs here is the reference.
    pub(super) subjects: Vec<Subject>,
    /// What it gets where nothing is asked.
    pub(super) seconds: f64,
}

/// A contest that was measured, and who could not take part.
pub(super) struct Done {
    cell: Cell,
    contested: Contested,
    refused: Vec<Row>,
}

impl Done {
    /// Its rows without pairs: who runs first, then who cannot.
    pub(super) fn rows(&mut self) -> Measured {
        let mut rows = self.contested.rows();
        rows.extend(self.refused.iter().cloned());
        Measured { cell: self.cell, rows, pairs: Vec::new() }
    }

    /// Adds these pairs of the measured rows.
    pub(super) fn add_pairs(&mut self, measured: &mut Measured, pairs: &[(usize, usize)]) {
        let found = pairs.iter().filter_map(|(row, against)| self.contested.pair(*row, *against));
        measured.pairs.extend(found);
    }

    /// Its rows, with the pairs that are wanted of them.
    pub(super) fn with_pairs(mut self, wanted: fn(&Measured) -> Vec<(usize, usize)>) -> Measured {
        let mut measured = self.rows();
        let pairs = wanted(&measured);
        self.add_pairs(&mut measured, &pairs);
        measured
    }
}

/// Subjects by their ids.
pub(super) fn subjects(ids: &[&str]) -> anyhow::Result<Vec<Subject>> {
    Ok(ids.iter().map(|id| Subject::parse(id)).collect::<Result<_, _>>()?)
}

/// The cells of an op at some sizes, in every state that these can be in.
pub(super) fn cells(op: Op, sizes: Vec<u64>, session: &Session) -> Vec<SizePlan> {
    let question = Question {
        contract: Contract::User,
        op,
        sizes,
        mixes: Vec::new(),
        states: None,
        drives: Some(vec![Drive::Throughput]),
        conditions: Conditions::DEFAULT,
        consumers: vec![Consumer::None],
        budget: None,
        seed: 0,
        baselines: Vec::new(),
        weights: Vec::new(),
    };
    plan(&question, &session.reckoned.levels)
}

impl Contests<'_> {
    /// Measures contests; what was measured before an interruption is given.
    ///
    /// # Errors
    /// As the evaluator; an interruption before anything was measured.
    pub(super) fn run(&mut self, planned: Vec<Planned>) -> anyhow::Result<Vec<Done>> {
        let all = planned.len();
        let share = self.budget.map(|budget| match budget {
            Budget::Seconds(s) => Budget::Seconds(s / all.max(1) as f64),
            Budget::Samples(n) => Budget::Samples(n.div_ceil(all.max(1) as u64)),
        });
        let tick_hz = self.session.host.tsc.calibrated_hz;
        let mut line = PartOf { line: ProgressLine::new(self.quiet), begun: 0, all: all as f64 };
        let mut done = Vec::new();
        for planned in planned {
            let (entrants, refused) = self.entrants(&planned)?;
            let contest = Contest {
                cell: planned.cell,
                mix: None,
                entrants,
                budget: share.unwrap_or(Budget::Seconds(planned.seconds)),
                seed: self.seed.wrapping_add(u64::from(line.begun)),
                without: Without::NOTHING,
            };
            match contested(&contest, tick_hz, &mut self.session.client, &mut line) {
                Err(EvaluateError::Interrupted) if !done.is_empty() => {
                    self.cut = true;
                    break;
                }
                measured => {
                    let contested = measured?;
                    done.push(Done { cell: planned.cell, contested, refused });
                }
            }
            line.begun += 1;
        }
        line.line.finish();
        Ok(done)
    }

    /// Who takes part, and who this host refuses, with the reason.
    fn entrants(&self, planned: &Planned) -> anyhow::Result<(Vec<Entrant>, Vec<Row>)> {
        let mut entrants = Vec::new();
        let mut refused = Vec::new();
        for subject in &planned.subjects {
            match ready(subject, planned.cell.op, self.session)? {
                Ok(entrant) => entrants.push(entrant),
                Err(why) => {
                    let kind = FailureKind::Unsupported(why);
                    let failure = Failure { kind, case: String::new() };
                    refused.push(Row { subject: subject.clone(), result: Err(failure) });
                }
            }
        }
        Ok((entrants, refused))
    }
}
