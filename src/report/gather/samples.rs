//! Raw samples of the subjects that are shown.

use std::collections::HashMap;

use super::decided::Wanted;
use crate::results::RecordedSample;
use crate::subject::{Cell, Subject};

/// Samples kept of a subject: ten times what a curve of a few hundred pixels can show.
const KEPT: usize = 10_000;

/// The raw samples of a subject in a cell.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::report) struct Distribution {
    /// What it is called there.
    pub(in crate::report) name: String,
    /// Core cycles a call, ascending.
    pub(in crate::report) cycles: Vec<f64>,
}

/// Collects samples while a file is read.
pub(super) struct Gathering {
    /// By run, cell and subject: where its samples go.
    places: HashMap<(Cell, Subject), Vec<usize>>,
    shown: Vec<(Wanted, Vec<f64>)>,
}

impl Gathering {
    pub(super) fn new(wanted: impl Iterator<Item = Wanted>) -> Gathering {
        let shown: Vec<(Wanted, Vec<f64>)> = wanted.map(|w| (w, Vec::new())).collect();
        let mut places: HashMap<(Cell, Subject), Vec<usize>> = HashMap::new();
        for (index, (wanted, _)) in shown.iter().enumerate() {
            places.entry((wanted.cell, wanted.subject.clone())).or_default().push(index);
        }
        Gathering { places, shown }
    }

    pub(super) fn take(&mut self, sample: &RecordedSample) {
        let cycles = sample.cycles();
        let usable = cycles.is_finite() && cycles > 0.0;
        let key = (sample.cell, sample.subject.clone());
        let Some(places) = self.places.get(&key).filter(|_| usable) else { return };
        for place in places {
            let (wanted, kept) = &mut self.shown[*place];
            if wanted.run == sample.run && kept.len() < KEPT {
                kept.push(cycles);
            }
        }
    }

    /// The samples by cell, in the order in which the subjects were named.
    pub(super) fn finish(self) -> HashMap<Cell, Vec<Distribution>> {
        let mut by_cell: HashMap<Cell, Vec<Distribution>> = HashMap::new();
        for (wanted, mut cycles) in self.shown.into_iter().filter(|(_, kept)| !kept.is_empty()) {
            cycles.sort_unstable_by(f64::total_cmp);
            let of_cell = by_cell.entry(wanted.cell).or_default();
            of_cell.push(Distribution { name: wanted.name, cycles });
        }
        by_cell
    }
}

impl Distribution {
    /// The value below which a part of the samples lies, 0 to 1.
    pub(in crate::report) fn quantile(&self, part: f64) -> f64 {
        let last = self.cycles.len().saturating_sub(1);
        let at = (part.clamp(0.0, 1.0) * last as f64).round() as usize;
        self.cycles.get(at).copied().unwrap_or(0.0)
    }

    /// In what part of all pairs a sample of this one is smaller than one of the other's;
    /// equal ones count half.
    pub(in crate::report) fn beats(&self, other: &Distribution) -> f64 {
        let (mut below, mut upto) = (0usize, 0usize);
        let mut wins = 0.0;
        for cycles in &other.cycles {
            while self.cycles.get(below).is_some_and(|own| own < cycles) {
                below += 1;
            }
            upto = upto.max(below);
            while self.cycles.get(upto).is_some_and(|own| own <= cycles) {
                upto += 1;
            }
            wins += below as f64 + (upto - below) as f64 / 2.0;
        }
        wins / (self.cycles.len() as f64 * other.cycles.len() as f64).max(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn distribution(cycles: &[f64]) -> Distribution {
        Distribution { name: "x".into(), cycles: cycles.to_vec() }
    }

    #[test]
    fn pairs_are_counted() {
        let fast = distribution(&[1.0, 2.0, 3.0]);
        let slow = distribution(&[2.0, 4.0]);
        // Of six pairs four are won, one is even.
        assert!((fast.beats(&slow) - 4.5 / 6.0).abs() < 1e-12);
        assert!((slow.beats(&fast) - 1.5 / 6.0).abs() < 1e-12);
        assert_eq!(fast.beats(&fast), 0.5);
    }

    #[test]
    fn quantiles_are_samples() {
        let d = distribution(&[1.0, 2.0, 3.0, 4.0, 5.0]);
        assert_eq!((d.quantile(0.0), d.quantile(0.5), d.quantile(1.0)), (1.0, 3.0, 5.0));
        assert_eq!(distribution(&[]).quantile(0.5), 0.0);
    }
}
