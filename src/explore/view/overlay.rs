//! What lies over everything: help, a line to type in, a list to choose from.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::{Modifier, Style};
use ratatui::widgets::{Block, BorderType, Clear, Padding, Widget};

use super::super::screen::{Overlay, Prompt};
use super::help;
use super::layout::{middle, window};
use super::look::Look;
use super::text::{cut, put, shorten, width, wrap};

/// Columns that a line to type in wants.
const PROMPT_COLUMNS: u16 = 64;

/// Suggestions shown at most.
const SUGGESTIONS: usize = 8;

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
            help::draw(groups, area, buffer, look);
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
pub(super) fn frame(area: Rect, title: &str, buffer: &mut Buffer, look: Look) -> Rect {
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
