//! Speed over size, one state a chart.

use super::frame::{At, Frame, Grid, LETTERS, Scale, draw, every, linear};
use super::theme::Ink;
use crate::units::human_size;

/// A size of a curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::report) struct SizePoint {
    /// Bytes a call.
    pub(in crate::report) size: u64,
    /// Bytes a cycle.
    pub(in crate::report) figure: f64,
    /// 95 % interval of the same.
    pub(in crate::report) ci: (f64, f64),
}

/// A curve over size.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::report) struct Series {
    /// What it is of.
    pub(in crate::report) name: String,
    /// By size, ascending.
    pub(in crate::report) points: Vec<SizePoint>,
}

/// What a chart of sizes shows.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::report) struct SizeCurves {
    /// What the chart is called.
    pub(in crate::report) title: String,
    /// The curves.
    pub(in crate::report) series: Vec<Series>,
    /// The most there can be, bytes a cycle, where that is known.
    pub(in crate::report) limit: Option<f64>,
    /// Names and sizes of the caches.
    pub(in crate::report) caches: Vec<(String, u64)>,
}

/// Draws them.
pub(in crate::report) fn size_curves(data: &SizeCurves) -> String {
    let points = || data.series.iter().flat_map(|s| &s.points);
    let log = |size: u64| (size.max(1) as f64).log2();
    let least = points().map(|p| p.size).min().unwrap_or(1);
    let most = points().map(|p| p.size).max().unwrap_or(2);
    let top = points().map(|p| p.ci.1).fold(0.0, f64::max);
    // A limit far above everything would press the curves to the floor.
    let limit = data.limit.filter(|limit| *limit < top * 1.8);
    let top = limit.map_or(top, |limit| top.max(limit)) * 1.06;
    let mut sizes: Vec<u64> = points().map(|p| p.size).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let frame = Frame::default();
    let step = every(sizes.len(), 4, frame.width - frame.left - frame.right);
    let ticks = sizes.iter().step_by(step).map(|s| (log(*s), human_size(*s))).collect();
    let x = Scale { from: log(least), to: log(most), ticks, title: "bytes a call".into() };
    let y = linear("bytes a cycle", 0.0, top.max(f64::MIN_POSITIVE), 5);
    draw(&data.title, frame, (&x, &y), (Grid::Plain, Grid::Lines), |canvas| {
        for (name, size) in data.caches.iter().filter(|(_, s)| (least..=most).contains(s)) {
            canvas.line(&[(log(*size), 0.0), (log(*size), y.to)], Ink::Muted, 0.75);
            canvas.words(name, (log(*size), y.to), (-3, LETTERS), At::Right, Ink::Muted);
        }
        if let Some(limit) = limit {
            canvas.line(&[(x.from, limit), (x.to, limit)], Ink::Text, 0.75);
            canvas.words("limit", (x.to, limit), (0, -3), At::Right, Ink::Muted);
        }
        for (index, series) in data.series.iter().enumerate() {
            let bounds: Vec<(f64, f64, f64)> =
                series.points.iter().map(|p| (log(p.size), p.ci.0, p.ci.1.min(y.to))).collect();
            canvas.ribbon(&bounds, Ink::Series(index));
        }
        // The first is the one to see: it is drawn last.
        for (index, series) in data.series.iter().enumerate().rev() {
            let line: Vec<(f64, f64)> =
                series.points.iter().map(|p| (log(p.size), p.figure)).collect();
            canvas.line(&line, Ink::Series(index), if index == 0 { 2.0 } else { 1.5 });
            for (x, y) in line {
                canvas.mark(x, y, index, 3.0);
            }
        }
        let names: Vec<&str> = data.series.iter().map(|s| s.name.as_str()).collect();
        canvas.key(&names);
    })
}
