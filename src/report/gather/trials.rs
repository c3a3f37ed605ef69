//! Trials folded while they are read: hundreds of megabytes become a few tables.

use std::collections::HashMap;

use super::curve::{Curve, Measured, Neighbours};
use super::decided::Decided;
use super::map::Pairs;
use super::{Details, Map};
use crate::results::{RecordedRun, RecordedTrial};
use crate::subject::{Cell, Op, Subject, Variant};
use crate::template::Axis;
use crate::trial::{Phase, Role, Summary};

/// Loops remembered of a run that decided nothing, a cell: more than anybody names in a
/// bench, few enough for a cut-off search of everything.
const NAMED: usize = 2_000;

/// The values of all axes, numbered as they are met.
pub(super) struct Words<'a> {
    axes: &'a [Axis],
    /// Axis and word of each number.
    words: Vec<(usize, String)>,
    numbers: HashMap<(usize, String), u16>,
    known: HashMap<Variant, Vec<u16>>,
}

impl<'a> Words<'a> {
    fn new(axes: &'a [Axis]) -> Words<'a> {
        Words { axes, words: Vec::new(), numbers: HashMap::new(), known: HashMap::new() }
    }

    pub(super) fn axes(&self) -> &'a [Axis] {
        self.axes
    }

    pub(super) fn word(&self, number: u16) -> &str {
        self.words.get(usize::from(number)).map_or("", |(_, word)| word)
    }

    /// Numbers of an axis' values met so far, in canonical order.
    pub(super) fn of_axis(&self, axis: usize) -> Vec<u16> {
        let canonical = self.axes.get(axis).map(|a| (a.values)()).unwrap_or_default();
        let rank = |n: &u16| {
            let word = self.word(*n);
            canonical.iter().position(|w| w == word).unwrap_or(canonical.len())
        };
        let mut numbers: Vec<u16> = (0..self.words.len() as u16)
            .filter(|n| self.words[usize::from(*n)].0 == axis)
            .collect();
        numbers.sort_by_key(rank);
        numbers
    }

    /// The numbers of a loop's values, an axis that does not apply left out.
    fn values(&mut self, variant: &Variant) -> &[u16] {
        if !self.known.contains_key(variant) {
            let mut values = Vec::with_capacity(self.axes.len());
            for (index, axis) in self.axes.iter().enumerate() {
                values.extend((axis.of)(variant).and_then(|word| self.number(index, word)));
            }
            self.known.insert(*variant, values);
        }
        self.known.get(variant).map_or(&[], Vec::as_slice)
    }

    fn number(&mut self, axis: usize, word: String) -> Option<u16> {
        if let Some(number) = self.numbers.get(&(axis, word.clone())) {
            return Some(*number);
        }
        let number = u16::try_from(self.words.len()).ok()?;
        self.words.push((axis, word.clone()));
        self.numbers.insert((axis, word), number);
        Some(number)
    }
}

/// What is kept of a cell of a run.
struct CellFold {
    run: usize,
    cell: Cell,
    candidates: u64,
    pairs: Pairs,
    /// Curves go through these loops: the winner, then the other finalists, for axes that do
    /// not apply to it; none where nothing was decided.
    anchors: Vec<Neighbours>,
    measured: HashMap<Variant, Measured>,
}

/// Folds trials one by one.
pub(super) struct TrialFold<'a> {
    words: Words<'a>,
    finalists: HashMap<(&'a str, Cell), Vec<Variant>>,
    runs: Vec<String>,
    folds: Vec<CellFold>,
    places: HashMap<(usize, Cell), usize>,
    count: u64,
}

impl<'a> TrialFold<'a> {
    /// `finished`: the runs whose winners the curves go through.
    pub(super) fn new(axes: &'a [Axis], finished: &'a [RecordedRun]) -> TrialFold<'a> {
        let mut finalists = HashMap::new();
        for run in finished {
            let sizes = run.outcome.iter().flat_map(|o| &o.sizes);
            for found in sizes.flat_map(|s| &s.cells) {
                let winner = found.winner.iter().map(|w| w.variant);
                let others = found.standings.iter().map(|s| s.timed.variant);
                let mut loops: Vec<Variant> = winner.collect();
                for other in others {
                    if !loops.contains(&other) {
                        loops.push(other);
                    }
                }
                finalists.insert((run.run.as_str(), found.cell), loops);
            }
        }
        TrialFold {
            words: Words::new(axes),
            finalists,
            runs: Vec::new(),
            folds: Vec::new(),
            places: HashMap::new(),
            count: 0,
        }
    }

    /// Trials seen.
    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// Runs seen.
    pub(super) fn runs(&self) -> &[String] {
        &self.runs
    }

    /// Counts a trial in.
    pub(super) fn take(&mut self, trial: &RecordedTrial) {
        self.count += 1;
        let Subject::Variant(variant) = trial.subject else { return };
        let Ok(summary) = &trial.outcome else { return };
        let Some(measured) = measured(summary) else { return };
        if trial.role != Role::Candidate {
            return;
        }
        let place = self.place(&trial.run, trial.cell);
        let fold = &mut self.folds[place];
        if matches!(trial.phase, Phase::Screen | Phase::Bench) {
            fold.candidates += 1;
            fold.pairs.take(self.words.values(&variant), measured.figure);
            fold.remember(variant, measured);
        }
    }

    fn place(&mut self, run: &str, cell: Cell) -> usize {
        // The file is in order of time: the run is the last one met, or a new one.
        let index = self.runs.iter().rposition(|r| r == run).unwrap_or_else(|| {
            self.runs.push(run.to_string());
            self.runs.len() - 1
        });
        if let Some(place) = self.places.get(&(index, cell)) {
            return *place;
        }
        let finalists = self.finalists.get(&(run, cell)).map_or(&[][..], Vec::as_slice);
        let axes = self.words.axes();
        let anchors = finalists.iter().map(|finalist| Neighbours::of(*finalist, axes)).collect();
        let mut fold = CellFold {
            run: index,
            cell,
            candidates: 0,
            pairs: Pairs::default(),
            anchors: Vec::new(),
            measured: HashMap::new(),
        };
        fold.follow(anchors);
        self.folds.push(fold);
        self.places.insert((index, cell), self.folds.len() - 1);
        self.folds.len() - 1
    }

    /// What the trials say of an op's cells: those decided first, in their order.
    pub(super) fn details(&self, op: Op, decided: &Decided) -> Vec<Details> {
        let mut cells: Vec<(Option<&str>, Cell)> =
            decided.cells().map(|(run, found)| (Some(run), found.cell)).collect();
        let mut others: Vec<Cell> =
            self.folds.iter().map(|f| f.cell).filter(|c| c.op == op).collect();
        others.sort();
        others.dedup();
        for cell in others {
            if cells.iter().all(|(_, c)| *c != cell) {
                cells.push((None, cell));
            }
        }
        cells.into_iter().map(|(run, cell)| self.of_cell(run, cell)).collect()
    }

    fn of_cell(&self, run: Option<&str>, cell: Cell) -> Details {
        let mut folds: Vec<&CellFold> = self.folds.iter().filter(|f| f.cell == cell).collect();
        // The run that decided, then the newest.
        folds.sort_by_key(|f| (Some(self.runs[f.run].as_str()) != run, usize::MAX - f.run));
        Details {
            cell,
            maps: self.maps(&folds),
            curves: self.curves(&folds),
            distributions: Vec::new(),
        }
    }

    /// The map of the first run that has one, and of each that swept an axis closer than
    /// those before.
    fn maps(&self, folds: &[&CellFold]) -> Vec<Map> {
        let mut maps = Vec::new();
        let mut swept = vec![0; self.words.axes().len()];
        for fold in folds {
            let values = fold.pairs.values(&self.words);
            let closer = values.iter().zip(&swept).any(|(own, before)| own > before);
            if !closer {
                continue;
            }
            if let Some(map) = fold.pairs.map(&self.words, &self.runs[fold.run], fold.candidates) {
                maps.push(map);
                for (before, own) in swept.iter_mut().zip(values) {
                    *before = own.max(*before);
                }
            }
        }
        maps
    }

    /// For each axis the curve with the most points; of equals the first.
    fn curves(&self, folds: &[&CellFold]) -> Vec<Curve> {
        let mut best: Vec<Curve> = Vec::new();
        for fold in folds {
            for curve in fold.curves(self.words.axes(), &self.runs[fold.run]) {
                match best.iter_mut().find(|c| c.key == curve.key) {
                    Some(other) if other.points.len() < curve.points.len() => *other = curve,
                    Some(_) => {}
                    None => best.push(curve),
                }
            }
        }
        best
    }
}

impl CellFold {
    /// Makes room for the neighbours of the finalists: only they are remembered.
    fn follow(&mut self, anchors: Vec<Neighbours>) {
        for variant in anchors.iter().flat_map(Neighbours::variants) {
            let nothing = Measured { samples: 0, figure: f64::NAN, ci: (f64::NAN, f64::NAN) };
            self.measured.insert(variant, nothing);
        }
        self.anchors = anchors;
    }

    fn remember(&mut self, variant: Variant, measured: Measured) {
        let named = self.anchors.is_empty() && self.measured.len() < NAMED;
        match self.measured.get_mut(&variant) {
            Some(before) if measured.samples >= before.samples => *before = measured,
            Some(_) => {}
            None if named => {
                self.measured.insert(variant, measured);
            }
            None => {}
        }
    }

    fn curves(&self, axes: &[Axis], run: &str) -> Vec<Curve> {
        let measured: HashMap<Variant, Measured> =
            self.measured.iter().filter(|(_, m)| m.samples > 0).map(|(v, m)| (*v, *m)).collect();
        if self.anchors.is_empty() {
            let by_figure = |a: &(&Variant, &Measured), b: &(&Variant, &Measured)| {
                a.1.figure.total_cmp(&b.1.figure).then(b.0.cmp(a.0))
            };
            let best = measured.iter().max_by(by_figure);
            let curves =
                best.map(|(best, _)| Neighbours::of(*best, axes).curves(axes, run, &measured));
            return curves.unwrap_or_default();
        }
        let mut curves: Vec<Curve> = Vec::new();
        for anchor in &self.anchors {
            for curve in anchor.curves(axes, run, &measured) {
                if curves.iter().all(|c| c.key != curve.key) {
                    curves.push(curve);
                }
            }
        }
        curves
    }
}

/// Bytes a cycle with its interval; `None` where the row has no sensible time.
fn measured(summary: &Summary) -> Option<Measured> {
    let figure = summary.bytes_per_cycle;
    let (ns, low, high) = (summary.median.ns(), summary.ci.0.ns(), summary.ci.1.ns());
    let usable = figure.is_finite() && figure > 0.0 && ns > 0.0 && low > 0.0 && high > 0.0;
    usable.then(|| Measured {
        samples: summary.samples,
        figure,
        ci: (figure * ns / high, figure * ns / low),
    })
}
