//! The first line and the last.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};

use super::super::screen::{Status, StatusKind, Title};
use super::look::Look;
use super::text::{cut, put, put_all, put_right, width};

/// Draws the question and how far its answer is.
pub(super) fn title(title: &Title, area: Rect, buffer: &mut Buffer, look: Look) {
    let bold = Style::new().add_modifier(Modifier::BOLD);
    let op = format!(" {} ", title.op);
    let question = format!(" {} ", title.size);
    let state = format!("{} {}", title.state, title.drive);
    let mut column = put_all(
        buffer,
        area,
        (0, 0),
        &[
            (" looptune ", bold.add_modifier(Modifier::REVERSED)),
            (&op, look.accent().add_modifier(Modifier::BOLD)),
            (&question, bold),
            (&state, bold),
        ],
    );
    if !title.baseline.is_empty() {
        let against = format!("  against {}", title.baseline);
        column = put(buffer, area, (column, 0), &against, Style::new());
    }
    let (done, all) = title.done;
    let count = if all > 0 { format!("{done}/{all} ") } else { String::new() };
    let room = area.width.saturating_sub(column + 4 + width(&count));
    let source = if room < 8 { String::new() } else { cut(&title.source, room) };
    put_right(buffer, area, 0, &format!("{source}  {count}"), look.muted());
}

/// Draws the last line.
pub(super) fn status(status: &Status, area: Rect, buffer: &mut Buffer, look: Look) {
    let bold = Modifier::BOLD;
    let (glyph, style) = match status.kind {
        StatusKind::Hint => (" ", look.muted()),
        StatusKind::Done => (" ✓ ", look.good().add_modifier(bold)),
        StatusKind::Notice => (" ! ", look.warn().add_modifier(bold)),
        StatusKind::Error => (" ✗ ", look.bad().add_modifier(bold)),
    };
    let column = put(buffer, area, (0, 0), glyph, style);
    let text = cut(&status.text, area.width.saturating_sub(column));
    put(buffer, area, (column, 0), &text, style);
}
