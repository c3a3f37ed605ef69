//! Text in a rectangle.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::Span;

use super::look::Look;

/// Wider than any screen: what is longer counts as this, so that a few of them can be added.
const WIDEST: usize = 4096;

/// Columns of a text.
pub(super) fn width(text: &str) -> u16 {
    Span::raw(text).width().min(WIDEST) as u16
}

/// Writes a text at a column and row of `area`, cut at the right end; the column after it.
pub(super) fn put(
    buffer: &mut Buffer,
    area: Rect,
    (column, row): (u16, u16),
    text: &str,
    style: Style,
) -> u16 {
    let area = area.intersection(*buffer.area());
    if column >= area.width || row >= area.height {
        return column;
    }
    let room = usize::from(area.width - column);
    let (end, _) = buffer.set_stringn(area.x + column, area.y + row, text, room, style);
    end - area.x
}

/// Writes pieces one after the other; the column after the last.
pub(super) fn put_all(
    buffer: &mut Buffer,
    area: Rect,
    (column, row): (u16, u16),
    pieces: &[(&str, Style)],
) -> u16 {
    pieces
        .iter()
        .fold(column, |column, (text, style)| put(buffer, area, (column, row), text, *style))
}

/// Writes a text so that it ends at the right end of `area`.
pub(super) fn put_right(buffer: &mut Buffer, area: Rect, row: u16, text: &str, style: Style) {
    let column = area.width.saturating_sub(width(text));
    put(buffer, area, (column, row), text, style);
}

/// A rule over the whole of the first row with a heading at its left and a remark at its
/// right, where there is room for that.
pub(super) fn rule(buffer: &mut Buffer, area: Rect, heading: &str, remark: &str, look: Look) {
    put(buffer, area, (0, 0), &"─".repeat(usize::from(area.width)), look.muted());
    if area.width < 6 {
        return;
    }
    let heading = cut(heading, area.width - 4);
    let end = if heading.is_empty() {
        1
    } else {
        let style = Style::new().add_modifier(ratatui::style::Modifier::BOLD);
        put(buffer, area, (1, 0), &format!(" {heading} "), style)
    };
    let room = area.width.saturating_sub(end + 4);
    if !remark.is_empty() && room >= width(remark).min(8) {
        let remark = format!(" {} ", cut(remark, room));
        let column = area.width.saturating_sub(width(&remark) + 1);
        put(buffer, area, (column, 0), &remark, look.muted());
    }
}

/// The text cut at its end to so many columns.
pub(super) fn cut(text: &str, columns: u16) -> String {
    if width(text) <= columns {
        return text.to_string();
    }
    let mut out = head(text, columns.saturating_sub(1));
    if columns > 0 {
        out.push('…');
    }
    out
}

/// The text cut in its middle to so many columns: both ends of an id tell it from others.
pub(super) fn shorten(text: &str, columns: u16) -> String {
    if width(text) <= columns {
        return text.to_string();
    }
    if columns < 3 {
        return cut(text, columns);
    }
    let tail = (columns - 1) / 2;
    let reversed: String = text.chars().rev().collect();
    let end: String = head(&reversed, tail).chars().rev().collect();
    format!("{}…{end}", head(text, columns - 1 - tail))
}

/// As many of the first characters as fit into so many columns.
fn head(text: &str, columns: u16) -> String {
    let mut used = 0;
    let fits = |c: &char| {
        used += width(c.encode_utf8(&mut [0; 4]));
        used <= columns
    };
    text.chars().take_while(fits).collect()
}

/// The text in lines of at most so many columns, broken at spaces where there are some.
pub(super) fn wrap(text: &str, columns: u16) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if width(line) + 1 + width(word) <= columns => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(cut(word, columns)),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cut_to_their_columns() {
        assert_eq!(cut("unroll", 6), "unroll");
        assert_eq!(cut("unroll", 4), "unr…");
        assert_eq!(cut("unroll", 0), "");
        assert_eq!(shorten("zero/ymm/u4/a64+8/nt", 11), "zero/…+8/nt");
        for columns in 0..30 {
            assert!(width(&cut("zero/ymm/u4/a64", columns)) <= columns);
            assert!(width(&shorten("zero/ymm/u4/a64", columns)) <= columns);
            // a character of two columns never stands half
            assert!(width(&shorten("幅幅幅幅幅幅", columns)) <= columns);
        }
    }

    #[test]
    fn lines_break_at_spaces() {
        assert_eq!(wrap("no such loop here", 8), ["no such", "loop", "here"]);
        assert_eq!(wrap("", 8), [""; 0]);
    }
}
