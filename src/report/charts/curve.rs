//! One axis alone.

use super::super::gather::{Curve, CurvePoint};
use super::frame::{Frame, Grid, Scale, draw, every, linear};
use super::theme::Ink;

/// Below this part of the most, an axis of figures begins at 0; above it, near the least: a
/// difference of a few per cent would not be seen otherwise.
const NEAR: f64 = 0.6;

/// Draws a curve with its intervals; the loop it goes through is marked. Values with numbers
/// in them are joined by a line: they have an order that means something.
pub(in crate::report) fn curve(title: &str, data: &Curve) -> String {
    let points = &data.points;
    // Of first looks there is no interval to show.
    let told = data.told();
    let ends = |p: &CurvePoint| p.ci.filter(|_| told).unwrap_or((p.figure, p.figure));
    let least = points.iter().map(|p| ends(p).0).fold(f64::INFINITY, f64::min);
    let most = points.iter().map(|p| ends(p).1).fold(0.0, f64::max);
    let near = least > most * NEAR;
    let from = if near { least - (most - least) * 0.15 } else { 0.0 };
    let to = most + (most - from).max(f64::MIN_POSITIVE) * 0.08;
    let frame = Frame { top: 14, ..Frame::default() };
    let letters = points.iter().map(|p| p.value.chars().count()).max().unwrap_or(1);
    let skip = every(points.len(), letters, frame.width - frame.left - frame.right);
    let word = |(i, p): (usize, &CurvePoint)| (i as f64, p.value.clone());
    let x = Scale {
        from: -0.5,
        to: points.len() as f64 - 0.5,
        ticks: points.iter().enumerate().step_by(skip).map(word).collect(),
        title: data.key.clone(),
    };
    let y = linear("bytes a cycle", from, to, 5);
    let ordered = points.iter().all(|p| p.value.contains(|c: char| c.is_ascii_digit()));
    draw(title, frame, (&x, &y), (Grid::Plain, Grid::Lines), |canvas| {
        let at = |i: usize| i as f64;
        if ordered {
            if told {
                let bounds = points.iter().enumerate().map(|(i, p)| (at(i), ends(p).0, ends(p).1));
                canvas.ribbon(&bounds.collect::<Vec<_>>(), Ink::Series(0));
            }
            let line: Vec<(f64, f64)> =
                points.iter().enumerate().map(|(i, p)| (at(i), p.figure)).collect();
            canvas.line(&line, Ink::Series(0), 1.75);
        }
        for (i, point) in points.iter().enumerate() {
            if told && !ordered {
                let (low, high) = ends(point);
                canvas.line(&[(at(i), low), (at(i), high)], Ink::Series(0), 2.0);
            }
            let series = usize::from(point.anchor);
            canvas.mark(at(i), point.figure, series, if point.anchor { 5.0 } else { 2.5 });
        }
    })
}
