//! Trials folded while they are read: hundreds of megabytes become a few tables.

use std::collections::HashMap;

use super::curve::{Curve, Neighbours};
use super::decided::Decided;
use super::looks::Looks;
use super::map::Pairs;
use super::{Details, Map};
use crate::results::{RecordedRun, RecordedTrial};
use crate::subject::{Cell, Op, Subject, Variant};
use crate::template::Axis;
use crate::trial::{Phase, Role};

/// The values of all axes, numbered as they are met.
pub(super) struct Words<'a> {
    axes: &'a [Axis],
    /// Axis and word of each number.
    words: Vec<(usize, String)>,
    numbers: HashMap<(usize, String), u16>,
    /// Place of each loop met, and the values of each.
    places: HashMap<Variant, usize>,
    loops: Vec<(Variant, Vec<u16>)>,
}

impl<'a> Words<'a> {
    fn new(axes: &'a [Axis]) -> Words<'a> {
        let (numbers, places) = (HashMap::new(), HashMap::new());
        Words { axes, words: Vec::new(), numbers, places, loops: Vec::new() }
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

    /// The place of a loop. Its values are numbered, an axis that does not apply left out.
    fn place(&mut self, variant: &Variant) -> usize {
        if let Some(place) = self.places.get(variant) {
            return *place;
        }
        let mut values = Vec::with_capacity(self.axes.len());
        for (index, axis) in self.axes.iter().enumerate() {
            values.extend((axis.of)(variant).and_then(|word| self.number(index, word)));
        }
        self.places.insert(*variant, self.loops.len());
        self.loops.push((*variant, values));
        self.loops.len() - 1
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
    /// By the place of a loop; loops that were not timed here are left at nothing.
    looks: Vec<Looks>,
    /// Whether there is anything but benches.
    searched: bool,
    /// Curves go through these loops: the winner, then the other finalists, for axes that do
    /// not apply to it; none where nothing was decided.
    anchors: Vec<Neighbours>,
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
        let Some(looks) = Looks::of(summary) else { return };
        if trial.role != Role::Candidate {
            return;
        }
        let place = self.place(&trial.run, trial.cell);
        let fold = &mut self.folds[place];
        fold.searched |= trial.phase != Phase::Bench;
        if matches!(trial.phase, Phase::Screen | Phase::Bench) {
            fold.take(self.words.place(&variant), &looks);
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
        self.folds.push(CellFold { run: index, cell, looks: Vec::new(), searched: false, anchors });
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
            bench: folds.iter().all(|f| !f.searched),
            distributions: Vec::new(),
        }
    }

    /// The map of the first run that has one, and of each that swept an axis closer than
    /// those before.
    fn maps(&self, folds: &[&CellFold]) -> Vec<Map> {
        let mut maps = Vec::new();
        let mut swept = vec![0; self.words.axes().len()];
        for fold in folds {
            let pairs = fold.pairs(&self.words);
            let values = pairs.values(&self.words);
            let closer = values.iter().zip(&swept).any(|(own, before)| own > before);
            if !closer {
                continue;
            }
            if let Some(map) = pairs.map(&self.words, &self.runs[fold.run]) {
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
            for curve in fold.curves(&self.words, &self.runs[fold.run]) {
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
    fn take(&mut self, place: usize, looks: &Looks) {
        if place >= self.looks.len() {
            self.looks.resize(place + 1, Looks::default());
        }
        self.looks[place].add(looks);
    }

    /// Every loop that was timed, with the numbers of its values.
    fn timed<'a>(
        &'a self,
        words: &'a Words<'_>,
    ) -> impl Iterator<Item = (&'a Variant, &'a [u16], &'a Looks)> {
        let all = self.looks.iter().zip(&words.loops);
        all.filter(|(looks, _)| looks.samples() > 0)
            .map(|(looks, (variant, values))| (variant, values.as_slice(), looks))
    }

    fn pairs(&self, words: &Words<'_>) -> Pairs {
        let mut pairs = Pairs::default();
        for (_, values, looks) in self.timed(words) {
            pairs.take(values, looks);
        }
        pairs
    }

    fn curves(&self, words: &Words<'_>, run: &str) -> Vec<Curve> {
        let axes = words.axes();
        let looks = |variant: &Variant| {
            let looks = self.looks.get(*words.places.get(variant)?)?;
            (looks.samples() > 0).then_some(*looks)
        };
        if self.anchors.is_empty() {
            let by_figure =
                |a: &(&Variant, f64), b: &(&Variant, f64)| a.1.total_cmp(&b.1).then(b.0.cmp(a.0));
            let figures = self.timed(words).filter_map(|(v, _, looks)| Some((v, looks.figure()?)));
            let best = figures.max_by(by_figure);
            let curves =
                best.map(|(best, _)| Neighbours::of(*best, axes).curves(axes, run, &looks));
            return curves.unwrap_or_default();
        }
        let mut curves: Vec<Curve> = Vec::new();
        for anchor in &self.anchors {
            for curve in anchor.curves(axes, run, &looks) {
                if curves.iter().all(|c| c.key != curve.key) {
                    curves.push(curve);
                }
            }
        }
        curves
    }
}
