//! What an earlier search of the same question chose. Where thousands of loops are as fast as
//! each other, which of them is named is luck; a loop that was named before, and that nothing
//! beats now, keeps its name, so that a user's exported file does not change from run to run.

use serde::{Deserialize, Serialize};

use super::candidate::Candidate;
use super::outcome::SearchOutcome;
use crate::subject::{Cell, Extent, Variant};

/// Winners and choices of an earlier search.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Incumbents {
    /// The winner of each cell.
    pub winners: Vec<(Cell, Variant)>,
    /// The loop for all states of a size, by the word of its kind (see
    /// [`SizeOutcome::choices`](super::SizeOutcome::choices)).
    pub choices: Vec<(Extent, String, Variant)>,
}

impl Incumbents {
    /// Takes what a search found; what is known of a cell or choice already stays, so that the
    /// newest search comes first.
    pub fn take(&mut self, outcome: &SearchOutcome) {
        for size in &outcome.sizes {
            for cell in &size.cells {
                if let Some(winner) = &cell.winner
                    && self.winner(&cell.cell).is_none()
                {
                    self.winners.push((cell.cell, winner.variant));
                }
            }
            for (kind, choice) in size.choices() {
                if let Some(choice) = choice
                    && self.choice(&size.extent, kind).is_none()
                {
                    self.choices.push((size.extent, kind.to_string(), choice.variant));
                }
            }
        }
    }

    /// Forgets what is no candidate any more.
    pub fn keep(&mut self, candidates: &[Candidate]) {
        let known = |v: &Variant| candidates.iter().any(|c| c.variant == *v);
        self.winners.retain(|(_, v)| known(v));
        self.choices.retain(|(_, _, v)| known(v));
    }

    /// The winner of a cell.
    pub(super) fn winner(&self, cell: &Cell) -> Option<Variant> {
        self.winners.iter().find(|(c, _)| c == cell).map(|(_, v)| *v)
    }

    /// The choice of a kind for a size.
    pub(super) fn choice(&self, extent: &Extent, kind: &str) -> Option<Variant> {
        let of = |(e, k, _): &&(Extent, String, Variant)| e == extent && k == kind;
        self.choices.iter().find(of).map(|(_, _, v)| *v)
    }

    /// Indices of all of a size among the candidates, each once.
    pub(super) fn of_size(&self, extent: &Extent, candidates: &[Candidate]) -> Vec<usize> {
        let winners = self.winners.iter().filter(|(c, _)| c.extent() == *extent).map(|(_, v)| v);
        let choices = self.choices.iter().filter(|(e, _, _)| e == extent).map(|(_, _, v)| v);
        let mut all: Vec<usize> = winners
            .chain(choices)
            .filter_map(|v| candidates.iter().position(|c| c.variant == *v))
            .collect();
        all.sort_unstable();
        all.dedup();
        all
    }
}
