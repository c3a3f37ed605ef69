//! The measuring behind an attribution.

use super::axes::{AxisRow, ExcludedValue, alternatives};
use super::edge::{edges, main_loop_matters};
use super::placebo::{self, Placebo};
use super::skew::{self, SkewCurve};
use super::{Attribution, Compared};
use crate::host::FeatureSet;
use crate::search::budget::Budget;
use crate::search::candidate::Candidate;
use crate::search::compare::{Contest, Contested, contested_within};
use crate::search::context::candidate_entrant;
use crate::search::panel::Entrant;
use crate::stats::{Verdict, holm_rejects};
use crate::subject::{Cell, SizeMix, Variant};
use crate::trial::{EvaluateError, Evaluator, Observer, Without};

/// Chance of one false verdict among all rows of a table.
const ALPHA: f64 = 0.05;

/// Parts of the budget: the skew curve with its 64 loops, the axes, the placebos.
const SKEW: f64 = 0.5;
const AXES: f64 = 0.4;
const PLACEBO: f64 = 0.1;

/// Layouts of a contest: with the most, hundreds of loops are told apart where they differ by
/// half a per cent, and more would be waited for longer than they are worth.
const LAYOUTS: (u32, u32) = (10, 240);

/// A question: why is this loop the winner of this cell?
#[derive(Clone, Copy, Debug)]
pub struct Study<'a> {
    /// Where.
    pub cell: Cell,
    /// The mix of the cell; `None` where it has one size.
    pub mix: Option<&'a SizeMix>,
    /// The loop.
    pub winner: Variant,
    /// The loops that it was found among.
    pub swept: &'a [Variant],
    /// What this host can run.
    pub usable: FeatureSet,
    /// What all of it may spend.
    pub budget: Budget,
    /// Seed of everything drawn.
    pub seed: u64,
    /// Time-stamp ticks a second.
    pub tick_hz: f64,
}

/// Measures why a loop wins; everything but the assembled object, which is not this layer's.
///
/// # Errors
/// As the evaluator.
pub fn attribute(
    study: &Study<'_>,
    evaluator: &mut dyn Evaluator,
    observer: &mut dyn Observer,
) -> Result<Attribution, EvaluateError> {
    let mut measuring = Measuring { study, evaluator, observer, contests: 0 };
    let skew = measuring.skew()?;
    let (axes, excluded) = measuring.axes()?;
    let placebos = measuring.placebos()?;
    let mut notes = Vec::new();
    if !main_loop_matters(&study.winner, &study.cell) {
        notes.push(format!(
            "the main loop moves {} bytes an iteration and hardly runs at this size: what is in it \
             did not make the winner",
            study.winner.block()
        ));
    }
    Ok(Attribution {
        cell: study.cell,
        winner: study.winner,
        skew,
        placebos,
        axes,
        excluded,
        edges: edges(&study.winner, study.swept.iter()),
        object: None,
        notes,
    })
}

/// A loop against the winner, or why it has no time.
pub(super) type Outcome = Result<Compared, String>;

struct Measuring<'a> {
    study: &'a Study<'a>,
    evaluator: &'a mut dyn Evaluator,
    observer: &'a mut dyn Observer,
    contests: u64,
}

impl Measuring<'_> {
    /// The winner and the others in blocks of their own; `part` of the budget.
    fn contest(&mut self, others: &[Variant], part: f64) -> Result<Contested, EvaluateError> {
        let study = self.study;
        let entrants: Vec<Entrant> = std::iter::once(&study.winner)
            .chain(others)
            .filter_map(|v| Some(candidate_entrant(&Candidate::new(*v).ok()?, false)))
            .collect();
        let contest = Contest {
            cell: study.cell,
            mix: study.mix.cloned(),
            entrants,
            budget: study.budget.part(part),
            seed: study.seed.wrapping_add(self.contests),
            without: Without::NOTHING,
        };
        self.contests += 1;
        contested_within(&contest, LAYOUTS, study.tick_hz, self.evaluator, self.observer)
    }

    fn skew(&mut self) -> Result<Result<SkewCurve, String>, EvaluateError> {
        let line = match skew::line(&self.study.winner) {
            Ok(line) => line,
            Err(why) => return Ok(Err(why)),
        };
        let mut measured = self.contest(&line.loops(), SKEW)?;
        let outcomes = against_winner(&mut measured, line.loops().len());
        Ok(line.curve(outcomes))
    }

    fn axes(&mut self) -> Result<(Vec<AxisRow>, Vec<ExcludedValue>), EvaluateError> {
        let (rows, mut excluded) = alternatives(&self.study.winner, self.study.usable);
        let others: Vec<Variant> = rows.iter().map(|r| r.variant).collect();
        let outcomes = match others.is_empty() {
            true => Vec::new(),
            false => against_winner(&mut self.contest(&others, AXES)?, others.len()),
        };
        let mut axes = Vec::new();
        for (row, outcome) in rows.into_iter().zip(outcomes) {
            match outcome {
                Ok(compared) => axes.push(row.measured(compared)),
                Err(why) => excluded.push(ExcludedValue { axis: row.axis, value: row.value, why }),
            }
        }
        Ok((axes, excluded))
    }

    fn placebos(&mut self) -> Result<Vec<Placebo>, EvaluateError> {
        let trials = placebo::trials(&self.study.winner, self.study.usable);
        let mut all = Vec::new();
        for trial in &trials {
            let others = trial.loops();
            let mut measured = self.contest(&others, PLACEBO / trials.len() as f64)?;
            all.push(trial.judged(&mut measured));
        }
        Ok(all)
    }
}

/// Why an entrant was not compared with the winner.
pub(super) fn why(measured: &Contested, row: usize) -> String {
    let failure = measured.failure(row).map(ToString::to_string);
    failure.unwrap_or_else(|| "the winner itself has no time".into())
}

/// The entrants behind the first against it. Verdicts that tell two apart are only those that
/// Holm's procedure keeps over all of them.
fn against_winner(measured: &mut Contested, others: usize) -> Vec<Outcome> {
    let mut p = Vec::new();
    let mut outcomes: Vec<Outcome> = (1..=others)
        .map(|i| {
            let pair = measured.pair(i, 0).ok_or_else(|| why(measured, i))?;
            p.push(pair.p);
            Ok(Compared::of(&pair))
        })
        .collect();
    let mut rejected = holm_rejects(&p, ALPHA).into_iter();
    for compared in outcomes.iter_mut().flatten() {
        let kept = rejected.next().unwrap_or(false);
        if matches!(compared.verdict, Verdict::Slower | Verdict::Faster) && !kept {
            compared.verdict = Verdict::Undecided;
        }
    }
    outcomes
}
