//! A contest as the tables see it.

use crate::search::{Pair, Row, RowTimes};
use crate::stats::Verdict;
use crate::subject::{Cell, Subject};

/// One cell that was measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// Where.
    pub cell: Cell,
    /// Who; the first is the reference.
    pub rows: Vec<Row>,
    /// Rows against each other, as the table asked for them.
    pub pairs: Vec<Pair>,
}

impl Measured {
    /// The place of a subject by its name or id.
    pub(super) fn find(&self, name: &str) -> Option<usize> {
        self.rows.iter().position(|row| row.subject.to_string() == name)
    }

    /// Times of a row.
    pub(super) fn times(&self, index: usize) -> Option<&RowTimes> {
        self.rows.get(index)?.result.as_ref().ok()
    }

    /// Millions of bytes a second of a row.
    pub(super) fn mb_s(&self, index: usize) -> Option<f64> {
        self.times(index).map(|times| mb_s(self.cell.size, times.ns))
    }

    /// The fastest of those that are kept.
    pub(super) fn fastest(&self, keep: impl Fn(&Subject) -> bool) -> Option<usize> {
        let kept = (0..self.rows.len()).filter(|i| keep(&self.rows[*i].subject));
        let timed = kept.filter_map(|i| Some((i, self.times(i)?.ns)));
        timed.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(i, _)| i)
    }

    /// One row against another, where it was asked for.
    pub(super) fn pair(&self, row: usize, against: usize) -> Option<&Pair> {
        self.pairs.iter().find(|pair| pair.row == row && pair.against == against)
    }

    /// The name of a row.
    pub(super) fn name(&self, index: usize) -> String {
        self.rows[index].subject.to_string()
    }

    /// Who has no times, with the reason.
    pub(super) fn failures(&self) -> impl Iterator<Item = (String, String)> + '_ {
        let failed = |row: &Row| {
            let why = row.result.as_ref().err()?.to_string();
            Some((row.subject.to_string(), why))
        };
        self.rows.iter().filter_map(failed)
    }
}

/// Millions of bytes a second.
pub(super) fn mb_s(size: u64, ns: f64) -> f64 {
    size as f64 / ns * 1e3
}

/// Who has no times, a line for each reason.
pub(super) fn reasons<'a>(cells: impl Iterator<Item = &'a Measured>) -> String {
    let mut reasons: Vec<(String, Vec<String>)> = Vec::new();
    for (name, why) in cells.flat_map(Measured::failures) {
        match reasons.iter_mut().find(|(known, _)| *known == why) {
            Some((_, names)) if names.contains(&name) => {}
            Some((_, names)) => names.push(name),
            None => reasons.push((why, vec![name])),
        }
    }
    let line = |(why, names): (String, Vec<String>)| {
        super::paragraph(&format!("Not here: {}: {why}.", names.join(", ")))
    };
    reasons.into_iter().map(line).collect()
}

/// Whether a verdict says that there is a difference.
pub(super) fn resolved(verdict: Verdict) -> bool {
    matches!(verdict, Verdict::Faster | Verdict::Slower)
}
