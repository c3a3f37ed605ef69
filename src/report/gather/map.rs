//! Two axes against each other, the best of all others.

use super::looks::{Looks, TOLD};
use super::trials::Words;

/// Values that an axis of a map should have, and is content with where no two axes have
/// more: with two it is a comparison rather than a map.
const VALUES: [usize; 2] = [4, 2];

/// Values of an axis of a map, in canonical order.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::report) struct MapAxis {
    /// Key of the axis.
    pub(in crate::report) key: String,
    /// What the axis is.
    pub(in crate::report) about: String,
    /// Its values.
    pub(in crate::report) values: Vec<String>,
    /// The best figure of each value, whatever the other axes; bytes a cycle.
    pub(in crate::report) best: Vec<f64>,
    /// Candidates behind each of these.
    pub(in crate::report) candidates: Vec<u32>,
}

/// The best figure for each pair of values.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::report) struct Map {
    /// The run it is of.
    pub(in crate::report) run: String,
    /// Candidates behind it.
    pub(in crate::report) candidates: u64,
    /// Least and most samples of a candidate.
    pub(in crate::report) samples: (u64, u64),
    /// Columns.
    pub(in crate::report) x: MapAxis,
    /// Rows.
    pub(in crate::report) y: MapAxis,
    /// Bytes a cycle, row by row; `None` where nothing was timed.
    pub(in crate::report) cells: Vec<Option<f64>>,
}

/// The best figure for each pair of values of any two axes, filled trial by trial. Bytes a
/// cycle; values by their numbers in a [`Words`].
#[derive(Clone, Debug, Default)]
pub(super) struct Pairs {
    /// A triangle: the pair a ≤ b at b·(b+1)/2 + a; NaN where there is none.
    best: Vec<f32>,
    /// Loops that have a value.
    loops: Vec<u32>,
    candidates: u64,
    samples: Option<(u64, u64)>,
}

impl Pairs {
    /// Counts a loop for all pairs of its values.
    pub(super) fn take(&mut self, values: &[u16], looks: &Looks) {
        let Some(figure) = looks.figure() else { return };
        let own = looks.samples();
        let (least, most) = self.samples.unwrap_or((own, own));
        self.samples = Some((least.min(own), most.max(own)));
        self.candidates += 1;
        for value in values.iter().map(|v| usize::from(*v)) {
            if value >= self.loops.len() {
                self.loops.resize(value + 1, 0);
            }
            self.loops[value] += 1;
        }
        for (i, &a) in values.iter().enumerate() {
            for &b in &values[i..] {
                let at = place(a, b);
                if at >= self.best.len() {
                    self.best.resize(at + 1, f32::NAN);
                }
                // NaN loses against any number.
                self.best[at] = self.best[at].max(figure as f32);
            }
        }
    }

    fn get(&self, a: u16, b: u16) -> Option<f64> {
        self.best.get(place(a, b)).filter(|v| !v.is_nan()).map(|v| f64::from(*v))
    }

    /// How many values of each axis were timed.
    pub(super) fn values(&self, words: &Words<'_>) -> Vec<usize> {
        (0..words.axes().len()).map(|axis| self.axis(words, axis).len()).collect()
    }

    /// Numbers of an axis' values that were timed, in canonical order.
    fn axis(&self, words: &Words<'_>, axis: usize) -> Vec<u16> {
        words.of_axis(axis).into_iter().filter(|v| self.get(*v, *v).is_some()).collect()
    }

    /// How far the best figures of an axis' values lie apart, as a logarithm; values that
    /// no other could replace count as much as those that any could.
    fn variation(&self, values: &[u16]) -> f64 {
        let best = || values.iter().filter_map(|v| self.get(*v, *v));
        let n = best().count().max(1) as f64;
        let mean = best().map(f64::ln).sum::<f64>() / n;
        (best().map(|v| (v.ln() - mean).powi(2)).sum::<f64>() / n).sqrt()
    }

    /// The map over the two axes with the most variation among those with several values;
    /// `None` where there are no two.
    pub(super) fn map(&self, words: &Words<'_>, run: &str) -> Option<Map> {
        VALUES.iter().find_map(|least| self.map_of(words, *least, run))
    }

    fn map_of(&self, words: &Words<'_>, least: usize, run: &str) -> Option<Map> {
        let mut axes: Vec<(usize, Vec<u16>, f64)> = (0..words.axes().len())
            .map(|axis| (axis, self.axis(words, axis)))
            .filter(|(_, values)| values.len() >= least)
            .map(|(axis, values)| {
                let variation = self.variation(&values);
                (axis, values, variation)
            })
            .collect();
        // Stable: of equal ones the first in canonical order.
        axes.sort_by(|a, b| b.2.total_cmp(&a.2));
        axes.truncate(2);
        let [first, second] = axes.as_slice() else { return None };
        // A page is wider than a screen is high: more values go across.
        let (x, y) = if first.1.len() > second.1.len() { (first, second) } else { (second, first) };
        let cells =
            y.1.iter().flat_map(|row| x.1.iter().map(|column| self.get(*row, *column))).collect();
        let axis = |(axis, values, _): &(usize, Vec<u16>, f64)| MapAxis {
            key: words.axes()[*axis].key.into(),
            about: words.axes()[*axis].about.into(),
            values: values.iter().map(|v| words.word(*v).to_string()).collect(),
            best: values.iter().filter_map(|v| self.get(*v, *v)).collect(),
            candidates: values.iter().map(|v| self.loops[usize::from(*v)]).collect(),
        };
        let (candidates, samples) = (self.candidates, self.samples.unwrap_or_default());
        Some(Map { run: run.into(), candidates, samples, x: axis(x), y: axis(y), cells })
    }
}

fn place(a: u16, b: u16) -> usize {
    let (a, b) = (usize::from(a.min(b)), usize::from(a.max(b)));
    b * (b + 1) / 2 + a
}

impl Map {
    /// Whether every figure has enough samples for an interval: the best of first looks is
    /// the luckiest.
    pub(in crate::report) fn told(&self) -> bool {
        self.samples.0 >= u64::from(TOLD)
    }

    /// The best figure with its column and row; `None` on an empty map.
    pub(in crate::report) fn best(&self) -> Option<(usize, usize, f64)> {
        let timed = self.cells.iter().enumerate().filter_map(|(i, v)| Some((i, (*v)?)));
        let (at, best) = timed.max_by(|a, b| a.1.total_cmp(&b.1))?;
        let columns = self.x.values.len().max(1);
        Some((at % columns, at / columns, best))
    }
}
