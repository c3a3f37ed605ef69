//! Figures with their intervals, one line each.

use super::super::text::rate;
use super::frame::{At, Frame, Grid, LETTERS, Scale, draw, linear};
use super::theme::Ink;

/// A line of the chart.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::report) struct Bar {
    /// What lines of one group have in common; said once.
    pub(in crate::report) group: String,
    /// Place of its name in the list of names.
    pub(in crate::report) series: usize,
    /// The figure.
    pub(in crate::report) figure: f64,
    /// 95 % interval of the same.
    pub(in crate::report) ci: (f64, f64),
}

/// Pixels from line to line.
const PITCH: i32 = 17;

/// Draws them. `names`: of the series; `unit`: the title of the axis; `limit`: the most
/// there can be, where that is known.
pub(in crate::report) fn bars(
    title: &str,
    names: &[&str],
    lines: &[Bar],
    unit: &str,
    limit: Option<f64>,
) -> String {
    let widest = lines.iter().map(|b| b.group.chars().count()).max().unwrap_or(0) as i32;
    let top = lines.iter().map(|b| b.ci.1).fold(0.0, f64::max);
    let limit = limit.filter(|limit| *limit < top * 1.8);
    let top = limit.map_or(top, |limit| top.max(limit)) * 1.06;
    let mut groups: Vec<&str> = Vec::new();
    for bar in lines {
        if groups.last() != Some(&bar.group.as_str()) {
            groups.push(&bar.group);
        }
    }
    // Half a line between groups.
    let rows = lines.len() as f64 + 0.6 * groups.len() as f64;
    let frame = Frame {
        left: 16 + widest * LETTERS * 3 / 5,
        right: 40,
        height: 26 + 44 + (rows * f64::from(PITCH)) as i32,
        ..Frame::default()
    };
    let x = linear(unit, 0.0, top.max(f64::MIN_POSITIVE), 6);
    let y = Scale { from: rows, to: 0.0, ..Scale::default() };
    draw(title, frame, (&x, &y), (Grid::Lines, Grid::Plain), |canvas| {
        if let Some(limit) = limit {
            canvas.line(&[(limit, 0.0), (limit, rows)], Ink::Text, 0.75);
            canvas.words("limit", (limit, 0.0), (3, LETTERS), At::Left, Ink::Muted);
        }
        let mut row = 0.0;
        let mut group = None;
        for bar in lines {
            if group != Some(&bar.group) {
                row += if group.is_some() { 0.6 } else { 0.3 };
                let of_group = lines.iter().filter(|b| b.group == bar.group).count() as f64;
                let middle = (0.0, row + of_group / 2.0);
                canvas.words(&bar.group, middle, (-6, 4), At::Right, Ink::Text);
                group = Some(&bar.group);
            }
            let (ink, at) = (Ink::Series(bar.series), row + 0.5);
            canvas.fill((0.0, row + 0.22), (bar.figure, row + 0.78), 0.0, Ink::Grid);
            canvas.line(&[(bar.ci.0, at), (bar.ci.1, at)], ink, 2.5);
            canvas.mark(bar.figure, at, bar.series, 4.0);
            let word = rate(bar.figure);
            canvas.words(&word, (bar.ci.1, at), (8, 4), At::Left, Ink::Muted);
            row += 1.0;
        }
        canvas.key(names);
    })
}
