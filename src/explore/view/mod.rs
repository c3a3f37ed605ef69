//! A screen on a terminal.
//!
//! It knows the plain data of a [`Screen`] and nothing of what it stands for: a new axis, a
//! new state or a new subject is a new word in it.

#[cfg(test)]
mod any;
mod axes;
mod bars;
mod curve;
mod figures;
#[cfg(test)]
mod fixture;
mod help;
mod layout;
mod listing;
mod look;
mod map;
mod overlay;
mod ramp;
mod scale;
mod svg;
#[cfg(test)]
mod tests;
mod text;

use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

use super::screen::Screen;
pub use look::{Depth, Look};
pub use svg::svg;

/// What is at a place of the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// A cell of the map: its column and row in the map.
    Cell(usize, usize),
    /// An axis of the side panel: its index.
    Axis(usize),
    /// A point of the curve's first series: its index.
    Point(usize),
    /// An item of the list to choose from: its index.
    Item(usize),
}

/// Draws a screen over the whole of a frame.
pub fn draw(screen: &Screen, frame: &mut Frame<'_>, look: &Look) {
    let area = frame.area();
    if let Some(position) = paint(screen, area, frame.buffer_mut(), *look) {
        frame.set_cursor_position(position);
    }
}

/// Draws a screen; where the terminal's cursor belongs, if there is text to type.
fn paint(screen: &Screen, area: Rect, buffer: &mut Buffer, look: Look) -> Option<Position> {
    let area = area.intersection(*buffer.area());
    let Some(regions) = layout::regions(screen, area) else {
        too_small(area, buffer);
        look.reduce(area, buffer);
        return None;
    };
    bars::title(&screen.title, regions.title, buffer, look);
    match &screen.curve {
        Some(curve) => curve::draw(curve, regions.centre, buffer, look),
        None => map::draw(&screen.map, regions.centre, buffer, look),
    }
    axes::draw(&screen.axes, &regions, buffer, look);
    listing::draw(&screen.listing, regions.listing, buffer, look);
    figures::draw(&screen.figures, regions.figures, buffer, look);
    separators(&regions, buffer, look);
    bars::status(&screen.status, regions.status, buffer, look);
    let cursor = screen
        .overlay
        .as_ref()
        .and_then(|over| overlay::draw(over, layout::overlay(over, area), buffer, look));
    look.reduce(area, buffer);
    cursor
}

/// The lines between the parts that stand beside each other.
fn separators(regions: &layout::Regions, buffer: &mut Buffer, look: Look) {
    let body = regions.listing;
    let beside_map = (!regions.stacked).then(|| regions.axes.right());
    for column in beside_map.into_iter().chain([body.x - 1]) {
        for row in body.y..body.bottom() {
            let line = if row == body.y { "┬" } else { "│" };
            buffer.set_stringn(column, row, line, 1, look.muted());
        }
        // A long id may reach this far.
        let below = buffer.cell_mut((column, regions.figures.y));
        if let Some(cell) = below.filter(|cell| matches!(cell.symbol(), "─" | " ")) {
            cell.set_symbol("┴").set_style(look.muted());
        }
    }
}

fn too_small(area: Rect, buffer: &mut Buffer) {
    let (columns, rows) = layout::LEAST;
    let ask = format!(
        "Please make this window larger: {columns}×{rows} at least, it is {}×{}.",
        area.width, area.height
    );
    let lines = text::wrap(&ask, area.width);
    let first = area.height.saturating_sub(lines.len() as u16) / 2;
    for (row, line) in (first..area.height).zip(&lines) {
        let column = area.width.saturating_sub(text::width(line)) / 2;
        text::put(buffer, area, (column, row), line, ratatui::style::Style::new());
    }
}

/// What is drawn at a column and row of a screen that fills `area`. An overlay hides what is
/// below it.
pub fn hit(screen: &Screen, area: Rect, column: u16, row: u16) -> Option<Target> {
    let regions = layout::regions(screen, area)?;
    if let Some(overlay) = &screen.overlay {
        return overlay::hit(overlay, layout::overlay(overlay, area), column, row)
            .map(Target::Item);
    }
    let axis = axes::places(&screen.axes, &regions)
        .into_iter()
        .find(|(_, place)| place.contains(Position::new(column, row)));
    if let Some((index, _)) = axis {
        return Some(Target::Axis(index));
    }
    match &screen.curve {
        Some(curve) => curve::hit(curve, regions.centre, column, row).map(Target::Point),
        None => map::Grid::of(&screen.map, regions.centre)
            .hit(column, row)
            .map(|(column, row)| Target::Cell(column, row)),
    }
}
