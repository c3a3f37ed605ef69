//! One axis alone: loops that differ from a given one in that axis only.

use super::looks::Looks;
use crate::subject::Variant;
use crate::template::Axis;

/// Points that make a curve.
const LEAST_POINTS: usize = 4;

/// A value of the axis with what was measured of it.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::report) struct CurvePoint {
    /// The value.
    pub(in crate::report) value: String,
    /// Bytes a cycle.
    pub(in crate::report) figure: f64,
    /// 95 % interval of the same; `None` where there are too few samples for one.
    pub(in crate::report) ci: Option<(f64, f64)>,
    /// Samples behind it.
    pub(in crate::report) samples: u64,
    /// Whether it is the loop that the curve goes through.
    pub(in crate::report) anchor: bool,
}

/// A curve along an axis.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::report) struct Curve {
    /// The run it is of.
    pub(in crate::report) run: String,
    /// The loop that all points are neighbours of.
    pub(in crate::report) anchor: Variant,
    /// Key of the axis.
    pub(in crate::report) key: String,
    /// What the axis is.
    pub(in crate::report) about: String,
    /// Points in canonical order.
    pub(in crate::report) points: Vec<CurvePoint>,
}

impl Curve {
    /// Least and most samples of a point; zeros where there is none.
    pub(in crate::report) fn samples(&self) -> (u64, u64) {
        let samples = || self.points.iter().map(|p| p.samples);
        (samples().min().unwrap_or(0), samples().max().unwrap_or(0))
    }

    /// Whether every point has an interval.
    pub(in crate::report) fn told(&self) -> bool {
        self.points.iter().all(|p| p.ci.is_some())
    }
}

/// A loop and all that differ from it in one axis.
#[derive(Clone, Debug)]
pub(super) struct Neighbours {
    anchor: Variant,
    /// By axis, its values and the loops that have them, in canonical order.
    lines: Vec<Vec<(String, Variant)>>,
}

impl Neighbours {
    pub(super) fn of(anchor: Variant, axes: &[Axis]) -> Neighbours {
        let line = |axis: &Axis| {
            let with = |word: String| Some(((axis.with)(&anchor, &word)?, word));
            let line = (axis.values)().into_iter().filter_map(with);
            line.map(|(variant, word)| (word, variant)).collect()
        };
        Neighbours { anchor, lines: axes.iter().map(line).collect() }
    }

    /// The curves that have enough points.
    pub(super) fn curves(
        &self,
        axes: &[Axis],
        run: &str,
        looks: &dyn Fn(&Variant) -> Option<Looks>,
    ) -> Vec<Curve> {
        let mut curves = Vec::new();
        for (axis, line) in axes.iter().zip(&self.lines) {
            let points = line.iter().filter_map(|(value, variant)| {
                let looks = looks(variant)?;
                let anchor = *variant == self.anchor;
                let (figure, ci) = (looks.figure()?, looks.interval());
                let samples = looks.samples();
                Some(CurvePoint { value: value.clone(), figure, ci, samples, anchor })
            });
            let points: Vec<CurvePoint> = points.collect();
            if points.len() >= LEAST_POINTS {
                curves.push(Curve {
                    run: run.into(),
                    anchor: self.anchor,
                    key: axis.key.into(),
                    about: axis.about.into(),
                    points,
                });
            }
        }
        curves
    }
}
