//! One axis alone: loops that differ from a given one in that axis only.

use std::collections::HashMap;

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
    /// 95 % interval of the same.
    pub(in crate::report) ci: (f64, f64),
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

/// What was measured of a loop: of several measurements the one with the most samples.
#[derive(Clone, Copy, Debug)]
pub(super) struct Measured {
    pub(super) samples: u32,
    pub(super) figure: f64,
    pub(super) ci: (f64, f64),
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

    /// Every loop of every line.
    pub(super) fn variants(&self) -> impl Iterator<Item = Variant> {
        self.lines.iter().flatten().map(|(_, variant)| *variant)
    }

    /// The curves that have enough points.
    pub(super) fn curves(
        &self,
        axes: &[Axis],
        run: &str,
        measured: &HashMap<Variant, Measured>,
    ) -> Vec<Curve> {
        let mut curves = Vec::new();
        for (axis, line) in axes.iter().zip(&self.lines) {
            let points = line.iter().filter_map(|(value, variant)| {
                let m = measured.get(variant)?;
                let anchor = *variant == self.anchor;
                Some(CurvePoint { value: value.clone(), figure: m.figure, ci: m.ci, anchor })
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
