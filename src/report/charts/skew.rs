//! The same loop at each of the 64 addresses of a line.

use super::frame::{At, Frame, Grid, Scale, draw, linear};
use super::theme::Ink;
use crate::search::SkewCurve;

/// Addresses between two words of the axis.
const STEP: usize = 8;

/// The least width of the axis of times: what differs less is noise and looks like it.
const LEAST_SPAN: f64 = 0.04;

/// Draws the curve with its intervals: time over the winner's by the address of the loop top
/// modulo 64. The winner's own address is marked.
pub(in crate::report) fn skew(title: &str, curve: &SkewCurve) -> String {
    let ends = || curve.points.iter().map(|p| p.compared.ratio_ci);
    let least = ends().map(|e| e.0).fold(1.0, f64::min);
    let most = ends().map(|e| e.1).fold(1.0, f64::max);
    let span = (most - least).max(LEAST_SPAN);
    let x = Scale {
        from: -1.0,
        to: 64.0,
        ticks: (0..64).step_by(STEP).map(|at| (at as f64, at.to_string())).collect(),
        title: "address of the loop top modulo 64".into(),
    };
    let y = linear("time over the winner's", least - span * 0.1, least + span * 1.1, 5);
    let frame = Frame { top: 14, ..Frame::default() };
    draw(title, frame, (&x, &y), (Grid::Plain, Grid::Lines), |canvas| {
        canvas.line(&[(-1.0, 1.0), (64.0, 1.0)], Ink::Text, 0.75);
        let points = || curve.points.iter().map(|p| (f64::from(p.skew), p.compared));
        let bounds: Vec<(f64, f64, f64)> =
            points().map(|(x, c)| (x, c.ratio_ci.0, c.ratio_ci.1)).collect();
        canvas.ribbon(&bounds, Ink::Series(0));
        let line: Vec<(f64, f64)> = points().map(|(x, c)| (x, c.ratio)).collect();
        canvas.line(&line, Ink::Series(0), 1.75);
        for (x, compared) in points() {
            let own = x == f64::from(curve.own);
            canvas.mark(x, compared.ratio, usize::from(own), if own { 5.0 } else { 2.0 });
            if own {
                canvas.words("the winner's", (x, compared.ratio), (0, -8), At::Middle, Ink::Muted);
            }
        }
    })
}
