//! The code under the cursor, with the boundaries of 16, 32 and 64 bytes.

use std::fmt::Write as _;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};

use super::super::screen::{Listing, ListingLine};
use super::look::Look;
use super::text::{cut, put, put_all, rule, shorten, width, wrap};

/// Bytes of a cache line, which is also the unit of instruction fetch from the caches.
const LINE: u32 = 64;

/// Lines before the loop that are shown with it.
const BEFORE: usize = 3;

/// Columns beside the offset and before the bytes: the loop's bar, the boundary's mark, a
/// space.
const GUTTER: u16 = 3;

/// Columns of bytes below which they are left out.
const FEWEST: u16 = 5;

/// What an instruction has to do with the boundaries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Boundary {
    /// Nothing.
    Inside,
    /// It begins at a multiple of this.
    Begins(u32),
    /// It covers a multiple of this, which is so many bytes after its beginning.
    Covers(u32, u32),
}

impl Boundary {
    fn of(line: &ListingLine) -> Boundary {
        if line.bytes.is_empty() {
            return Boundary::Inside;
        }
        let (begin, end) = (line.offset, end(line));
        let units = [LINE, LINE / 2, LINE / 4];
        // What is crossed weighs more than where it begins: both happen only to an
        // instruction of more than 16 bytes, which there is not.
        let begins = units.into_iter().find(|unit| begin.is_multiple_of(*unit));
        let covers = units.into_iter().find(|unit| begin / unit != (end - 1) / unit);
        match (covers, begins) {
            (Some(unit), _) => Boundary::Covers(unit, unit - begin % unit),
            (None, Some(unit)) => Boundary::Begins(unit),
            (None, None) => Boundary::Inside,
        }
    }

    fn mark(self) -> &'static str {
        match self {
            Boundary::Inside => " ",
            Boundary::Begins(LINE) => "═",
            Boundary::Begins(32) => "─",
            Boundary::Begins(_) => "╌",
            Boundary::Covers(LINE, _) => "╪",
            Boundary::Covers(32, _) => "┼",
            Boundary::Covers(..) => "┊",
        }
    }

    fn style(self, look: Look) -> Style {
        match self {
            Boundary::Covers(LINE, _) => look.bad().add_modifier(Modifier::BOLD),
            Boundary::Covers(32, _) => look.warn(),
            Boundary::Begins(LINE) => Style::new().add_modifier(Modifier::BOLD),
            _ => look.muted(),
        }
    }
}

fn end(line: &ListingLine) -> u32 {
    line.offset.saturating_add(line.bytes.len() as u32).max(1)
}

/// Draws the listing.
pub(super) fn draw(listing: &Listing, area: Rect, buffer: &mut Buffer, look: Look) {
    let id = shorten(&listing.id, area.width.saturating_sub(4));
    if listing.lines.is_empty() {
        rule(buffer, area, &id, "", look);
        for (row, line) in (2..area.height).zip(wrap(&listing.absent, area.width - 2)) {
            put(buffer, area, (1, row), &line, look.warn());
        }
        return;
    }
    let mut row = 1;
    if let Some(line) = summary(listing, area.width.saturating_sub(1)) {
        put(buffer, area, (1, row), &line, look.muted());
        row += 1;
    }
    let first = first_line(listing, usize::from(area.height.saturating_sub(row)));
    let lines = listing.lines.get(first..).unwrap_or_default();
    let columns = Columns::of(&lines[..lines.len().min(usize::from(area.height))], area.width);
    let mut shown = 0;
    for line in lines {
        // Every multiple of 64 is begun at or covered by one instruction.
        let boundary = Boundary::of(line);
        if boundary == Boundary::Begins(LINE) {
            ruler(line.offset, columns, area, row, buffer, look);
            row += 1;
        }
        if row >= area.height {
            break;
        }
        instruction(line, boundary, columns, area, row, buffer, look);
        (row, shown) = (row + 1, shown + 1);
        if let Boundary::Covers(LINE, inside) = boundary {
            ruler(line.offset.saturating_add(inside), columns, area, row, buffer, look);
            row += 1;
        }
    }
    let below = lines.len() - shown;
    rule(buffer, area, &id, &hidden(first, below), look);
}

/// How many lines are above and below those shown.
fn hidden(above: usize, below: usize) -> String {
    let part = |arrow: &str, lines: usize| (lines > 0).then(|| format!("{arrow}{lines}"));
    part("↑", above).into_iter().chain(part("↓", below)).collect::<Vec<_>>().join(" ")
}

/// What there is to know about the main loop as a whole, in the most words that fit.
fn summary(listing: &Listing, room: u16) -> Option<String> {
    let body = || listing.lines.iter().filter(|line| line.in_loop && !line.bytes.is_empty());
    let (begin, end) = (body().next()?.offset, end(body().next_back()?));
    let lines = ((end - 1) / LINE).saturating_sub(begin / LINE) + 1;
    let crossing =
        body().filter(|line| matches!(Boundary::of(line), Boundary::Covers(LINE, _))).count();
    let plural = |n: u32| if n == 1 { "" } else { "s" };
    let bytes = end.saturating_sub(begin);
    let place = format!("{bytes} bytes, top at {} mod 64, ", begin % LINE);
    let crossed = match crossing {
        0 => String::new(),
        n => format!(", {n} instruction{} across", plural(n as u32)),
    };
    let few = format!("{lines} line{}", plural(lines));
    let across = if crossing > 0 { format!("{few}, {crossing} across") } else { few.clone() };
    let many = format!("in {lines} line{} of 64{crossed}", plural(lines));
    let starts = ["loop: ", ""].into_iter();
    let ends = [&many, &across, &few];
    let words = ends.into_iter().flat_map(|end| starts.clone().map(move |start| (start, end)));
    words.map(|(start, end)| format!("{start}{place}{end}")).find(|text| width(text) <= room)
}

/// The first line shown: a few before the loop, or as far up as is needed to fill the room.
fn first_line(listing: &Listing, room: usize) -> usize {
    let last = listing.lines.len().saturating_sub(1);
    // An end that is half empty is worse than a loop further down.
    let full = listing.lines.len().saturating_sub(room.saturating_sub(2));
    let own = listing.loop_line.unwrap_or(0).saturating_sub(BEFORE).min(full);
    (own as i64 + i64::from(listing.scroll)).clamp(0, last as i64) as usize
}

/// Columns of the parts of a line.
#[derive(Clone, Copy)]
struct Columns {
    /// Digits of an offset.
    offset: usize,
    bytes: u16,
    text: u16,
    /// Whether bytes have a space between them.
    spaced: bool,
    /// Whether operands have a space between them.
    loose: bool,
}

impl Columns {
    /// The text of the loop has what it needs first, the bytes what is left; longer lines
    /// elsewhere are cut.
    fn of(lines: &[ListingLine], columns: u16) -> Columns {
        let has_loop = lines.iter().any(|line| line.in_loop && !line.bytes.is_empty());
        let code = || {
            let code = lines.iter().filter(|line| !line.bytes.is_empty());
            code.filter(move |line| line.in_loop || !has_loop)
        };
        let longest = |loose| code().map(|line| width(&text(line, loose))).max().unwrap_or(0);
        let most = |lines: &mut dyn Iterator<Item = &ListingLine>| {
            lines.map(|line| line.bytes.len()).max().unwrap_or(0) as u16
        };
        let offset = if lines.iter().all(|line| line.offset < 0x1000) { 3 } else { 4 };
        let room = columns.saturating_sub(GUTTER + offset as u16);
        let (all, own) = (most(&mut lines.iter()), most(&mut code()));
        let choices = [
            (3 * all, true, true),
            (3 * own, true, true),
            (2 * own + 1, false, true),
            (2 * own + 1, false, false),
        ];
        for (bytes, spaced, loose) in choices {
            if bytes + 1 + longest(loose) <= room {
                return Columns { offset, bytes, text: room - bytes - 1, spaced, loose };
            }
        }
        let left = room.saturating_sub(longest(false) + 1);
        let bytes = if left < FEWEST { 0 } else { left };
        let text = room.saturating_sub(if bytes > 0 { bytes + 1 } else { 0 });
        Columns { offset, bytes, text, spaced: false, loose: false }
    }
}

fn text(line: &ListingLine, loose: bool) -> String {
    if loose { line.text.clone() } else { line.text.replace(", ", ",") }
}

fn instruction(
    line: &ListingLine,
    boundary: Boundary,
    columns: Columns,
    area: Rect,
    row: u16,
    buffer: &mut Buffer,
    look: Look,
) {
    let bar = if line.in_loop { "┃" } else { " " };
    let accent = look.accent().add_modifier(Modifier::BOLD);
    if line.bytes.is_empty() {
        let style = if line.in_loop { accent } else { look.muted() };
        let text = cut(&line.text, area.width.saturating_sub(2));
        put_all(buffer, area, (0, row), &[(bar, accent), (" ", style), (&text, style)]);
        return;
    }
    let loud = matches!(boundary, Boundary::Covers(LINE, _));
    let plain = if line.in_loop { Style::new() } else { look.muted() };
    let style = if loud { boundary.style(look) } else { plain };
    let offset = format!("{:0digits$x} ", line.offset, digits = columns.offset);
    let pieces = [(bar, accent), (boundary.mark(), boundary.style(look)), (&offset, look.muted())];
    let column = put_all(buffer, area, (0, row), &pieces);
    let split = match boundary {
        Boundary::Covers(_, inside) => Some(inside as usize),
        _ => None,
    };
    let start = if columns.bytes > 0 {
        let hex = hex(&line.bytes, split, columns.spaced);
        put(
            buffer,
            area,
            (column, row),
            &cut(&hex, columns.bytes),
            if loud { style } else { look.muted() },
        );
        column + columns.bytes + 1
    } else {
        column
    };
    let bold = if line.in_loop { style.add_modifier(Modifier::BOLD) } else { style };
    put(buffer, area, (start, row), &cut(&text(line, columns.loose), columns.text), bold);
}

/// The bytes, with a bar where the boundary lies.
fn hex(bytes: &[u8], split: Option<usize>, spaced: bool) -> String {
    let mut out = String::new();
    for (index, byte) in bytes.iter().enumerate() {
        match (split == Some(index), spaced && index > 0) {
            (true, _) => out.push('│'),
            (false, true) => out.push(' '),
            (false, false) => {}
        }
        // Writing to a string cannot fail.
        let _ = write!(out, "{byte:02x}");
    }
    out
}

/// The line between two lines of 64 bytes.
fn ruler(offset: u32, columns: Columns, area: Rect, row: u16, buffer: &mut Buffer, look: Look) {
    let rest = "═".repeat(usize::from(area.width));
    let text = format!(" ═{offset:0digits$x}{rest}", digits = columns.offset);
    put(buffer, area, (0, row), &text, look.muted());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(offset: u32, bytes: usize) -> ListingLine {
        ListingLine { offset, bytes: vec![0x90; bytes], text: "nop".into(), in_loop: true }
    }

    #[test]
    fn boundaries_are_found() {
        assert_eq!(Boundary::of(&line(64, 4)), Boundary::Begins(64));
        assert_eq!(Boundary::of(&line(96, 4)), Boundary::Begins(32));
        assert_eq!(Boundary::of(&line(80, 4)), Boundary::Begins(16));
        assert_eq!(Boundary::of(&line(60, 4)), Boundary::Inside);
        assert_eq!(Boundary::of(&line(61, 4)), Boundary::Covers(64, 3));
        assert_eq!(Boundary::of(&line(30, 4)), Boundary::Covers(32, 2));
        assert_eq!(Boundary::of(&line(15, 2)), Boundary::Covers(16, 1));
        assert_eq!(Boundary::of(&line(64, 0)), Boundary::Inside);
    }

    #[test]
    fn a_boundary_is_drawn_between_its_bytes() {
        assert_eq!(hex(&[0xc5, 0xfe, 0x7f], Some(2), true), "c5 fe│7f");
        assert_eq!(hex(&[0xc5, 0xfe, 0x7f], Some(2), false), "c5fe│7f");
        assert_eq!(hex(&[0xc5, 0xfe], None, false), "c5fe");
    }

    #[test]
    fn the_view_begins_at_the_loop_and_scrolls() {
        let lines = (0..100).map(|i| line(4 * i, 4)).collect();
        let mut listing = Listing { lines, loop_line: Some(50), ..Listing::default() };
        assert_eq!(first_line(&listing, 20), 47);
        listing.scroll = -10;
        assert_eq!(first_line(&listing, 20), 37);
        listing.scroll = i32::MIN;
        assert_eq!(first_line(&listing, 20), 0);
        listing.scroll = i32::MAX;
        assert_eq!(first_line(&listing, 20), 99);
    }
}
