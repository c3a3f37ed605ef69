//! What may follow a search: its finalists at other placements, and why its winners win.

use super::super::attribute::study::{Studies, study_all};
use super::super::placement::{Sweeping, finalists, place_all};
use super::super::progress::ProgressLine;
use super::super::session::Session;
use super::SearchArgs;
use crate::report;
use crate::results::Journal;
use crate::search::{Attribution, Candidate, CellOutcome, Placed, Question, SearchOutcome, Stop};
use crate::subject::Variant;

/// What the sweep of placements and the attributions get for each second of the search.
const PLACEMENT_PART: f64 = 0.25;
const ATTRIBUTE_PART: f64 = 0.5;

impl SearchArgs {
    /// The part of a budget that the search itself gets.
    pub(super) fn part(&self) -> f64 {
        let placement = if self.conditions.sweep().is_some() { PLACEMENT_PART } else { 0.0 };
        let attribute = if self.attribute { ATTRIBUTE_PART } else { 0.0 };
        1.0 / (1.0 + placement + attribute)
    }
}

/// What is done with the winners of a search.
#[derive(Default)]
pub(super) struct After {
    placed: Vec<Placed>,
    attributions: Vec<Attribution>,
    pub(super) notes: Vec<String>,
}

impl After {
    /// Does what is asked for, and keeps it; nothing where the search was interrupted.
    pub(super) fn of(
        args: &SearchArgs,
        outcome: &SearchOutcome,
        candidates: &[Candidate],
        question: &Question,
        session: &mut Session,
        journal: &mut Journal,
    ) -> After {
        let mut after = After::default();
        let mut cells = outcome.sizes.iter().flat_map(|s| &s.cells);
        if cells.any(|c| c.stop == Stop::Interrupted) {
            return after;
        }
        // The question has the search's part; a part of the whole is so much of that.
        let part = |part: f64| question.budget.map(|own| own.part(part));
        if let Some(sweep) = args.conditions.sweep() {
            let fields = finalists(outcome, candidates);
            let sweeping = Sweeping { sweep, budget: part(PLACEMENT_PART), seed: question.seed };
            // The search stands, whatever becomes of what is done with it.
            match place_all(fields, &sweeping, session, args.quiet) {
                Ok((placed, notes)) => (after.placed, after.notes) = (placed, notes),
                Err(why) => after.notes.push(format!("placements are not swept: {why:#}")),
            }
            after.placed.iter().for_each(|one| journal.placed(one));
        }
        if args.attribute {
            let swept: Vec<Variant> = candidates.iter().map(|c| c.variant).collect();
            let won = |c: &CellOutcome| Some((c.cell, c.winner.as_ref()?.variant));
            let studies = Studies {
                winners: outcome.sizes.iter().flat_map(|s| &s.cells).filter_map(won).collect(),
                swept: &swept,
                mixes: &question.mixes,
                budget: part(ATTRIBUTE_PART),
                seed: question.seed,
            };
            let found = study_all(&studies, session, ProgressLine::new(args.quiet));
            match found {
                Ok(found) => after.attributions = found,
                Err(why) => after.notes.push(format!("winners are not explained: {why:#}")),
            }
            after.attributions.iter().for_each(|one| journal.attribution(one));
        }
        after
    }

    /// What of it stands below the tables of the search.
    pub(super) fn text(&self) -> String {
        let mut text = report::placements(&self.placed);
        if !self.attributions.is_empty() {
            text.push_str(&report::attribution_lines(&self.attributions));
        }
        text
    }

    /// Adds it to the document of the search.
    pub(super) fn add_to(&self, document: &mut serde_json::Value) {
        if !self.placed.is_empty() {
            document["placements"] = self.placed.iter().map(report::placed_json).collect();
        }
        if !self.attributions.is_empty() {
            document["attributions"] =
                self.attributions.iter().map(report::attribution_json).collect();
        }
    }
}
