//! Subjects through cells: contests one after another, and what is to be told of their rows.

use super::super::progress::ProgressLine;
use super::super::session::Session;
use crate::report::{BenchCell, Note};
use crate::search::{Budget, Ceiling, Contest, Entrant, Row, compare, read_ceiling};
use crate::subject::{Baseline, Cell, Op, SizeMix, Subject};
use crate::trial::{
    Check, EvaluateError, Evaluator, Failure, FailureKind, Observer, Progress, Trial, Without,
};

/// A row's subject.
pub(super) enum Slot {
    /// Measured.
    Runs(Entrant),
    /// This host has none; why not.
    Cannot(Subject, String),
}

/// The subjects of an op and where they are measured.
pub(super) struct Course {
    pub(super) op: Op,
    pub(super) slots: Vec<Slot>,
    /// With what each may spend.
    pub(super) cells: Vec<(Cell, Budget)>,
    /// The mixes that some of the cells are of.
    pub(super) mixes: Vec<SizeMix>,
    /// Countermeasures that are left off.
    pub(super) without: Without,
}

/// What was measured, and what a reader must know of it.
pub(super) struct Ran {
    pub(super) cells: Vec<BenchCell>,
    pub(super) notes: Vec<Note>,
}

/// Runs courses one after another.
///
/// # Errors
/// As the evaluator; after an interruption what is there is given.
pub(super) fn run_courses(
    courses: &[Course],
    seed: u64,
    session: &mut Session,
    quiet: bool,
) -> anyhow::Result<Ran> {
    let tick_hz = session.host.tsc.calibrated_hz;
    let all: usize = courses.iter().map(|c| c.cells.len()).sum();
    let mut line = PartOf { line: ProgressLine::new(quiet), begun: 0, all: all as f64 };
    let mut ran = Ran { cells: Vec::new(), notes: Vec::new() };
    for course in courses {
        // Before the times: an interruption must not part a time from what is wrong with it.
        ran.notes.extend(course.grades(session)?);
    }
    'courses: for course in courses {
        for (cell, budget) in &course.cells {
            let contest = Contest {
                cell: *cell,
                mix: course.mixes.iter().find(|m| Some(m.mix) == cell.mix).cloned(),
                entrants: course.entrants(),
                budget: *budget,
                seed: seed.wrapping_add(u64::from(line.begun)),
                without: course.without,
            };
            let rows = match compare(&contest, tick_hz, &mut session.client, &mut line) {
                // What was measured before the interruption is shown.
                Err(EvaluateError::Interrupted) if !ran.cells.is_empty() => {
                    let text = format!("interrupted: {} of {all} cells are here", ran.cells.len());
                    eprintln!("looptune: {text}");
                    ran.notes.push(Note { op: None, text });
                    break 'courses;
                }
                other => other?,
            };
            let rows = course.rows(rows);
            let clock = (tick_hz, contest.seed);
            let ceiling =
                read_ceiling(cell, course.without, session.host.usable, clock, &mut session.client);
            match ceiling {
                // What is measured is shown; the next cell ends the command.
                Err(EvaluateError::Interrupted) | Ok(None) => {}
                Err(e) => return Err(e.into()),
                Ok(Some(ceiling)) => ran.notes.extend(exceeding(&ceiling, cell, &rows)),
            }
            ran.cells.push(BenchCell { cell: *cell, rows });
            line.begun += 1;
        }
    }
    line.line.finish();
    let caches = session.reckoned.warnings.iter();
    ran.notes.extend(caches.map(|text| Note { op: None, text: text.clone() }));
    ran.notes.extend(compiler(courses, session));
    Ok(ran)
}

impl Course {
    pub(super) fn entrants(&self) -> Vec<Entrant> {
        let runs = |slot: &Slot| match slot {
            Slot::Runs(entrant) => Some(entrant.clone()),
            Slot::Cannot(..) => None,
        };
        self.slots.iter().filter_map(runs).collect()
    }

    /// The measured rows, and between them those of who was not.
    fn rows(&self, measured: Vec<Row>) -> Vec<Row> {
        let mut measured = measured.into_iter();
        let row = |slot: &Slot| match slot {
            Slot::Runs(_) => measured.next(),
            Slot::Cannot(subject, why) => {
                let kind = FailureKind::Unsupported(why.clone());
                let failure = Failure { kind, case: String::new() };
                Some(Row { subject: subject.clone(), result: Err(failure) })
            }
        };
        self.slots.iter().filter_map(row).collect()
    }

    /// What verification says of loops that are timed although they are not exact.
    fn grades(&self, session: &mut Session) -> anyhow::Result<Vec<Note>> {
        let mut notes = Vec::new();
        let Some((cell, _)) = self.cells.first() else { return Ok(notes) };
        let check = Check::Quick { size: cell.size };
        for entrant in self.entrants().into_iter().filter(|e| e.member.inexact) {
            let bodies = [entrant.member.body];
            let verified = match session.client.verify(self.op, &bodies, check) {
                Err(EvaluateError::Interrupted) => break,
                other => other?,
            };
            for failure in verified.into_iter().filter_map(Result::err) {
                let text = format!("{}: {failure}; timed, never chosen", entrant.subject);
                notes.push(Note { op: Some(self.op), text });
            }
        }
        Ok(notes)
    }
}

/// Rows that are faster than their source can be read.
fn exceeding(ceiling: &Ceiling, cell: &Cell, rows: &[Row]) -> Vec<Note> {
    let warned = |row: &Row| {
        let ns = row.result.as_ref().ok()?.ns;
        let text = ceiling.warning(cell, &row.subject.to_string(), ns)?;
        Some(Note { op: Some(cell.op), text: format!("Warning: {text}") })
    };
    rows.iter().filter_map(warned).collect()
}

/// Which compiler made the baselines that one makes.
fn compiler(courses: &[Course], session: &Session) -> Option<Note> {
    let entrants = courses.iter().flat_map(Course::entrants);
    let mut built: Vec<Baseline> = Vec::new();
    for entrant in entrants {
        if let Subject::Baseline(baseline) = entrant.subject
            && baseline.optimisation().is_some()
            && !built.contains(&baseline)
        {
            built.push(baseline);
        }
    }
    let compiled = session.compiled_already()?;
    let names: Vec<&str> = built.iter().map(|b| b.word()).collect();
    let text = format!("{}: a plain loop over bytes by {}", names.join(", "), compiled.compiler());
    (!names.is_empty()).then_some(Note { op: None, text })
}

/// The progress of one contest as part of all.
pub(in crate::cli) struct PartOf {
    pub(in crate::cli) line: ProgressLine,
    /// Contests that are over.
    pub(in crate::cli) begun: u32,
    /// Contests in all.
    pub(in crate::cli) all: f64,
}

impl Observer for PartOf {
    fn trial(&mut self, _: &Trial<'_>) {}

    fn progress(&mut self, progress: &Progress) {
        let fraction = (f64::from(self.begun) + progress.fraction.clamp(0.0, 1.0)) / self.all;
        self.line.progress(&Progress { fraction, ..progress.clone() });
    }
}
