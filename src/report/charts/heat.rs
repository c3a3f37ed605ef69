//! Two axes against each other, by colour and by number.

use super::super::gather::Map;
use super::frame::{At, Frame, Grid, LETTERS, Scale, draw, every};
use super::theme::{Ink, STEPS};

/// Pixels that a number needs.
const NUMBER: i32 = 26;

/// Most pixels of a cell.
const CELL: (i32, i32) = (44, 24);

/// Where no number fits.
const NARROW: i32 = 10;

/// The step of the ramp for a speed relative to the best: the upper half gets most steps,
/// because the question is what comes near the best.
pub(in crate::report) fn step(relative: f64) -> usize {
    const BOUNDS: [f64; STEPS - 1] = [0.3, 0.5, 0.65, 0.8, 0.9, 0.95, 0.98];
    BOUNDS.iter().filter(|bound| relative >= **bound).count()
}

/// Whether a map needs the whole width of a page.
pub(in crate::report) fn broad(map: &Map) -> bool {
    map.x.values.len() as i32 > Frame::default().width / NARROW - 10
}

/// Draws a map: each cell's speed in per cent of the best, which is marked where it may be
/// claimed: not on first looks, nor above `limit` bytes a cycle.
pub(in crate::report) fn heat(title: &str, map: &Map, limit: Option<f64>) -> String {
    let (columns, rows) = (map.x.values.len() as i32, map.y.values.len() as i32);
    let widest = |words: &[String]| words.iter().map(|w| w.chars().count()).max().unwrap_or(1);
    let left = 36 + (widest(&map.y.values) as i32 * LETTERS * 3 / 5).max(24);
    let wide = Frame::default().width - left - 10;
    let cell = (wide / columns.max(1)).clamp(NARROW, CELL.0);
    let frame = Frame {
        width: (left + columns * cell + 10).max(260),
        height: 10 + rows * CELL.1 + 44,
        left,
        right: 10 + (250 - left - columns * cell).max(0),
        top: 10,
        bottom: 44,
    };
    let skip = every(map.x.values.len(), widest(&map.x.values), columns * cell);
    let words = |values: &[String], skip: usize| -> Vec<(f64, String)> {
        let places = values.iter().enumerate().step_by(skip);
        places.map(|(i, word)| (i as f64 + 0.5, word.clone())).collect()
    };
    let x = Scale {
        from: 0.0,
        to: f64::from(columns),
        ticks: words(&map.x.values, skip),
        title: map.x.key.clone(),
    };
    let y = Scale {
        from: f64::from(rows),
        to: 0.0,
        ticks: words(&map.y.values, 1),
        title: map.y.key.clone(),
    };
    let best = map.best();
    let claimed = map.told() && best.is_some_and(|b| limit.is_none_or(|limit| b.2 <= limit));
    draw(title, frame, (&x, &y), (Grid::Plain, Grid::Plain), |canvas| {
        let Some((best_x, best_y, best)) = best else { return };
        for (at, figure) in map.cells.iter().enumerate() {
            let (column, row) = ((at as i32 % columns) as f64, (at as i32 / columns) as f64);
            let (from, to) = ((column, row), (column + 1.0, row + 1.0));
            let Some(figure) = figure else {
                canvas.outline(
                    (column + 0.2, row + 0.5),
                    (column + 0.8, row + 0.5),
                    Ink::Grid,
                    1.0,
                );
                continue;
            };
            let relative = figure / best;
            let step = step(relative);
            canvas.fill(from, to, 0.5, Ink::Ramp(step));
            if cell >= NUMBER {
                let word = format!("{:.0}", 100.0 * relative);
                let middle = (column + 0.5, row + 0.5);
                canvas.words(&word, middle, (0, 4), At::Middle, Ink::OnRamp(step));
            }
        }
        if claimed {
            let (column, row) = (best_x as f64, best_y as f64);
            canvas.outline((column, row), (column + 1.0, row + 1.0), Ink::Text, 2.0);
        }
    })
}
