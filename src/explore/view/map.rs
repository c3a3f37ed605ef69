//! Two axes against each other: a cell a loop, its colour and its figure how much slower than
//! the fastest it is.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};

use super::super::screen::{Heat, HeatMap, Screen};
use super::layout::window;
use super::look::Look;
use super::text::{cut, put, put_right, rule, width};

/// Columns of a cell: one for a bracket or a mark, two for the figure; more where there is
/// room.
const CELL_COLUMNS: (u16, u16) = (3, 8);

/// Columns of a cell that has room for both brackets.
const ROOMY: u16 = 4;

/// Columns of the rows' headings at most.
const HEADING_COLUMNS: u16 = 9;

/// Lines that the columns' headings take turns in, where one is too short for all.
const HEADING_LINES: u16 = 3;

/// Where the cells of a map are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Grid {
    /// All cells shown.
    cells: Rect,
    /// Columns and rows of one.
    cell: (u16, u16),
    /// First column and row of the map that is shown.
    first: (usize, usize),
    /// Columns and rows of the map that are shown.
    shown: (usize, usize),
    /// Lines of headings above the cells.
    headings: u16,
    /// Letters that all headings of columns begin with, and that are said once.
    prefix: usize,
}

impl Grid {
    /// The grid of a map in `area`, whose first row is the rule.
    pub(super) fn of(map: &HeatMap, area: Rect) -> Grid {
        let (columns, rows) = (map.x.values.len(), map.y.values.len());
        let side = side(map);
        let room = area.width.saturating_sub(side + 1);
        let prefix = prefix(&map.x.values);
        let widest = widest(&map.x.values).saturating_sub(prefix as u16);
        let (least, most) = CELL_COLUMNS;
        let cell = (room / (columns.max(1).min(usize::from(room.max(1))) as u16))
            .clamp(least, most.max(widest + 1));
        let headings = (widest + 1).div_ceil(cell).clamp(1, HEADING_LINES);
        let (first_column, shown_columns) = window(map.cursor.0, columns, usize::from(room / cell));
        let left = area.height.saturating_sub(1 + headings + legend_lines(area));
        let height = (left / (rows.max(1).min(usize::from(left.max(1))) as u16))
            .clamp(1, (cell / 2).clamp(1, 3));
        let (first_row, shown_rows) = window(map.cursor.1, rows, usize::from(left / height));
        Grid {
            cells: Rect {
                x: area.x + side,
                y: area.y + 1 + headings,
                width: cell * shown_columns as u16,
                height: height * shown_rows as u16,
            },
            cell: (cell, height),
            first: (first_column, first_row),
            shown: (shown_columns, shown_rows),
            headings,
            prefix,
        }
    }

    /// The line of a cell that its figure stands in.
    fn figure_line(&self) -> u16 {
        (self.cell.1 - 1) / 2
    }

    /// The cell that is drawn at a place of the screen.
    pub(super) fn hit(&self, column: u16, row: u16) -> Option<(usize, usize)> {
        let inside = self.cells.contains((column, row).into());
        inside.then(|| {
            (
                self.first.0 + usize::from((column - self.cells.x) / self.cell.0),
                self.first.1 + usize::from((row - self.cells.y) / self.cell.1),
            )
        })
    }

    /// The rectangle of a cell, if it is shown.
    fn rect(&self, (column, row): (usize, usize)) -> Option<Rect> {
        let place = |at: usize, first: usize, shown: usize| {
            at.checked_sub(first).filter(|place| *place < shown).map(|place| place as u16)
        };
        let column = place(column, self.first.0, self.shown.0)?;
        let row = place(row, self.first.1, self.shown.1)?;
        Some(Rect {
            x: self.cells.x + column * self.cell.0,
            y: self.cells.y + row * self.cell.1,
            width: self.cell.0,
            height: self.cell.1,
        })
    }
}

/// Columns that a map wants when there are many.
pub(super) fn columns_needed(screen: &Screen) -> u16 {
    let columns = screen.map.x.values.len().min(64) as u16;
    side(&screen.map) + columns * ROOMY + 2
}

/// Rows that a map needs in so many columns to be shown whole.
pub(super) fn rows_needed(screen: &Screen, columns: u16) -> u16 {
    let rows = screen.map.y.values.len().min(64) as u16;
    let grid = Grid::of(&screen.map, Rect::new(0, 0, columns, 3 + rows));
    1 + grid.headings + rows + 1
}

fn side(map: &HeatMap) -> u16 {
    widest(&map.y.values).min(HEADING_COLUMNS) + 1
}

/// Letters before the figures of all values, as in `a16`, `a64+8`: bytes of them.
fn prefix(values: &[String]) -> usize {
    let letters = |value: &String| {
        let end = value.find(|c: char| !c.is_ascii_alphabetic())?;
        value[end..].starts_with(|c: char| c.is_ascii_digit()).then(|| value[..end].to_string())
    };
    let first = values.first().and_then(letters).unwrap_or_default();
    let all = values.iter().all(|value| letters(value).as_ref() == Some(&first));
    if all { first.len() } else { 0 }
}

fn widest(values: &[String]) -> u16 {
    values.iter().map(|value| width(value)).max().unwrap_or(0).min(64)
}

fn legend_lines(area: Rect) -> u16 {
    if area.height >= 20 { 3 } else { 1 }
}

/// Draws the map.
pub(super) fn draw(map: &HeatMap, area: Rect, buffer: &mut Buffer, look: Look) {
    let grid = Grid::of(map, area);
    let letters = map.x.values.first().map_or("", |value| &value[..grid.prefix]);
    let said = if letters.is_empty() { String::new() } else { format!(" {letters}…") };
    let heading = format!("{}{said} → · {} ↓", map.x.key, map.y.key);
    rule(buffer, area, &heading, &hidden(map, &grid), look);
    headings(map, &grid, area, buffer, look);
    for (index, heat) in map.cells.iter().enumerate() {
        let columns = map.x.values.len().max(1);
        let at = (index % columns, index / columns);
        if let Some(rect) = grid.rect(at) {
            // Above and below the figure there is only colour.
            buffer.set_style(rect, style(*heat, look).remove_modifier(Modifier::UNDERLINED));
            let line = Rect { y: rect.y + grid.figure_line(), height: 1, ..rect };
            cell(map, *heat, at, line, buffer, look);
        }
    }
    if let Some(rect) = grid.rect(map.cursor) {
        brackets(rect, grid.figure_line(), area, buffer, look);
    }
    legend(map, &grid, area, buffer, look);
}

/// Which part is shown, where it is not the whole.
fn hidden(map: &HeatMap, grid: &Grid) -> String {
    let part = |key: &str, first: usize, shown: usize, all: usize| {
        (shown < all && shown > 0)
            .then(|| format!("{key} {}–{} of {all}", first + 1, first + shown))
    };
    let columns = part(&map.x.key, grid.first.0, grid.shown.0, map.x.values.len());
    let rows = part(&map.y.key, grid.first.1, grid.shown.1, map.y.values.len());
    columns.into_iter().chain(rows).collect::<Vec<_>>().join(", ")
}

fn headings(map: &HeatMap, grid: &Grid, area: Rect, buffer: &mut Buffer, look: Look) {
    let style = |here: bool| {
        if here { look.accent().add_modifier(Modifier::BOLD) } else { Style::new() }
    };
    for place in 0..grid.shown.0 {
        let column = grid.first.0 + place;
        let Some(value) = map.x.values.get(column) else { continue };
        let line = place as u16 % grid.headings;
        let text = cut(&value[grid.prefix..], (grid.cell.0 * grid.headings).saturating_sub(1));
        // Headings end where their figures end.
        let end = grid.cells.x - area.x + place as u16 * grid.cell.0 + figure_end(grid.cell.0);
        let start = end.saturating_sub(width(&text)).max(side(map).min(end));
        let row = 1 + grid.headings - 1 - line;
        put(buffer, area, (start, row), &text, style(column == map.cursor.0));
    }
    for place in 0..grid.shown.1 {
        let row = grid.first.1 + place;
        let Some(value) = map.y.values.get(row) else { continue };
        let line = Rect { width: side(map) - 1, ..area };
        let y = grid.cells.y - area.y + place as u16 * grid.cell.1 + grid.figure_line();
        put_right(buffer, line, y, &cut(value, line.width), style(row == map.cursor.1));
    }
}

/// The column after the last of a figure in a cell of so many.
fn figure_end(columns: u16) -> u16 {
    if columns >= ROOMY { columns - (columns - 2) / 2 } else { columns }
}

fn cell(
    map: &HeatMap,
    heat: Heat,
    at: (usize, usize),
    rect: Rect,
    buffer: &mut Buffer,
    look: Look,
) {
    let mut style = style(heat, look);
    let mut text = figure(heat, figure_end(rect.width) - 1);
    let mut mark = " ";
    if matches!(heat, Heat::Measured { fine: false, .. }) {
        mark = "~";
    }
    if map.best == Some(at) {
        text = "★".to_string();
    }
    if map.pin == Some(at) {
        style = style.add_modifier(Modifier::UNDERLINED);
        mark = "P";
        // The bracket of the cursor stands where the mark would.
        if map.cursor == at {
            text = format!("P{}", if width(&text) < 2 { &text } else { "" });
        }
    }
    let end = figure_end(rect.width);
    let start = end.saturating_sub(width(&text));
    put(buffer, rect, (start, 0), &text, style);
    put(buffer, rect, (start.saturating_sub(1), 0), mark, style);
}

fn style(heat: Heat, look: Look) -> Style {
    match heat {
        Heat::Measured { slower, fine: true } => look.heat(slower).add_modifier(Modifier::BOLD),
        Heat::Measured { slower, fine: false } => match look.depth {
            super::look::Depth::None => Style::new().add_modifier(Modifier::DIM),
            _ => look.heat(slower),
        },
        Heat::Unmeasured | Heat::Illegal | Heat::Unsupported => look.muted(),
        Heat::Measuring => look.accent().add_modifier(Modifier::BOLD),
        Heat::Failed => look.bad().add_modifier(Modifier::BOLD),
    }
}

/// What stands in a cell: per cent slower than the fastest, in so many columns.
fn figure(heat: Heat, columns: u16) -> String {
    let most = if columns >= 3 { 999.5 } else { 99.5 };
    match heat {
        Heat::Unmeasured => "·".to_string(),
        Heat::Measuring => "⋯".to_string(),
        Heat::Illegal => "-".to_string(),
        Heat::Unsupported => "×".to_string(),
        Heat::Failed => "!".to_string(),
        Heat::Measured { slower, .. } => match (slower - 1.0) * 100.0 {
            percent if percent < most => format!("{:.0}", percent.max(0.0)),
            _ => "+".to_string(),
        },
    }
}

/// The cursor. In a narrow cell the closing bracket stands in the column of the next.
fn brackets(rect: Rect, line: u16, area: Rect, buffer: &mut Buffer, look: Look) {
    let style = Style::new().add_modifier(Modifier::BOLD | Modifier::REVERSED);
    let closing = rect.x + if rect.width >= ROOMY { rect.width - 1 } else { rect.width };
    for row in rect.y..rect.bottom() {
        let (open, close) = if row == rect.y + line { ("[", "]") } else { (" ", " ") };
        for (column, bracket) in [(rect.x, open), (closing, close)] {
            if area.contains((column, row).into()) {
                if let Some(cell) = buffer.cell_mut((column, row)) {
                    cell.reset();
                }
                buffer.set_stringn(column, row, bracket, 1, style);
            }
        }
        if look.depth == super::look::Depth::None {
            let inside = Rect { x: rect.x + 1, y: row, width: closing - rect.x - 1, height: 1 };
            buffer.set_style(inside, Style::new().add_modifier(Modifier::REVERSED));
        }
    }
}

/// What the glyphs that are in the map mean.
fn legend(map: &HeatMap, grid: &Grid, area: Rect, buffer: &mut Buffer, look: Look) {
    let has = |wanted: fn(&Heat) -> bool| map.cells.iter().any(wanted);
    let best = look.heat(1.0).add_modifier(Modifier::BOLD);
    let mut items: Vec<(String, Style, &str)> = Vec::new();
    if has(|heat| matches!(heat, Heat::Measured { .. })) {
        items.push((" ★ ".to_string(), best, "best"));
        let seven = look.heat(1.07).add_modifier(Modifier::BOLD);
        items.push((" 7 ".to_string(), seven, "% slower"));
    }
    if has(|heat| matches!(heat, Heat::Measured { slower, .. } if *slower >= 1.995)) {
        items.push((" + ".to_string(), look.heat(9.0), "far more"));
    }
    if has(|heat| matches!(heat, Heat::Measured { fine: false, .. })) {
        items.push((" ~ ".to_string(), look.heat(1.07), "rough"));
    }
    let glyph = |heat: Heat| format!(" {} ", figure(heat, 2));
    let mut state = |heat: Heat, present: bool, text| {
        if present {
            items.push((glyph(heat), style(heat, look), text));
        }
    };
    state(Heat::Illegal, has(|h| *h == Heat::Illegal), "illegal");
    state(Heat::Unsupported, has(|h| *h == Heat::Unsupported), "not here");
    state(Heat::Failed, has(|h| *h == Heat::Failed), "failed");
    state(Heat::Unmeasured, has(|h| *h == Heat::Unmeasured), "no time");
    state(Heat::Measuring, has(|h| *h == Heat::Measuring), "timing");
    if map.pin.is_some() {
        items.push((" P ".to_string(), Style::new().add_modifier(Modifier::UNDERLINED), "pin"));
    }

    let lines = legend_lines(area);
    // Where not all fits, the gaps go first.
    let wide: u16 = items.iter().map(|(glyph, _, text)| width(glyph) + width(text) + 1).sum();
    if wide > lines * area.width {
        items.iter_mut().for_each(|(glyph, _, _)| *glyph = glyph.trim().to_string());
    }
    let below = grid.cells.bottom() - area.y;
    let first = if lines > 1 {
        (below + 1).min(area.height - lines.min(area.height))
    } else {
        area.height.saturating_sub(1)
    };
    let (mut column, mut row) = (0, first);
    for (glyph, style, text) in items {
        let wide = width(&glyph) + width(text);
        if column + wide > area.width {
            (column, row) = (0, row + 1);
            if row >= first + lines {
                break;
            }
        }
        column = put(buffer, area, (column, row), &glyph, style);
        column = put(buffer, area, (column, row), &format!("{text} "), look.muted());
    }
}
