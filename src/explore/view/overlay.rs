//! What lies over everything: help, a line to type in, a list to choose from.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::{Modifier, Style};
use ratatui::widgets::{Block, BorderType, Clear, Padding, Widget};

use super::super::screen::{Overlay, Prompt};
use super::layout::{middle, window};
use super::look::Look;
use super::text::{cut, put, put_right, shorten, width, wrap};

/// Columns that a line to type in wants.
const PROMPT_COLUMNS: u16 = 64;

/// Suggestions shown at most.
const SUGGESTIONS: usize = 8;

/// Columns between two columns of help.
const GAP: u16 = 3;

/// Draws what lies over everything; where the terminal's cursor belongs, if there is text
/// to type.
pub(super) fn draw(
    overlay: &Overlay,
    area: Rect,
    buffer: &mut Buffer,
    look: Look,
) -> Option<Position> {
    match overlay {
        Overlay::Help(groups) => {
            help(groups, area, buffer, look);
            None
        }
        Overlay::Prompt(prompt) => prompt_box(prompt, area, buffer, look),
        Overlay::Choice { title, items, at } => {
            choice(title, items, *at, area, buffer, look);
            None
        }
    }
}

/// An empty box with a title; its inner rectangle.
fn frame(area: Rect, title: &str, buffer: &mut Buffer, look: Look) -> Rect {
    let title = format!(" {} ", cut(title, area.width.saturating_sub(6)));
    let block = Block::bordered()
        .border_type(BorderType::Rounded)
        .border_style(look.accent())
        .title(title)
        .title_style(Style::new().add_modifier(Modifier::BOLD))
        .padding(Padding::horizontal(1));
    let inner = block.inner(area);
    Clear.render(area, buffer);
    block.render(area, buffer);
    inner
}

/// A line of help.
enum HelpLine<'a> {
    Group(&'a str),
    Key(&'a str, &'a str),
    Gap,
}

fn help(groups: &[(String, Vec<(String, String)>)], area: Rect, buffer: &mut Buffer, look: Look) {
    let keys = || groups.iter().flat_map(|(_, keys)| keys);
    let widest =
        |texts: &mut dyn Iterator<Item = &String>| texts.map(|text| width(text)).max().unwrap_or(0);
    let key = widest(&mut keys().map(|(key, _)| key));
    let about = widest(&mut keys().map(|(_, about)| about));
    let natural = key + 2 + about;
    let room = (area.width.saturating_sub(4), area.height.saturating_sub(2));
    // The fewest columns in which all of it stands; where there are none, the most.
    let fits = |columns: u16| columns * (natural + GAP) <= room.0 + GAP;
    let mut chosen = (1, columns_of(groups, 1, room.1));
    for columns in 1..=3 {
        let parts = columns_of(groups, columns, room.1);
        let tall = parts.iter().map(Vec::len).max().unwrap_or(0);
        let possible = columns == 1 || fits(columns) || (columns == 2 && room.0 >= 56);
        if !possible {
            break;
        }
        chosen = (columns, parts);
        if tall <= usize::from(room.1) {
            break;
        }
    }
    let (columns, parts) = chosen;
    let tall = parts.iter().map(Vec::len).max().unwrap_or(0) as u16;
    let wide = (columns * (natural + GAP) - GAP).min(room.0);
    let inner = frame(middle(area, wide + 4, tall + 2), "keys", buffer, look);
    let each = (inner.width + GAP) / columns;
    for (part, lines) in (0..).zip(&parts) {
        let column = Rect {
            x: inner.x + part * each,
            width: each.saturating_sub(GAP).min(inner.width),
            ..inner
        };
        help_column(lines, key, column.intersection(inner), buffer, look);
    }
}

/// The groups in so many columns of about the same height; none is broken.
fn columns_of(
    groups: &[(String, Vec<(String, String)>)],
    columns: u16,
    room: u16,
) -> Vec<Vec<HelpLine<'_>>> {
    let all: usize = groups.iter().map(|(_, keys)| keys.len() + 2).sum();
    // Gaps go first where they make the difference.
    let gap = all.div_ceil(usize::from(columns)) <= usize::from(room) + 1;
    let height = |keys: usize| keys + 1 + usize::from(gap);
    let total: usize = groups.iter().map(|(_, keys)| height(keys.len())).sum();
    let target = total.div_ceil(usize::from(columns));
    let mut parts: Vec<Vec<HelpLine<'_>>> = vec![Vec::new()];
    for (name, keys) in groups {
        let last = parts.len() == usize::from(columns);
        if let Some(part) = parts.last()
            && !last
            && !part.is_empty()
            && part.len() + height(keys.len()) / 2 >= target
        {
            parts.push(Vec::new());
        }
        let Some(part) = parts.last_mut() else { continue };
        if gap && !part.is_empty() {
            part.push(HelpLine::Gap);
        }
        part.push(HelpLine::Group(name));
        part.extend(keys.iter().map(|(key, about)| HelpLine::Key(key, about)));
    }
    parts
}

fn help_column(lines: &[HelpLine<'_>], key: u16, area: Rect, buffer: &mut Buffer, look: Look) {
    let bold = look.accent().add_modifier(Modifier::BOLD);
    for (row, line) in (0..area.height).zip(lines) {
        if row + 1 == area.height && usize::from(area.height) < lines.len() {
            put(buffer, area, (0, row), "… more in a taller window", look.muted());
            break;
        }
        match line {
            HelpLine::Gap => {}
            HelpLine::Group(name) => {
                let style = Style::new().add_modifier(Modifier::BOLD | Modifier::UNDERLINED);
                put(buffer, area, (0, row), &cut(name, area.width), style);
            }
            HelpLine::Key(keys, about) => {
                put_right(buffer, Rect { width: key.min(area.width), ..area }, row, keys, bold);
                let room = area.width.saturating_sub(key + 2);
                put(buffer, area, (key + 2, row), &cut(about, room), Style::new());
            }
        }
    }
}

fn prompt_box(prompt: &Prompt, area: Rect, buffer: &mut Buffer, look: Look) -> Option<Position> {
    let wide = PROMPT_COLUMNS.min(area.width);
    let inner_width = wide.saturating_sub(4);
    let error = wrap(prompt.error.as_deref().unwrap_or_default(), inner_width);
    let suggestions = prompt.suggestions.len().min(SUGGESTIONS);
    let rows = 1 + error.len() + suggestions;
    let inner = frame(middle(area, wide, rows as u16 + 2), &prompt.title, buffer, look);
    // The end of what is typed is what one looks at.
    let room = inner.width.saturating_sub(3);
    let mut typed = prompt.text.as_str();
    while width(typed) > room {
        let mut chars = typed.chars();
        chars.next();
        typed = chars.as_str();
    }
    let bold = Style::new().add_modifier(Modifier::BOLD);
    let column = put(buffer, inner, (0, 0), "> ", look.accent().add_modifier(Modifier::BOLD));
    let column = put(buffer, inner, (column, 0), typed, bold);
    put(buffer, inner, (column, 0), " ", Style::new().add_modifier(Modifier::REVERSED));
    let mut row = 1;
    for line in &error {
        put(buffer, inner, (0, row), line, look.bad());
        row += 1;
    }
    for suggestion in prompt.suggestions.iter().take(SUGGESTIONS) {
        let text = shorten(suggestion, inner.width.saturating_sub(2));
        put(buffer, inner, (2, row), &text, look.muted());
        row += 1;
    }
    let position = Position::new(inner.x + column, inner.y);
    inner.contains(position).then_some(position)
}

/// The inner rectangle of a list, and first and number of the items shown.
fn choice_place(title: &str, items: &[String], at: usize, area: Rect) -> (Rect, usize, usize) {
    let widest = items.iter().map(|item| width(item)).max().unwrap_or(0).max(width(title) + 2);
    let rows = items.len().min(usize::from(area.height)) as u16;
    let outer = middle(area, widest.saturating_add(6).max(24), rows.saturating_add(2));
    let rows = usize::from(outer.height.saturating_sub(2));
    let (first, shown) = window(at, items.len(), rows);
    (outer, first, shown)
}

fn choice(title: &str, items: &[String], at: usize, area: Rect, buffer: &mut Buffer, look: Look) {
    let (outer, first, shown) = choice_place(title, items, at, area);
    let inner = frame(outer, title, buffer, look);
    for (row, index) in (0..inner.height).zip(first..first + shown) {
        let Some(item) = items.get(index) else { continue };
        let here = index == at;
        let mark = if here { "▸ " } else { "  " };
        let style = if here {
            Style::new().add_modifier(Modifier::BOLD | Modifier::REVERSED)
        } else {
            Style::new()
        };
        let line = Rect { y: inner.y + row, height: 1, ..inner };
        buffer.set_style(line, style);
        let column = put(buffer, inner, (0, row), mark, style);
        put(buffer, inner, (column, row), &shorten(item, inner.width.saturating_sub(2)), style);
    }
    // What is above and below the items shown.
    let edge = |more: bool, row: u16, buffer: &mut Buffer| {
        if more && outer.width > 8 {
            put(buffer, outer, (outer.width - 4, row), "…", look.accent());
        }
    };
    edge(first > 0, 0, buffer);
    edge(first + shown < items.len(), outer.height.saturating_sub(1), buffer);
}

/// The item of a list at a place of the screen.
pub(super) fn hit(overlay: &Overlay, area: Rect, column: u16, row: u16) -> Option<usize> {
    let Overlay::Choice { title, items, at } = overlay else { return None };
    let (outer, first, shown) = choice_place(title, items, *at, area);
    let inside = column > outer.x && column + 1 < outer.right();
    let line = row.checked_sub(outer.y + 1).map(usize::from)?;
    (inside && line < shown).then_some(first + line)
}
