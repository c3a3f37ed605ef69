//! Where everything stands. Drawing and the mouse share it.

use ratatui::layout::{Constraint, Layout, Rect};

use super::super::screen::{Overlay, Screen};
use super::map;

/// Below these columns and rows the parts no longer fit beside each other.
pub(super) const LEAST: (u16, u16) = (60, 16);

/// Columns from which the axes stand beside the map and not below it.
const WIDE: u16 = 104;

/// Columns of the axes beside the map.
const AXES_COLUMNS: u16 = 22;

/// Columns of a listing that shows its bytes, at least and at most.
const LISTING_COLUMNS: (u16, u16) = (44, 78);

/// The rectangles of the parts. The first row of each but title and status is its rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Regions {
    /// The question.
    pub(super) title: Rect,
    /// The map or the curve.
    pub(super) centre: Rect,
    /// The axes; without a rule where they stand below the map.
    pub(super) axes: Rect,
    /// Whether the axes stand below the map.
    pub(super) stacked: bool,
    /// The code.
    pub(super) listing: Rect,
    /// The times.
    pub(super) figures: Rect,
    /// The last line.
    pub(super) status: Rect,
}

/// The parts of a screen; `None` where there is too little room for them.
pub(super) fn regions(screen: &Screen, area: Rect) -> Option<Regions> {
    if area.width < LEAST.0 || area.height < LEAST.1 {
        return None;
    }
    let figures = match area.height {
        ..20 => 4,
        20..32 => 5,
        32..46 => 8,
        _ => 10,
    };
    let [title, body, figures, status] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Fill(1),
        Constraint::Length(figures),
        Constraint::Length(1),
    ])
    .areas(area);
    let regions = Regions {
        title,
        centre: body,
        axes: body,
        stacked: area.width < WIDE,
        listing: body,
        figures,
        status,
    };
    Some(if regions.stacked {
        stacked(screen, body, regions)
    } else {
        beside(screen, body, regions)
    })
}

/// The axes in columns below the map, the listing at its right.
fn stacked(screen: &Screen, body: Rect, regions: Regions) -> Regions {
    let share = if screen.curve.is_some() { 55 } else { 49 };
    let left = (u32::from(body.width) * share / 100) as u16;
    let [left, listing] = columns(body, [left, body.width - left - 1]);
    let all = (screen.axes.len() as u16).div_ceil(axes_columns(left.width));
    // The map has what it needs first, but never leaves less than three lines of axes.
    let need = if screen.curve.is_some() { 13 } else { map::rows_needed(screen, left.width) };
    let axes = left.height.saturating_sub(need).max(3).min(all);
    let [centre, axes] =
        Layout::vertical([Constraint::Fill(1), Constraint::Length(axes)]).areas(left);
    Regions { centre, axes, listing, ..regions }
}

/// Axes, map and listing side by side.
fn beside(screen: &Screen, body: Rect, regions: Regions) -> Regions {
    let rest = body.width.saturating_sub(AXES_COLUMNS + 2);
    let need = if screen.curve.is_some() { rest * 11 / 20 } else { map::columns_needed(screen) };
    let (least, most) = LISTING_COLUMNS;
    let listing = rest.saturating_sub(need).clamp(least, most).min(rest * 3 / 5);
    let [axes, centre, listing] =
        columns(body, [AXES_COLUMNS, rest.saturating_sub(listing), listing]);
    Regions { centre, axes, listing, ..regions }
}

/// Columns with one free column between them, in which a line is drawn.
fn columns<const N: usize>(body: Rect, widths: [u16; N]) -> [Rect; N] {
    Layout::horizontal(widths.map(Constraint::Length)).spacing(1).areas(body)
}

/// How many axes stand in a line below the map.
pub(super) fn axes_columns(width: u16) -> u16 {
    /// A mark, a key, a value.
    const AXIS: u16 = 13;
    (width / AXIS).max(1)
}

/// Where an overlay may stand: all but the first line and the last. Help may have those too;
/// it is long.
pub(super) fn overlay(overlay: &Overlay, area: Rect) -> Rect {
    match overlay {
        Overlay::Help(_) => area,
        _ => Rect { y: area.y + 1, height: area.height.saturating_sub(2), ..area },
    }
}

/// The box of so many columns and rows in the middle, as far as it fits.
pub(super) fn middle(area: Rect, columns: u16, rows: u16) -> Rect {
    area.centered(
        Constraint::Length(columns.min(area.width)),
        Constraint::Length(rows.min(area.height)),
    )
}

/// First and number of `all` things shown in `room` places, so that `at` is among them.
pub(super) fn window(at: usize, all: usize, room: usize) -> (usize, usize) {
    let shown = all.min(room);
    let first = at.min(all.saturating_sub(1)).saturating_sub(shown / 2).min(all - shown);
    (first, shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_holds_the_cursor() {
        for all in 0..12 {
            for room in 0..14 {
                for at in 0..all {
                    let (first, shown) = window(at, all, room);
                    assert!(first + shown <= all && shown <= room);
                    assert!(room == 0 || (first..first + shown).contains(&at), "{at} {all} {room}");
                }
            }
        }
    }

    #[test]
    fn parts_never_overlap() {
        for (columns, rows) in [(60, 16), (80, 24), (103, 30), (104, 30), (120, 40), (200, 60)] {
            let area = Rect::new(0, 0, columns, rows);
            let r = regions(&super::super::fixture::screen(), area).unwrap();
            let parts = [r.title, r.centre, r.axes, r.listing, r.figures, r.status];
            for (i, a) in parts.iter().enumerate() {
                assert!(!a.is_empty() && area.intersection(*a) == *a, "{a} of {area}");
                for b in &parts[i + 1..] {
                    assert!(a.intersection(*b).is_empty(), "{a} and {b} of {area}");
                }
            }
        }
        assert_eq!(regions(&Screen::default(), Rect::new(0, 0, 59, 30)), None);
    }
}
